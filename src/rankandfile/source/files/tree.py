"""The source tree: the Python files of one or more roots, under one set of names."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from rankandfile.model.ledger import Note

from .git import Commit
from .roots import Folder, Root, Zip
from .text import decode


class SourceTree:
    """The files of its roots. A path is relative to its root; where two roots have the same, the later root's name
    comes first. The files are listed once, and read when they are asked for."""

    def __init__(self, roots: Sequence[Root]) -> None:
        self._files: dict[str, tuple[Root, str]] = {}
        self._texts: dict[str, str | None] = {}
        self._by_name: dict[str, list[str]] = defaultdict(list)
        self._put: dict[str, bytes] = {}
        self.doubts: dict[str, str] = {}
        """Files that are known not to be the ones that ran, and by what."""
        self.identified: dict[str, str] = {}
        """Files of the run, by their paths there, that are certainly these files of the tree."""
        self.notes: list[Note] = []
        """What is to be said of files whose words were put in place of their own."""
        self._roots = 0
        for root in roots:
            self.add(root)

    def add(self, root: Root) -> dict[str, str]:
        """Let the tree have the files of one more root; their paths in it, by their names there."""
        added = {}
        for name in root.names():
            path = name if name not in self._files else f"{root.name or self._roots}/{name}"
            if path not in self._files:
                self._files[path] = (root, name)
                self._by_name[path.rsplit("/", 1)[-1]].append(path)
                added[name] = path
        self._roots += 1
        return added

    def paths(self) -> Iterable[str]:
        return self._files.keys()

    def read(self, path: str) -> str | None:
        """The text of a file of the tree; None if there is none, or it is no readable Python file."""
        if path not in self._texts:
            data = self.data(path)
            self._texts[path] = None if data is None else decode(data)
        return self._texts[path]

    def data(self, path: str) -> bytes | None:
        """The bytes of a file of the tree, in any encoding."""
        found = self._files.get(path)
        if path in self._put:
            return self._put[path]
        return found[0].read(found[1]) if found else None

    def put(self, path: str, data: bytes) -> None:
        """Let a file of the tree have these bytes from now on."""
        self._put[path] = data
        self._texts.pop(path, None)

    def named(self, name: str) -> list[str]:
        """Paths of the files with this name."""
        return self._by_name.get(name, [])

    def whole(self, path: str) -> str:
        """The path with its root's name, as far as the tree knows where it lies."""
        root, name = self._files[path]
        return f"{root.name}/{name}" if root.name else name


def open_tree(sources: Sequence[Path], revision: str | None = None) -> SourceTree:
    """The tree of these folders, zip files and wheels; folders as they were in `revision`, where one is given.

    Raises `rankandfile.source.files.git.NoSuchCommit` if there is no such revision.
    """
    return SourceTree([_root(source, revision) for source in sources])


def _root(source: Path, revision: str | None) -> Root:
    if source.is_file():
        return Zip(source)
    return Commit(source, revision) if revision is not None else Folder(source)
