"""The folder that evidence is brought into: what is there already, and what came before of each machine."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from rankandfile.evidence.files.members import COLLECTING

from .listing import Listed

MANIFEST = "manifest.json"
#: What a machine's files became where raf made them small over there.
CONDENSED = "condensed.case"


class Visited(msgspec.Struct, kw_only=True):
    """What came of one machine, as of the last time."""

    whole: bool = False
    """All that was there is here."""
    said: str = ""
    """Why not, or what else is to be known."""
    condensed: dict[str, tuple[int, int]] = {}
    """The files that are in the condensed one: name -> size and time, over there."""
    stacks: bool = False


class Manifest(msgspec.Struct, kw_only=True):
    schema: str = "rankandfile.collected/1"
    machines: dict[str, Visited] = {}


def read(folder: Path) -> Manifest:
    """Of an earlier collecting into it; an empty one where nothing can be made of it: then all is looked at anew."""
    try:
        return msgspec.json.decode((folder / COLLECTING / MANIFEST).read_bytes(), type=Manifest)
    except (OSError, msgspec.DecodeError, RecursionError):
        return Manifest()


def write(folder: Path, manifest: Manifest) -> None:
    """Raises OSError."""
    place = folder / COLLECTING / MANIFEST
    part = place.with_suffix(".part")
    part.write_bytes(msgspec.json.format(msgspec.json.encode(manifest), indent=1) + b"\n")
    part.replace(place)


def begin(folder: Path) -> None:
    """Make it. Raises OSError."""
    (folder / COLLECTING).mkdir(parents=True, exist_ok=True)
    tidy(folder)


def tidy(folder: Path) -> None:
    """What was half brought is removed: also that of a collecting that was killed."""
    for one in (folder / COLLECTING).iterdir():
        if one.is_dir():
            shutil.rmtree(one, ignore_errors=True)


def forget(folder: Path) -> None:
    """Nothing has come: nothing is left of it, unless something came before."""
    if [one.name for one in folder.iterdir()] == [COLLECTING]:
        shutil.rmtree(folder)


def spool(into: Path) -> Path:
    """Where the files of a machine's folder lie until they are whole. Raises OSError."""
    made = into.parent / COLLECTING / f"of {into.name}"
    made.mkdir(exist_ok=True)
    return made


def put(copy: Path, place: Path, written_ns: int) -> None:
    """Raises OSError."""
    place.parent.mkdir(parents=True, exist_ok=True)
    if written_ns:
        os.utime(copy, ns=(written_ns, written_ns))
    copy.replace(place)


def has(folder: Path, one: Listed) -> bool:
    """Whether the file lies in a machine's folder as it is over there."""
    try:
        there = (folder / one.name).lstat()
    except OSError:
        return False
    return stat.S_ISREG(there.st_mode) and (there.st_size, int(there.st_mtime)) == (one.size, one.seconds)


def is_condensed(folder: Path, files: Sequence[Listed], before: Mapping[str, tuple[int, int]]) -> bool:
    """Whether the condensed file of a machine is of these very files."""
    return (folder / CONDENSED).is_file() and {one.name: (one.size, one.seconds) for one in files} == before
