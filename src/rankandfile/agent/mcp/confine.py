"""What a client may open: folders that were named on the command line, and nothing that leads out of them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from rankandfile.agent.tool import ToolError
from rankandfile.source.files.git import git

_MOST_ENTRIES = 200_000


class Roots:
    def __init__(self, folders: list[Path]) -> None:
        self.folders = [folder.resolve() for folder in folders]

    def __str__(self) -> str:
        return ", ".join(map(str, self.folders))

    def inside(self, asked: str) -> Path:
        """The file or folder that is meant, links resolved. Raises ToolError if it is outside, or holds a way out."""
        path = self._resolved(asked)
        if path is None:
            raise ToolError(f"'{asked[:200]}' is not in {self}, or is not there")
        for link in _links(path):
            if self._holds(link) is None:
                raise ToolError(f"'{asked[:200]}' holds a link that leads out of {self}: {link.name[:200]}")
        return path

    def has_history_of(self, folder: Path) -> bool:
        """Whether the folder's repository lies inside with all its objects: a `.git` file can name any other."""
        told = git(folder, "rev-parse", "--path-format=absolute", "--git-common-dir")
        if told is None:
            return False
        common = Path(os.fsdecode(told.removesuffix(b"\n")))
        borrowed = common / "objects" / "info" / "alternates"
        return self._holds(common) is not None and not borrowed.exists()

    def _resolved(self, asked: str) -> Path | None:
        """A relative path is one in any of the folders."""
        return next(filter(None, (self._holds(folder / asked) for folder in self.folders)), None)

    def _holds(self, path: Path) -> Path | None:
        try:
            real = path.resolve(strict=True)
        except (OSError, RuntimeError, ValueError):
            return None
        return real if any(real.is_relative_to(folder) for folder in self.folders) else None


def _links(top: Path) -> Iterator[Path]:
    """The links in a folder that lead somewhere, which reading it would follow."""
    seen = 0
    for folder, folders, files in os.walk(top, followlinks=False):
        for name in (*folders, *files):
            seen += 1
            if seen > _MOST_ENTRIES:
                raise ToolError(f"'{top.name}' holds more than {_MOST_ENTRIES} files: name a folder in it")
            path = Path(folder, name)
            if path.is_symlink() and path.exists():
                yield path
