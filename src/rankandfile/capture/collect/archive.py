"""What was collected, as one archive, and back. It appears whole or not at all; its times are of whole seconds."""

from __future__ import annotations

import shutil
import struct
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

from rankandfile.evidence.files.blobs import shown
from rankandfile.evidence.files.expansion_budget import ExpansionBudget, TooMuch
from rankandfile.evidence.files.inflate import Unavailable
from rankandfile.evidence.files.limits import Limits
from rankandfile.evidence.files.members import COLLECTING, inside, is_junk
from rankandfile.evidence.files.zip import Unsupported, Zip

from . import folder as folders

#: A field of zip for the time in UTC; its own is the packer's local time, by two seconds.
_TIME, _MODIFIED = 0x5455, 1
_YEARS = (1980, 2107)


def write(folder: Path, archive: Path) -> None:
    """All that lies below the folder. Raises OSError."""
    part = archive.with_name(f"{archive.name}.part")
    try:
        with zipfile.ZipFile(part, "w") as zipped:
            for file in _files(folder):
                entry = _entry(file, file.relative_to(folder).as_posix())
                with file.open("rb") as data, zipped.open(entry, "w", force_zip64=True) as copy:
                    shutil.copyfileobj(data, copy, 1 << 20)
        part.replace(archive)
    finally:
        part.unlink(missing_ok=True)


def unpack(archive: Path, folder: Path) -> bool:
    """An archive made here before -> the folder of which it was made, as far as it can be read; what cannot is fetched
    again. Whether it is such an archive; nothing is left of another one. Raises OSError."""
    folders.begin(folder)
    spool = folders.spool(folder / "archive")
    limits = Limits()
    budget = ExpansionBudget(limits, spool)
    try:
        with archive.open("rb") as file:
            budget.open_root(size := archive.stat().st_size)
            zipped = Zip(file, size, limits.window_bytes)
            for member in zipped:
                if member.kind == "file" and not member.encrypted:
                    copy, _ = budget.spool(budget.metered(zipped.body(member)), member.compressed)
                    if not zipped.member_broken:
                        folders.put(copy, folder / shown(inside(member.name)[0]), member.written_ns)
    except (TooMuch, Unsupported, Unavailable):
        pass
    folders.tidy(folder)
    if (folder / COLLECTING / folders.MANIFEST).exists():
        return True
    shutil.rmtree(folder)
    return False


def _files(folder: Path) -> Iterator[Path]:
    yield folder / COLLECTING / folders.MANIFEST
    for file in sorted(folder.rglob("*")):
        if file.is_file() and not is_junk(file.relative_to(folder).as_posix()):
            yield file


def _entry(file: Path, name: str) -> zipfile.ZipInfo:
    seconds = int(file.stat().st_mtime)
    local = time.localtime(seconds)
    entry = zipfile.ZipInfo(
        name, local[:6] if _YEARS[0] <= local[0] <= _YEARS[1] else (_YEARS[0], 1, 1, 0, 0, 0)
    )
    entry.compress_type = zipfile.ZIP_DEFLATED
    if 0 <= seconds < 1 << 31:
        entry.extra = struct.pack("<HHBi", _TIME, 5, _MODIFIED, seconds)
    return entry
