"""What a change brings: findings that were not there in a revision.

In: paths of a working tree and a revision; what is found now, and was found then. Out: the text of every file that has
changed, as it was; and which of today's findings are no news. git only lists files and hands out those of the revision:
asked itself to compare them with the working tree, it would run the filters that the repository configures.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from rankandfile.model.lint import Flagged
from rankandfile.source.files.git import Commit, git
from rankandfile.source.files.roots import Folder
from rankandfile.source.files.text import decode

_MOST_LISTED = 64 << 20


class NoDiff(Exception):
    """git cannot tell what changed."""


def as_it_was(paths: Sequence[Path], revision: str) -> dict[Path, str]:
    """File -> its text in the revision, of those that are not the same now; empty where there was none. What git
    ignores is the same.

    Raises NoDiff, and `rankandfile.source.files.git.NoSuchCommit` where there is no such revision.
    """
    found: dict[Path, str] = {}
    for folder in {path.resolve() if path.is_dir() else path.resolve().parent for path in paths}:
        before, now = Commit(folder, revision), Folder(folder)
        for name in {*_not_ignored(folder), *before.names()}:
            data = now.read(name)
            if data is None or not before.has(name, data):
                found[folder / name] = decode(before.read(name) or b"") or ""
    return found


def no_news(now: Sequence[Flagged], before: Sequence[Flagged]) -> Iterator[str]:
    """Fingerprints of what is found now and was there before, one for each; in a file that is gone since, too."""
    there = Counter(each.fingerprint for each in before)
    moved = Counter(_anywhere(each) for each in before if not Path(each.file).exists())
    for each in now:
        for known, key in ((there, each.fingerprint), (moved, _anywhere(each))):
            if known[key]:
                known[key] -= 1
                yield each.fingerprint
                break


def _anywhere(flagged: Flagged) -> str:
    return f"{flagged.rule} {flagged.function} {' '.join(flagged.code.split())}"


def _not_ignored(folder: Path) -> list[str]:
    words = ("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", "*.py")
    listed = git(folder, *words, limit=_MOST_LISTED)
    if listed is None:
        raise NoDiff(f"{folder}: git cannot list its files")
    return sorted({name.decode("utf-8", "replace") for name in listed.split(b"\0") if name})
