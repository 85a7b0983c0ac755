"""What was collected, as one archive. It appears whole or not at all, and keeps the files' times to the second."""

from __future__ import annotations

import shutil
import struct
import time
import zipfile
from pathlib import Path

from rankandfile.evidence.files.members import is_junk

#: A field of zip for the time in UTC; its own is the packer's local time, by two seconds.
_TIME, _MODIFIED = 0x5455, 1
_YEARS = (1980, 2107)


def write(folder: Path, archive: Path) -> None:
    """All that lies below the folder, without raf's own notes. Raises OSError."""
    part = archive.with_name(f"{archive.name}.part")
    try:
        with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as zipped:
            for file in sorted(folder.rglob("*")):
                name = file.relative_to(folder).as_posix()
                if file.is_file() and not is_junk(name):
                    with (
                        file.open("rb") as data,
                        zipped.open(_entry(file, name), "w", force_zip64=True) as copy,
                    ):
                        shutil.copyfileobj(data, copy, 1 << 20)
        part.replace(archive)
    finally:
        part.unlink(missing_ok=True)


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
