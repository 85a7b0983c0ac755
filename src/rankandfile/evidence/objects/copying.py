"""From the objects below one address to files under the same names: within the limits, and many at a time."""

from __future__ import annotations

import os
import re
import shutil
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from rankandfile.evidence.files.addresses import Left
from rankandfile.evidence.files.blobs import natural, shown
from rankandfile.evidence.files.expansion_budget import amount
from rankandfile.evidence.files.limits import Limits
from rankandfile.evidence.files.members import Members, is_junk
from rankandfile.evidence.files.patience import Patience
from rankandfile.evidence.files.sniff import container
from rankandfile.model.errors import UserError
from rankandfile.model.ledger import Note

from .at_hand import OnCopied
from .store import Object, Store

#: Copies under way at a time: most of it is waiting for the store.
_AT_ONCE = 16
#: Share of the memory for evidence that a listing may take.
_OF_MEMORY = 4
#: Bytes of a file's name.
_LONGEST = 255
#: Of a family of names so many are copied at least: these are looked at, to see whether it is one of archives.
_LOOKED_AT = 16
_DIGITS = re.compile(r"[0-9]+")
#: Copies of source files: they are read without being decoded.
_COPY_OF_SOURCE = re.compile(r"\.zlib$")


class _Taken(NamedTuple):
    object: Object
    path: Path


class Copying:
    """Raises `UserError` where nothing can read the address."""

    def __init__(
        self, address: str, folder: Path, limits: Limits, patience: Patience, seen: set[str]
    ) -> None:
        self.left: dict[str, Left] = {}
        self._address, self._folder, self._limits, self._patience = address, folder, limits, patience
        self._store, self._seen = Store(address), seen
        self._told = Members(address)
        self._whole: list[Note] = []
        self._room = limits.expanded_bytes

    def run(self, leave: bool, on_copied: OnCopied | None) -> Path:
        """The folder with the objects, or the file with the one that the address names."""
        listed = self._listed()
        self._folder.mkdir()
        top = self._folder / _file_name(self._address)
        if listed[0].below:
            top.mkdir()
        listed.sort(key=lambda one: natural(one.below))
        taken = [_Taken(one, path) for one in listed if (path := self._place(one, top)) is not None]
        first, alike = _families(taken) if leave else (taken, [])
        self._copy(first, on_copied)
        for family in alike:
            if _of_archives(family):
                self._copy(family[_LOOKED_AT:], on_copied)
            else:
                self._leave(family[_LOOKED_AT:])
        return top

    def notes(self) -> list[Note]:
        return [*self._whole, *self._told.notes()]

    def _listed(self) -> list[Object]:
        most = self._limits.files
        memory = self._limits.memory_bytes // _OF_MEMORY
        listed = list(self._store.objects(most, memory, self._patience.left))
        if not listed:
            raise UserError(f"{self._address}: no such object, and none below it")
        if len(listed) > most:
            what = f"more than {most:,} files (--limit-files allows more); the rest was not looked at"
            self._whole.append(Note(file=shown(self._address), where="", what=what))
        return listed[:most]

    def _place(self, one: Object, top: Path) -> Path | None:
        """An empty file under the object's name; None if it is not to be read."""
        if is_junk(one.below):
            return None
        whole = f"{self._address.partition(':')[0]}://{one.key}"
        if whole in self._seen:
            self._not_read("twice", one, "named twice")
            return None
        self._seen.add(whole)
        if one.size > self._limits.file_bytes:
            self._not_read(
                "large", one, f"{amount(one.size)} long, more than {amount(self._limits.file_bytes)}"
            )
            return None
        if one.size > self._room:
            self._not_read("full", one, f"more than {amount(self._limits.expanded_bytes)} in all")
            return None
        steps = one.below.split("/") if one.below else []
        path = top.joinpath(*steps)
        try:
            if any(step in ("", ".", "..") or len(os.fsencode(step)) > _LONGEST for step in steps):
                raise ValueError
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch(exist_ok=False)
        except (OSError, ValueError):
            # Or there is an object of that name, and others below it.
            self._not_read("name", one, "no file can have its name")
            return None
        self._room -= one.size
        return path

    def _not_read(self, kind: str, one: Object, why: str) -> None:
        source = f"{self._address}/{one.below}" if one.below else self._address
        self._told.say(kind, shown(source), f"{shown(why)}; not read")

    def _copy(self, taken: Sequence[_Taken], on_copied: OnCopied | None) -> None:
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            for number, why in enumerate(pool.map(self._why_not, taken), 1):
                one, path = taken[number - 1]
                if why:
                    path.unlink(missing_ok=True)
                    self._not_read("unreadable", one, why)
                if on_copied is not None:
                    on_copied(number, len(taken))

    def _leave(self, taken: Sequence[_Taken]) -> None:
        for one, path in taken:
            os.truncate(path, one.size)
            _date(path, one)
            self.left[str(path)] = Left(self._address, one.key)

    def _why_not(self, taken: _Taken) -> str:
        """Copy it; why it could not be, if so."""
        one, path = taken
        try:
            if shutil.disk_usage(path.parent).free - one.size < self._limits.free_bytes:
                return f"less than {amount(self._limits.free_bytes)} would be left on the disk"
            self._store.copy(one.key, one.size, path, self._patience.left)
            _date(path, one)
        except OSError as error:
            return str(error)
        return ""


def _file_name(address: str) -> str:
    """Of the folder, or of the file: it may tell whose it is."""
    return re.sub(r"[^\w.+=@ -]", "_", address.rpartition("/")[2])[-_LONGEST // 4 :].lstrip(".") or "objects"


def _date(path: Path, one: Object) -> None:
    os.utime(path, ns=(one.written_ns, one.written_ns))


def _families(taken: Sequence[_Taken]) -> tuple[list[_Taken], list[list[_Taken]]]:
    """Those to copy at once, and families of many that are named alike, whose first ones are among them."""
    families: defaultdict[str, list[_Taken]] = defaultdict(list)
    for one in taken:
        families[_DIGITS.sub("#", one.object.below)].append(one)
    many = {
        name
        for name, family in families.items()
        if len(family) > _LOOKED_AT and not _COPY_OF_SOURCE.search(name)
    }
    first = [
        one for name, family in families.items() for one in (family[:_LOOKED_AT] if name in many else family)
    ]
    return first, [families[name] for name in sorted(many)]


def _of_archives(family: Sequence[_Taken]) -> bool:
    """Archives are opened here."""
    for one, path in family[:_LOOKED_AT]:
        try:
            with path.open("rb") as file:
                if container(file.read(512), one.below):
                    return True
        except OSError:
            continue
    return False
