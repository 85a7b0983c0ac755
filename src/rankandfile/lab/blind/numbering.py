"""Groups that the recorders number otherwise than the log of calls.

A group that is destroyed and made again under its name counts from 1 again; logs of sets that were sealed before the
lab knew of that count on. Where the dumps of the whole evidence say that a rank made another operation at a number, or
none, the log cannot tell what a statement with such a number means.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import polars as pl

from rankandfile.evidence.load import load
from rankandfile.lab.calls import CallLog


def numbered_otherwise(evidence: Path, log: CallLog) -> frozenset[str]:
    """The names of such groups, by the dumps of this folder."""
    with tempfile.TemporaryDirectory(prefix="raf-numbers-") as scratch:
        case = load([evidence], Path(scratch), jobs=1)
        rows = case.calls.filter(~pl.col("is_p2p") & pl.col("seq").is_not_null())
        groups = case.groups.select("group", title=pl.col("name").str.split(" (making ").list.first())
        made = rows.join(groups, on="group").select("rank", "title", "seq", "op")
        recorded = [(rank, title, seq, str(op)) for rank, title, seq, op in made.iter_rows()]
    logged = {(call.rank, call.group, call.seq): call.op for call in log.calls}
    return frozenset(
        name for rank, name, seq, op in recorded if not same_op(logged.get((rank, name, seq), "none"), op)
    )


def same_op(logged: str, said: str) -> bool:
    """all_gather_into_tensor, _all_gather_base and allgather are one operation in the log."""
    plain = said.replace("_", "").lower()
    return logged.replace("_", "") in plain or plain in logged.replace("_", "")
