"""Reading a pack that may be a stranger's: bounded like any archive, and nothing is written outside its folder."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import msgspec

from rankandfile.evidence.files.blobs import shown
from rankandfile.evidence.files.expansion_budget import (
    ExpansionBudget,
    Full,
    Stop,
    TooMuch,
)
from rankandfile.evidence.files.inflate import Unavailable
from rankandfile.evidence.files.limits import MIB, Limits
from rankandfile.evidence.files.members import Members, inside
from rankandfile.evidence.files.zip import Unsupported, Zip
from rankandfile.evidence.reading import NotACase
from rankandfile.evidence.tables import case_dir
from rankandfile.model.case import Case
from rankandfile.model.ledger import Note
from rankandfile.own_python import own_python

from .manifest import MANIFEST, Pack

_CASE, _CALLS = "case.json", "calls.parquet"
#: Members looked at to see whether an archive is a pack. A packed case begins with its own files.
_LOOKED_AT = 64
_MANIFEST_BYTES = 16 * MIB
_SECONDS = 600


def is_pack(path: Path) -> bool:
    """Whether this is a zip that holds a case, at its top or in one folder."""
    try:
        with path.open("rb") as file:
            if file.read(4) != b"PK\3\4":
                return False
            members = Zip(file, path.stat().st_size, MIB)
            names = {member.name for member, _ in zip(members, range(_LOOKED_AT), strict=False)}
    except OSError:
        return False
    return any(_rooted(names, root) for root in ("", *(name.partition("/")[0] + "/" for name in names)))


def _rooted(names: set[str], root: str) -> bool:
    return root + _CASE in names and root + _CALLS in names


def read(archive: Path, spool: Path, limits: Limits | None = None) -> Case:
    """The case in a pack. Raises `NotACase`."""
    members, folder = spool / "members", spool / "case"
    try:
        members.mkdir()
        _, notes = unpack(archive, members, folder, limits)
        return case_dir.read(folder).with_notes(*notes)
    except OSError as error:
        raise NotACase(f"{archive}: cannot be unpacked: {error.strerror or error}") from error


def unpack(archive: Path, spool: Path, into: Path, limits: Limits | None = None) -> tuple[Pack, list[Note]]:
    """Put the case into the folder `into`, and the raw evidence below it. Raises `NotACase` and OSError.

    The case is read once by another process, under a memory limit, before this one may read it.
    """
    into.mkdir(parents=True, exist_ok=True)
    limits = limits or Limits()
    members = Members(str(archive))
    try:
        with archive.open("rb") as file:
            size = archive.stat().st_size
            budget = ExpansionBudget(limits, spool)
            budget.open_root(size)
            _take_all(Zip(file, size, limits.window_bytes), budget, members, into)
    except (Full, Stop) as reason:
        raise NotACase(f"{archive}: {reason}") from reason
    probe(into, str(archive), limits)
    return _manifest(into), members.notes()


def _take_all(zipped: Zip, budget: ExpansionBudget, members: Members, into: Path) -> None:
    root = None
    for member in zipped:
        budget.count()
        if root is None:
            # The first document tells where the case lies: at the top, or in a folder of that name.
            first = inside(member.name)[0]
            root = (
                ""
                if first in (_CASE, MANIFEST) or first.endswith(".parquet")
                else first.partition("/")[0] + "/"
            )
        name = inside(member.name)[0]
        target = _target(name.removeprefix(root)) if name.startswith(root) else None
        if target is None or member.kind == "folder":
            continue
        source = members.source(member.name)
        if member.encrypted or member.kind == "link":
            members.skip("encrypted file" if member.encrypted else "link", member.name)
            continue
        try:
            copy, _ = budget.spool(budget.metered(zipped.body(member)), member.compressed)
        except Stop:
            raise
        except (TooMuch, Unsupported, Unavailable) as reason:
            members.say("not read", source, f"{reason}; not read")
            continue
        if zipped.member_broken:
            members.say("damaged", source, zipped.member_broken)
        try:
            _put(copy, into / target, member.written_ns)
        except OSError as error:
            members.say("not written", source, f"cannot be written: {error.strerror or error}")
    if zipped.broken:
        members.say("broken", members.source(""), zipped.broken)


def _put(copy: Path, place: Path, written_ns: int) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(copy, place)
    copy.unlink()
    if written_ns:
        os.utime(place, ns=(written_ns, written_ns))


def _target(name: str) -> Path | None:
    """Where a member goes: only tables, the two documents, and raw evidence have a place."""
    if "/" not in name and (name in (_CASE, MANIFEST) or name.endswith(".parquet")):
        return Path(name)
    return Path(shown(name)) if name.startswith("evidence/") else None


def _manifest(folder: Path) -> Pack:
    try:
        file = folder / MANIFEST
        if file.stat().st_size <= _MANIFEST_BYTES:
            return msgspec.json.decode(file.read_bytes(), type=Pack)
    except (OSError, msgspec.DecodeError, RecursionError):
        pass
    return Pack()


def probe(folder: Path, name: str, limits: Limits) -> None:
    """Whether the tables can be read without harm. A forged table can ask for more memory than there is, or worse.
    Raises `NotACase`."""
    program = own_python("from rankandfile.evidence.pack.probe import main; main()")
    command = [*program, str(folder), str(limits.memory_bytes)]
    try:
        done = subprocess.run(
            command, capture_output=True, timeout=_SECONDS, check=False, stdin=subprocess.DEVNULL
        )
    except subprocess.TimeoutExpired as error:
        raise NotACase(f"{name}: its tables take too long to read") from error
    if done.returncode == 0:
        return
    said = done.stdout.decode("utf-8", "replace").strip()
    raise NotACase(
        f"{name}: {said.removeprefix(f'{folder}: ')}"
        if done.returncode == 2 and said
        else f"{name}: its tables cannot be read without harm"
    )
