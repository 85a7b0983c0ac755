"""Certificates as a job has them, made by what the page says."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from support.places import DOCS

NAMES = "IP:127.0.0.1,DNS:localhost"


def certificates(folder: Path) -> Path:
    """Of an authority of their own, for this machine as tests call it; skips the test where there is no `openssl`."""
    if shutil.which("openssl") is None:
        pytest.skip("there is no openssl command")
    [recipe] = re.findall(
        r"```sh\n(openssl .*?)```", (DOCS / "control.md").read_text(encoding="utf-8"), re.DOTALL
    )
    recipe, replaced = re.subn("DNS:node0,DNS:node1,IP:10.0.0.5", NAMES, recipe)
    assert replaced == 1
    folder.mkdir()
    subprocess.run(["sh", "-e"], input=recipe, cwd=folder, check=True, capture_output=True, text=True)
    return folder
