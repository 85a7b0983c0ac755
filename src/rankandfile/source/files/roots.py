"""Where source files are read from: a folder, a zip file or wheel. Nothing outside of it is ever opened."""

from __future__ import annotations

import os
import stat
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Protocol

from .text import MAX_BYTES

#: More files than this is not one program's source.
MAX_FILES = 50_000
_PASSED_BY = {"__pycache__", "node_modules", ".git", ".hg", ".svn", ".tox", ".nox", ".mypy_cache"}


class Root(Protocol):
    name: str
    """The last part of the path it was given by."""

    def names(self) -> Iterator[str]:
        """Its Python files, relative to it, with `/` between the parts."""

    def read(self, name: str) -> bytes | None:
        """The file's bytes; None if it cannot or must not be read."""


class Folder:
    def __init__(self, path: Path) -> None:
        self.path = path.resolve()
        self.name = self.path.name

    def names(self) -> Iterator[str]:
        found = 0
        for folder, folders, files in os.walk(self.path, followlinks=False):
            folders[:] = sorted(
                f for f in folders if f not in _PASSED_BY and not _is_environment(Path(folder, f))
            )
            for file in sorted(files):
                if file.endswith(".py"):
                    found += 1
                    if found > MAX_FILES:
                        return
                    yield Path(folder, file).relative_to(self.path).as_posix()

    def read(self, name: str) -> bytes | None:
        try:
            path = (self.path / name).resolve(strict=True)
            if not path.is_relative_to(self.path):
                return None
            # Opened first and asked then, without waiting for a writer: a pipe in the tree must not hold us.
            handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
            with os.fdopen(handle, "rb") as file:
                status = os.fstat(file.fileno())
                if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_BYTES:
                    return None
                return file.read(MAX_BYTES + 1)
        except (OSError, RuntimeError, ValueError):
            return None


def _is_environment(folder: Path) -> bool:
    """A virtual environment inside the tree holds other people's code, tens of thousands of files of it."""
    return os.path.isfile(folder / "pyvenv.cfg")  # noqa: PTH113 - of a folder that may not be searched it is False


class Zip:
    """A zip file or a wheel, as Python imports from it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = path.name
        self._infos: dict[str, zipfile.ZipInfo] = {}
        try:
            with zipfile.ZipFile(path) as archive:
                for info in archive.infolist()[:MAX_FILES]:
                    if info.filename.endswith(".py") and _stays_inside(info.filename):
                        self._infos[info.filename] = info
        except (OSError, zipfile.BadZipFile, ValueError, NotImplementedError):
            self._infos = {}

    def names(self) -> Iterator[str]:
        yield from sorted(self._infos)

    def read(self, name: str) -> bytes | None:
        info = self._infos.get(name)
        if info is None or info.file_size > MAX_BYTES:
            return None
        try:
            with zipfile.ZipFile(self.path) as archive, archive.open(info) as file:
                return file.read(MAX_BYTES + 1)
        except Exception:  # zipfile and its codecs raise whatever damaged members make them raise
            return None


def _stays_inside(name: str) -> bool:
    path = PurePosixPath(name)
    return not path.is_absolute() and ".." not in path.parts and "\\" not in name and ":" not in name
