"""A meeting place in a folder that all nodes see."""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Sequence
from pathlib import Path

#: What a node has left and nobody has fetched is removed by the next job that comes here.
OLD_S = 86400.0


class SharedFolder:
    def __init__(self, path: Path) -> None:
        self._path = path

    def enrol(self, member: str) -> None:
        self._path.mkdir(parents=True, exist_ok=True)
        for old in self._path.iterdir():
            with contextlib.suppress(OSError):
                newest = max((file.stat().st_mtime for file in [old, *old.glob("*")]), default=0.0)
                if time.time() - newest > OLD_S:
                    shutil.rmtree(old) if old.is_dir() else old.unlink()
        (self._path / member).mkdir(mode=0o700)

    def members(self) -> list[str]:
        return sorted(one.name for one in self._path.iterdir() if one.is_dir())

    def put(self, name: str, data: bytes) -> None:
        # In one step: others read at any moment.
        part = self._path / f"{name}.{os.getpid()}.part"
        part.write_bytes(data)
        part.replace(self._path / name)

    def get(self, name: str) -> bytes | None:
        try:
            return (self._path / name).read_bytes()
        except FileNotFoundError:
            if not self._path.is_dir():
                raise
            return None

    def get_all(self, names: Sequence[str]) -> list[bytes | None]:
        return [self.get(name) for name in names]

    def remove(self, member: str) -> None:
        shutil.rmtree(self._path / member, ignore_errors=True)
