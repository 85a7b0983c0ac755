"""The blind sets that were scored and opened, as they are kept in `first-contact/`."""

from __future__ import annotations

import tarfile
from pathlib import Path

from support.places import ROOT


def archives(of: str) -> list[Path]:
    """`round` and `practice` for programs, `found` for evidence without one."""
    return sorted((ROOT / "first-contact").glob(f"{of}-*.tar.xz"))


def name_of(archive: Path) -> str:
    return archive.name.partition(".")[0]


def unpacked(archive: Path, into: Path) -> Path:
    """The set's folder."""
    with tarfile.open(archive) as packed:
        packed.extractall(into, filter="data")
    (only,) = into.iterdir()
    return only
