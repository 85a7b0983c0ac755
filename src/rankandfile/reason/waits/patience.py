"""How long a call has been waiting, as far as the evidence has a clock."""

from __future__ import annotations

from enum import Enum

import polars as pl

from rankandfile.reason.facts import Facts
from rankandfile.reason.lookup import Row, call_at, call_of_record
from rankandfile.reason.ranks.dump_times import written_ns
from rankandfile.reason.verdict.moved import gap_ns, moved

from .graph import Pending

_MUCH_LONGER = 5
_AT_LEAST_NS = 2_500_000_000
"""Writing the first dump with stacks takes a process up to two seconds, and looks like a pause."""


class Patience(Enum):
    OVER = "longer than its timeout"
    LATE = "much longer than any pause between two calls before it"
    SAID = "as long as it takes to call it a hang"
    UNKNOWN = "for a time that nothing tells"
    NOT_YET = "not longer than the job's own pauses"


def patience(facts: Facts, call: Pending) -> Patience:
    """Of a call that everyone has joined."""
    if call.slot is not None:
        rows = [r for rank in call.waiting[:8] if (r := call_at(facts, rank, call.group, call.slot))]
    else:
        rows = [r for rank in call.waiting[:8] if (r := call_of_record(facts, rank, call.record or 0))]
    if call.slot is not None and any(_given_up(facts, row) for row in rows):
        return Patience.OVER
    created = [r["created_ns"] for r in rows if r["created_ns"]]
    if not created:
        return Patience.UNKNOWN
    timeouts = [r["timeout_ms"] for r in rows if r["timeout_ms"]]
    waited = latest_ns(facts) - max(created)
    if timeouts and waited >= 0.95 * min(timeouts) * 1e6:
        return Patience.OVER
    if much_longer(facts, waited) and not _moved_meanwhile(facts, waited):
        return Patience.LATE
    if written_ns(facts.case, facts.clocks) is not None:
        return Patience.NOT_YET
    return Patience.SAID if facts.hung or facts.supposed_hung else Patience.UNKNOWN


def _moved_meanwhile(facts: Facts, waited_ns: int) -> bool:
    """A rank got on between two looks at it: what was idle since counts only if that was long against the gap."""
    if facts.hung or not moved(facts):
        return False
    gap = gap_ns(facts)
    return gap is None or waited_ns < _MUCH_LONGER * abs(gap)


def _given_up(facts: Facts, row: Row) -> bool:
    """Its own watchdog says that the call took longer than its timeout."""
    group = facts.case.groups.row(by_predicate=pl.col("group") == row["group"], named=True)
    reports = facts.accounts.of_rank.get(row["rank"], ())
    return any(r.seq == row["seq"] and r.group in (group["name"], group["desc"]) for r in reports)


def much_longer(facts: Facts, pause_ns: int) -> bool:
    """Longer by far than any rank ever took from one call to the next."""
    return pause_ns >= max(_AT_LEAST_NS, _MUCH_LONGER * longest_pause_ns(facts))


def longest_pause_ns(facts: Facts) -> int:
    """The longest time between two calls of one rank."""
    calls = facts.call_table.calls.select("rank", "created_ns")
    pauses = calls.select(
        pl.when(pl.col("rank") == pl.col("rank").shift()).then(pl.col("created_ns").diff()).max()
    )
    return int(pauses.item() or 0)


def latest_ns(facts: Facts) -> int:
    """The latest moment that any dump knows of: of a call, or of its own writing."""
    written = written_ns(facts.case, facts.clocks)
    if facts.clocks:
        times = [facts.call_table.calls["created_ns"].max(), written]
    else:
        times = [facts.case.calls[name].max() for name in ("created_ns", "started_ns", "completed_ns")]
        times += [facts.case.dumps_used["last_ns"].max(), written]
    return max((int(t) for t in times if t is not None), default=0)  # type: ignore[arg-type]
