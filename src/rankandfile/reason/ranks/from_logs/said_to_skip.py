"""A member that says in its log that it left something out, just before a call in which the members disagree.

Programs drop bad samples all the time, and most of that is harmless. So it counts only where the disagreement is
shown, and where nobody in the group has ever said such a thing but those members just before that call.
"""

from __future__ import annotations

import re

import polars as pl

from rankandfile.model.events import event_id
from rankandfile.model.heuristics import heuristic
from rankandfile.reason import lookup
from rankandfile.reason.facts import Facts
from rankandfile.reason.ranks.from_logs.accounts import Error
from rankandfile.reason.waits.graph import Pending

KIND = "left_out"

_JUST_BEFORE_NS = 30_000_000_000

_EXCEPTION = re.compile(r"\b\w+(?:Error|Exception)\b|\b(?:swallowed|exception)\b")


@heuristic(
    "said so", "a member that logged that it skipped something just before is out of line", otherwise={}
)
def said_to_skip(facts: Facts, call: Pending) -> dict[int, Error]:
    """Rank -> what it said; nothing if it may mean nothing."""
    members = facts.membership.members[call.group]
    lines = facts.case.events.filter(
        (pl.col("kind").cast(pl.String) == KIND) & (pl.col("rank").is_in(members) | pl.col("rank").is_null())
    )
    found: dict[int, Error] = {}
    for row in lines.iter_rows(named=True):
        rank, at = row["rank"], row["time_ns"]
        made = lookup.call_at(facts, rank, call.group, call.slot or 0) if rank is not None else None
        if made is None or made["created_ns"] is None or at is None or rank in found:
            return {}
        if not 0 <= made["created_ns"] - at <= _JUST_BEFORE_NS:
            return {}
        found[rank] = Error(row["text"], (event_id(row["log"], row["line"]),))
    return found if 2 * len(found) < len(members) else {}


def caught_by(errors: dict[int, Error]) -> str:
    """An exception that was caught, where the line speaks of one."""
    if all(_EXCEPTION.search(error.words) for error in errors.values()):
        return "swallowed_exception"
    return "skipped_collective"
