"""A Redis of its own for a test: Debian's package, started and ended here."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rankandfile.lab.ranks import free_port

from .waiting import until


@contextmanager
def redis_server() -> Iterator[str]:
    """Its address; the test is skipped where there is none, unless RAF_REDIS_REQUIRED says that it must be there."""
    program = shutil.which("redis-server")
    if program is None:
        if os.environ.get("RAF_REDIS_REQUIRED"):
            pytest.fail("no redis-server: make browser installs one")
        pytest.skip("no redis-server")
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="raf-redis-") as folder:
        command = [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", folder]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=Path(folder))
        try:
            until(lambda: _listens(port), limit_s=30)
            yield f"redis://127.0.0.1:{port}/0"
        finally:
            process.terminate()
            process.wait(30)


def _listens(port: int) -> bool:
    with socket.socket() as one:
        one.settimeout(1)
        return one.connect_ex(("127.0.0.1", port)) == 0
