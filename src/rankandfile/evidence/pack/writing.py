"""Writing a pack. It appears whole or not at all."""

from __future__ import annotations

import os
import re
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import polars as pl
from msgspec.structs import replace

from rankandfile.evidence.files.links import Links
from rankandfile.evidence.files.members import inside, is_junk
from rankandfile.evidence.tables import case_dir
from rankandfile.model.case import Case

from .manifest import MANIFEST, Pack

_STORED = re.compile(r"\.(gz|bz2|xz|zst|zip|tgz|parquet|7z)$")


def write(
    case: Case,
    archive: Path,
    *,
    redacted: dict[str, int] | None,
    raw: Sequence[Path] = (),
    follow_links: bool = False,
) -> None:
    """Write the case, and the files below `raw`, into one zip. Raises OSError.

    `redacted`: how many names of each kind were replaced, if the case is a redacted one.
    """
    pack = Pack(redacted=redacted is not None, replaced=redacted or {}, raw=bool(raw))
    with tempfile.TemporaryDirectory(prefix="raf-pack-", dir=archive.parent) as folder:
        case_dir.write(_plain(case), Path(folder) / "case")
        part = Path(folder) / "pack.zip"
        with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED, strict_timestamps=False) as zipped:
            zipped.writestr(MANIFEST, msgspec.json.format(msgspec.json.encode(pack), indent=2) + b"\n")
            for file in sorted((Path(folder) / "case").iterdir()):
                _add(zipped, file, file.name)
            for file, name in _files(raw, archive, Links(raw, follow_links)):
                _add(zipped, file, f"evidence/{name}")
        part.replace(archive)


def _plain(case: Case) -> Case:
    """Categories as words: a file of categories may hold some that its rows no longer use."""
    tables = {
        name: table.with_columns(pl.col(pl.Categorical).cast(pl.String)) if table.width else table
        for name, table in case.tables().items()
    }
    return replace(case, **tables)


def _add(zipped: zipfile.ZipFile, file: Path, name: str) -> None:
    method = zipfile.ZIP_STORED if _STORED.search(name) else zipfile.ZIP_DEFLATED
    zipped.write(file, name, method)


def _files(raw: Sequence[Path], archive: Path, links: Links) -> Iterator[tuple[Path, str]]:
    """Every ordinary file, once, by a name that leads nowhere; links are followed to files within `raw` only."""
    seen: set[str] = set()
    for path in raw:
        root = path.parent if path.is_file() else path
        for file in [path] if path.is_file() else sorted(_below(path)):
            if not links.ordinary(file) or is_junk(file.name) or file.resolve() == archive.resolve():
                continue
            name = inside(f"{path.name}/{file.relative_to(root)}" if file != path else path.name)[0]
            base, count = name, 1
            while name in seen:
                count += 1
                name = f"{count}/{base}"
            seen.add(name)
            yield file, name


def _below(folder: Path) -> Iterator[Path]:
    for where, _, files in os.walk(folder):
        yield from (Path(where) / file for file in files)
