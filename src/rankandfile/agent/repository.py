"""The history of the source, where it is in a repository: git as `source.git` runs it, reading committed files only.

The working tree is never asked for: to compare with it, git would run the filters that a repository configures.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from rankandfile.source.files.git import git

from .bench import Bench
from .tool import ToolError

_REVISION = re.compile(r"[\w./^~@-]{1,200}")


@dataclass(frozen=True)
class Tracked:
    """A file as a repository knows it."""

    folder: Path
    name: str
    revision: str

    def ask(self, *words: str) -> str | None:
        printed = git(self.folder, *words, limit=1 << 20)
        return None if printed is None else printed.decode("utf-8", "replace")


def tracked(bench: Bench, path: str) -> Tracked:
    """The file of the tree in the first repository that has it. Raises ToolError where none does."""
    revision = bench.revision or "HEAD"
    if not _REVISION.fullmatch(revision) or revision.startswith("-"):
        raise ToolError(f"'{revision}' is no revision")
    for folder in bench.folders:
        for name in (path, path.partition("/")[2]):
            if name and git(folder, "cat-file", "-e", f"{revision}:./{name}") is not None:
                return Tracked(folder, name, revision)
    raise ToolError(f"{path} is in no git repository that was named with --src")
