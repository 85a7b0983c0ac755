"""The lines of a working tree that a change brings: those that differ from a revision.

git only lists files and hands out those of the revision. Asked itself to compare them with the working tree, it would
run the filters that the repository configures.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from pathlib import Path

from rankandfile.source.files.git import Commit, git
from rankandfile.source.files.roots import Folder

_MOST_LISTED = 64 << 20
#: Of a file in which more lines differ, counted from the first to the last, all between count as changed.
_MOST_COMPARED = 5000


class NoDiff(Exception):
    """git cannot tell what changed."""


def changed_lines(paths: Sequence[Path], revision: str) -> dict[Path, frozenset[int]]:
    """File -> its lines that are new or changed since the revision; untracked files as a whole.

    Raises NoDiff, and `rankandfile.source.files.git.NoSuchCommit` where there is no such revision.
    """
    found: dict[Path, frozenset[int]] = {}
    for folder in {path.resolve() if path.is_dir() else path.resolve().parent for path in paths}:
        before, now = Commit(folder, revision), Folder(folder)
        for name in _not_ignored(folder):
            data = now.read(name)
            if data is not None and not before.has(name, data):
                found[folder / name] = _changed(before.read(name) or b"", data)
    return found


def _not_ignored(folder: Path) -> list[str]:
    words = ("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", "*.py")
    listed = git(folder, *words, limit=_MOST_LISTED)
    if listed is None:
        raise NoDiff(f"{folder}: git cannot list its files")
    return sorted({name.decode("utf-8", "replace") for name in listed.split(b"\0") if name})


def _changed(before: bytes, now: bytes) -> frozenset[int]:
    """Numbers of the lines of `now` that are not those of `before`."""
    old, new = before.splitlines(), now.splitlines()
    first = 0
    while first < min(len(old), len(new)) and old[first] == new[first]:
        first += 1
    same = 0
    while same < min(len(old), len(new)) - first and old[-1 - same] == new[-1 - same]:
        same += 1
    old, new = old[first : len(old) - same], new[first : len(new) - same]
    if max(len(old), len(new)) > _MOST_COMPARED:
        return frozenset(range(first + 1, first + len(new) + 1))
    steps = SequenceMatcher(None, old, new).get_opcodes()
    return frozenset(
        line for what, _, _, a, b in steps if what != "equal" for line in range(first + a + 1, first + b + 1)
    )
