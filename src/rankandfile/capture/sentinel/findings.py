"""Findings as a file of a case."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from rankandfile.model.digest import SCHEMA, Finding

FILE = "watch.json"


def write(folder: Path, findings: Sequence[Finding]) -> None:
    """Beside the diagnosis; nothing where nothing was found. Raises OSError."""
    if findings:
        told = {"schema": SCHEMA, "findings": findings}
        (folder / FILE).write_bytes(msgspec.json.format(msgspec.json.encode(told), indent=1) + b"\n")
