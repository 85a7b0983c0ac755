"""What each rank asked for in one call of a group: by its record, else by what its own watchdog wrote of that call."""

from __future__ import annotations

from typing import NamedTuple

import polars as pl

from rankandfile.model.claims import OfCall
from rankandfile.model.column import Row
from rankandfile.reason.calls.contracts import contract_of, terms
from rankandfile.reason.ranks.from_logs.accounts import fields_of

from .raw import Raw

Place = tuple[str, int]


class Asked(NamedTuple):
    op: str
    size: int | None
    """Where all members must agree on it."""
    way: frozenset[Place]
    """File and line of the frames that led there; empty where nothing tells them."""


def asked_by_log(raw: Raw, claim: OfCall) -> dict[int, Asked]:
    """Of the call with the claim's number: ranks whose lines name its operation."""
    if raw.cites_another(claim) or claim.seq is None:
        return {}
    members = raw.listed(claim) or set(raw.case.events["rank"].drop_nulls().to_list())
    lines = raw.told(claim, members).filter((pl.col("seq") == claim.seq) & pl.col("op").is_not_null())
    found: dict[int, Asked] = {}
    for row in lines.sort("log", "line").iter_rows(named=True):
        known = found.get(row["rank"], Asked(contract_of(row["op"]).op, None, frozenset()))
        found[row["rank"]] = known._replace(
            size=_size(row) if known.size is None else known.size, way=known.way | _frames(row)
        )
    return found


def asked_by_record(raw: Raw, claim: OfCall) -> dict[int, Asked]:
    return {row["rank"]: _recorded(raw, row) for row in raw.at(claim, None).iter_rows(named=True)}


def _size(row: Row) -> int | None:
    agree = contract_of(row["op"]).agree
    size = {"input": row["size_in"], "either": row["size_in"], "output": row["size_out"]}.get(agree)
    return None if size is None else int(size)


def _frames(row: Row) -> frozenset[Place]:
    found = fields_of(row).get("frames")
    listed = found if isinstance(found, list) else []
    return frozenset((str(frame[1]), int(frame[2])) for frame in listed)


def _recorded(raw: Raw, row: Row) -> Asked:
    shape = raw.case.shapes.filter(pl.col("shape") == row["shape"])
    op = str(row["op"])
    promised = terms(op, shape.row(0, named=True) if shape.height else None)
    size = (
        sum(promised.size)
        if promised.size and contract_of(op).agree in ("input", "either", "output")
        else None
    )
    stacks = raw.case.stacks.filter(pl.col("stack").eq_missing(pl.lit(row["stack"])))["frames"].explode()
    frames = raw.case.frames.filter(pl.col("frame").is_in(stacks.implode())).select("file", "line")
    return Asked(contract_of(op).op, size, frozenset(frames.iter_rows()))
