"""From what a person gives - files, folders, archives - to the files that decoders open.

Ordinary files are recognised as archives by their first 512 bytes, for dumps often have no suffix. Of many
files of one folder whose names differ in their digits only, the first few are looked at: 16,384 dumps on a
network disk must not be opened once more than needed. Should one of the others be compressed after all,
`rankandfile.evidence.files.sniff.kind` still says so when it is decoded.
"""

from __future__ import annotations

import os
import re
import stat
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from rankandfile.evidence.files.archives import Expansion
from rankandfile.evidence.files.blobs import Blob, natural, shown
from rankandfile.evidence.files.limits import Limits
from rankandfile.evidence.files.links import Links
from rankandfile.evidence.files.members import is_junk
from rankandfile.evidence.files.patience import Patience
from rankandfile.evidence.files.sniff import container
from rankandfile.model.ledger import Note

from .expansion_budget import ExpansionBudget, Full, amount

__all__ = ["Blob", "walk"]

_LOOKED_AT = 16
"""Of each family of names in a folder, how many files are opened to see whether they are archives."""

_DIGITS = re.compile(r"[0-9]+")
_FOLDERS_DEEP = 64
_DEFAULTS = Limits()

_SPECIAL = {
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def walk(
    paths: Iterable[str | Path],
    spool: Path,
    limits: Limits = _DEFAULTS,
    patience: Patience | None = None,
    called: Callable[[str], str] = shown,
) -> tuple[list[Blob], list[Note]]:
    """All files behind the paths, in an order that depends on their names only, and what was not taken.

    Archives are opened into `spool`, an empty folder that outlives the blobs. `called`: what a person calls the file
    at a path. Never raises for what it finds.
    """
    return _Walk(spool, limits, patience, called).run(paths)


class _Walk:
    def __init__(
        self, spool: Path, limits: Limits, patience: Patience | None, called: Callable[[str], str]
    ) -> None:
        self._limits, self._called = limits, called
        self._budget = ExpansionBudget(limits, spool, patience)
        self._expansion = Expansion(self._budget, limits)
        # Files and what comes out of archives, in the order of their names.
        self._blobs, self._notes = self._expansion.blobs, self._expansion.notes
        self._seen: dict[tuple[int, int], str] = {}
        self._families: Counter[str] = Counter()
        self._unopened: list[str] = []
        self._links = Links([])

    def run(self, paths: Iterable[str | Path]) -> tuple[list[Blob], list[Note]]:
        paths = list(paths)
        self._links = Links(paths, self._limits.follow_links)
        try:
            for path in paths:
                self._path(str(path))
        except Full as full:
            self._say("", f"{full}; the rest was not looked at")
        if self._unopened:
            first, more = self._unopened[0], len(self._unopened) - 1
            what = f"{self._budget.full}; not opened"
            self._say(first, what + (f", and {more:,} more archives" if more else ""))
        self._notes += self._links.notes()
        return self._blobs, self._notes

    def _say(self, path: str, what: str) -> None:
        self._notes.append(Note(file=self._called(path), where="", what=what))

    def _path(self, path: str) -> None:
        try:
            status = os.stat(path)  # noqa: PTH116 - as below
        except (OSError, ValueError) as error:
            self._say(path, "no such file" if isinstance(error, FileNotFoundError) else _why(error))
            return
        if stat.S_ISDIR(status.st_mode):
            self._folder(path)
        else:
            self._file(path, status)

    def _folder(self, top: str) -> None:
        pending = [(top, 0)]
        while pending:
            path, depth = pending.pop()
            if depth > _FOLDERS_DEEP:
                self._say(path, f"folders more than {_FOLDERS_DEEP} deep; not looked at")
                continue
            folders = []
            for entry in self._entries(path):
                self._budget.count()
                if entry.is_symlink() and self._links.out(entry.path):
                    continue
                try:
                    status = entry.stat()
                except OSError as error:
                    loose = entry.is_symlink() and isinstance(error, FileNotFoundError)
                    self._say(entry.path, "a link that leads nowhere" if loose else _why(error))
                    continue
                if stat.S_ISDIR(status.st_mode):
                    folders.append((entry.path, depth + 1))
                else:
                    self._file(entry.path, status)
            # The last one pushed is the next one taken: files of a folder first, then its folders in order.
            pending += reversed(folders)

    def _entries(self, path: str) -> Iterator[os.DirEntry[str]]:
        try:
            status = os.stat(path)  # noqa: PTH116
            if not self._is_new(path, status):
                return
            with os.scandir(path) as entries:
                found = [entry for entry in entries if not is_junk(entry.name)]
        except OSError as error:
            self._say(path, _why(error))
            return
        yield from sorted(found, key=lambda entry: natural(entry.name))

    def _is_new(self, path: str, status: os.stat_result) -> bool:
        """A file or folder that is reached twice, by a link or because it was named twice, is read once."""
        first = self._seen.setdefault((status.st_dev, status.st_ino), path)
        if first != path:
            self._say(path, f"the same as {self._called(first)}; read once")
        elif first is not path:
            return False  # named twice in the same words
        return first is path

    def _file(self, path: str, status: os.stat_result) -> None:
        if not stat.S_ISREG(status.st_mode):
            self._say(path, f"{_SPECIAL.get(stat.S_IFMT(status.st_mode), 'no ordinary file')}; not opened")
            return
        if not self._is_new(path, status):
            return
        if status.st_size > self._limits.file_bytes:
            self._say(
                path, f"{amount(status.st_size)} long, more than {amount(self._limits.file_bytes)}; not read"
            )
            return
        blob = Blob(self._called(path), Path(path), status.st_size, status.st_mtime_ns)
        kind = self._kind(path) if status.st_size else None
        if kind is None:
            self._blobs.append(blob)
        elif self._budget.full:
            self._unopened.append(path)
        else:
            try:
                self._expansion.open(blob, kind)
            except Full:
                self._unopened.append(path)

    def _kind(self, path: str) -> str | None:
        family = _DIGITS.sub("#", path)
        if self._families[family] >= _LOOKED_AT:
            return None
        try:
            # Without blocking, should it have become a FIFO since.
            descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
            try:
                head = os.read(descriptor, 512)
            finally:
                os.close(descriptor)
        except OSError:
            return None  # the decoder will say so, with the reason
        kind = container(head, path)
        if kind is None:
            self._families[family] += 1
        return kind


def _why(error: Exception) -> str:
    return f"cannot be read: {getattr(error, 'strerror', None) or error}"
