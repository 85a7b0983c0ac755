"""What shows, apart from anything that a rank did, that a job failed or stands still."""

from __future__ import annotations

import polars as pl

from rankandfile.reason.facts import Facts

from .accounts import fields_of
from .watches import over

#: Who waited says so, or who lost the others.
_SAID_BY = ("messenger", "echo")


def failed_or_stands(facts: Facts) -> bool:
    """A watchdog, a heartbeat or a timeout spoke last, a rank lost the others, or the person says that it hung."""
    if facts.hung or facts.accounts.gave_up or facts.accounts.stuck_watchdogs:
        return True
    said = facts.case.events.filter(pl.col("role").cast(pl.String).is_in(list(_SAID_BY)))
    past = over(facts.case.events)
    # What an exception of the program's own led to is said of no other rank.
    return not all(
        fields_of(row).get("chained") or (row["log"], row["line"]) in past
        for row in said.iter_rows(named=True)
    )


def caught_and_unproved(facts: Facts) -> frozenset[int]:
    """Ranks of which nothing but exceptions that the program caught would tell that they failed."""
    return frozenset() if failed_or_stands(facts) else facts.accounts.caught
