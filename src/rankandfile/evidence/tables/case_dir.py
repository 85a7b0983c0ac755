"""A case as a directory: Parquet tables and a small ``case.json``, for every command and for other tools.

DuckDB, pandas and Polars read the tables as they are; ``docs/tables.md`` describes each column.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
import polars as pl
from msgspec.structs import replace

from rankandfile.evidence.reading import NotACase
from rankandfile.evidence.tables.references import broken_reference
from rankandfile.model.case import SCHEMA, Case
from rankandfile.model.ledger import Note
from rankandfile.model.ranks import MOST_RANKS
from rankandfile.model.tables import TABLES, schema

MANIFEST = "case.json"


class Manifest(msgspec.Struct, kw_only=True):
    schema: str
    world_size: int | None
    notes: list[Note]


def is_case_dir(path: Path) -> bool:
    return (path / MANIFEST).is_file() and (path / "calls.parquet").is_file()


def write(case: Case, directory: Path) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    for name, table in case.tables().items():
        table.write_parquet(directory / f"{name}.parquet", compression="zstd", statistics=True)
    manifest = Manifest(schema=SCHEMA, world_size=case.world_size, notes=list(case.notes))
    (directory / MANIFEST).write_bytes(msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n")


def read(directory: Path) -> Case:
    try:
        manifest = msgspec.json.decode((directory / MANIFEST).read_bytes(), type=Manifest)
        if manifest.schema != SCHEMA:
            raise NotACase(
                f"{directory}: a case of schema '{manifest.schema:.60}', this version reads '{SCHEMA}'"
            )
        if not 0 <= (manifest.world_size or 0) <= MOST_RANKS:
            raise NotACase(f"{directory}: not a readable case directory: more ranks than any job has")
        tables = {name: _table(directory, name) for name in TABLES}
    except (msgspec.DecodeError, OSError, pl.exceptions.PolarsError) as error:
        why = " ".join(str(error).split())
        raise NotACase(f"{directory}: not a readable case directory: {why:.200}") from error
    if wrong := broken_reference(tables):
        raise NotACase(f"{directory}: not a readable case directory: {wrong}")
    return replace(Case(notes=tuple(manifest.notes), world_size=manifest.world_size), **tables)


def _table(directory: Path, name: str) -> pl.DataFrame:
    found = pl.read_parquet(directory / f"{name}.parquet")
    wanted = schema(name)
    missing = wanted.keys() - set(found.columns)
    if missing:
        raise NotACase(f"{directory / name}.parquet: columns missing: {', '.join(sorted(missing))}")
    return found.select(pl.col(column).cast(dtype) for column, dtype in wanted.items())
