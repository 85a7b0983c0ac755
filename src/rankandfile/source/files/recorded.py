"""The source that ran, where the job's recorder kept it: a tree of its own, or what a given tree is held against."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from itertools import takewhile

from rankandfile.model.known.frameworks import framework_of
from rankandfile.model.ledger import Note
from rankandfile.model.sources import SourceFile

from .paths import Ends, ends_alike, path_parts
from .tree import SourceTree

_INSTALLED = ("site-packages", "dist-packages")


class Recorded:
    """The copies as a root: the program's own files from the folder they share, packages by their names."""

    name = ""

    def __init__(self, sources: Sequence[SourceFile]) -> None:
        kept = [(path_parts(file.path), file) for file in sources if file.data is not None]
        own = [parts[:-1] for parts, _ in kept if not set(_INSTALLED) & set(parts)]
        shared = _alike(own)
        self._files = {"/".join(_below(parts, shared)): file.data for parts, file in kept if parts}
        self.name_of = {file.path: "/".join(_below(parts, shared)) for parts, file in kept if parts}
        """The files by their paths in the run, and what they are called here."""

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
    """The tree with each file as it was when it ran, as far as that was kept, and what it says otherwise noted; with it
    the copies of files that ran and that it does not have: helpers from elsewhere. Frameworks are left out: what they
    mean to ranks is in the registry, and a person changes none of their lines.

    Without a tree it is that of the copies; None where there are none.
    """
    found = tree or SourceTree([])
    users = [file for file in sources if framework_of(file.path) is None]
    unknown = [file for file in users if not _identified(found, file)]
    changed = _changed(found, unknown)
    for path, file in changed.items():
        if file.data is not None:
            words = "the file changed after the run; what ran is read from the recorder's copy"
            found.notes.append(Note(file=path, where="", what=words))
            found.put(path, file.data)
            found.identified[file.path] = path
        else:
            found.doubts[path] = "its hash is not that of the file that ran"
    taken = {file.path for file in changed.values()}
    _add(found, [file for file in unknown if file.path not in taken])
    return found if tree is not None or any(True for _ in found.paths()) else None


def _add(tree: SourceTree, files: list[SourceFile]) -> None:
    copies = Recorded(files)
    paths = tree.add(copies)
    for file, name in copies.name_of.items():
        if name in paths:
            tree.identified[file] = paths[name]


def _identified(tree: SourceTree, file: SourceFile) -> bool:
    """Whether the tree has this very file; of several that are the same, the one whose path is most like its own."""
    for _, path in _ends(tree, file):
        if _hash(tree.data(path)) == file.sha256:
            tree.identified[file.path] = path
            return True
    return False


def _changed(tree: SourceTree, files: list[SourceFile]) -> dict[str, SourceFile]:
    """Files of the tree that ran with other words in them: those that lie as the other does, and are nobody else's."""
    claims: dict[str, list[tuple[int, SourceFile]]] = {}
    known = set(tree.identified.values())
    for file in files:
        ends = _ends(tree, file)
        parts = path_parts(file.path)
        least = next((len(parts) - parts.index(name) - 1 for name in _INSTALLED if name in parts), 1)
        if not ends or not ends[0][0].complete or ends[0][0].common < least or ends[0][1] in known:
            continue
        if len(ends) == 1 or ends[1][0] != ends[0][0]:
            claims.setdefault(ends[0][1], []).append((ends[0][0].common, file))
    found = {}
    for path, claimed in claims.items():
        most = max(common for common, _ in claimed)
        best = [file for common, file in claimed if common == most]
        if len(best) == 1:
            found[path] = best[0]
    return found


def _ends(tree: SourceTree, file: SourceFile) -> list[tuple[Ends, str]]:
    """Files of the tree with the same name, those first whose paths end most like it."""
    parts = path_parts(file.path)
    named = tree.named(parts[-1]) if parts else []
    return sorted(((ends_alike(tree.whole(path), path, parts), path) for path in named), reverse=True)


def _hash(data: bytes | None) -> str:
    return hashlib.sha256(data).hexdigest() if data is not None else ""
