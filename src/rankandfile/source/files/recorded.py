"""The source that ran, where the job's recorder kept it: a tree of its own, or what a given tree is held against."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from itertools import takewhile

from rankandfile.model.ledger import Note
from rankandfile.model.sources import SourceFile

from .paths import ends_alike, path_parts
from .tree import SourceTree

_INSTALLED = ("site-packages", "dist-packages")


class Recorded:
    """The copies as a root: the program's own files from the folder they share, packages by their names."""

    name = ""

    def __init__(self, sources: Sequence[SourceFile]) -> None:
        kept = [(path_parts(file.path), file.data) for file in sources if file.data is not None]
        own = [parts[:-1] for parts, _ in kept if not set(_INSTALLED) & set(parts)]
        shared = _alike(own)
        self._files = {"/".join(_below(parts, shared)): data for parts, data in kept if parts}

    def names(self) -> Iterator[str]:
        yield from sorted(self._files)

    def read(self, name: str) -> bytes | None:
        return self._files.get(name)


def _alike(folders: list[list[str]]) -> int:
    """How many parts all of them begin with."""
    steps = zip(*folders, strict=False)
    return sum(1 for _ in takewhile(lambda step: len(set(step)) == 1, steps))


def _below(parts: list[str], shared: int) -> list[str]:
    for installed in _INSTALLED:
        if installed in parts:
            return parts[parts.index(installed) + 1 :]
    return parts[shared:]


def as_it_ran(tree: SourceTree | None, sources: Sequence[SourceFile]) -> SourceTree | None:
    """The tree with each file as it was when it ran, as far as that was kept, and what it says otherwise noted.

    Without a tree it is that of the copies; None where there are none.
    """
    if tree is None:
        found = SourceTree([Recorded(sources)]) if any(file.data is not None for file in sources) else None
        return found if found is not None and any(True for _ in found.paths()) else None
    for file in sources:
        path = _in_tree(tree, file)
        if path is None:
            continue
        if file.data is not None:
            words = "the file changed after the run; what ran is read from the recorder's copy"
            tree.notes.append(Note(file=path, where="", what=words))
            tree.put(path, file.data)
        else:
            tree.doubts[path] = "its hash is not that of the file that ran"
    return tree


def _in_tree(tree: SourceTree, file: SourceFile) -> str | None:
    """The file of the tree that is this one, but with other words in it; None where none is, or it is the same."""
    parts = path_parts(file.path)
    named = tree.named(parts[-1]) if parts else []
    ends = sorted(((ends_alike(tree.whole(path), path, parts), path) for path in named), reverse=True)
    for _, path in ends:
        if _hash(tree.data(path)) == file.sha256:
            tree.identified[file.path] = path
            return None
    if not ends or not ends[0][0].complete or (len(ends) > 1 and ends[1][0] == ends[0][0]):
        return None
    return ends[0][1]


def _hash(data: bytes | None) -> str:
    return hashlib.sha256(data).hexdigest() if data is not None else ""
