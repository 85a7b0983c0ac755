"""How long a call has been waiting, as far as the evidence has a clock."""

from __future__ import annotations

from enum import Enum

import polars as pl

from rankandfile.model.column import Row
from rankandfile.reason.facts import Facts
from rankandfile.reason.lookup import call_at, call_of_record
from rankandfile.reason.ranks.looked import looked_ns
from rankandfile.reason.verdict.moved import gap_ns, moved

from .graph import Pending

MUCH_LONGER = 5
_AT_LEAST_NS = 2_500_000_000
"""Writing the first dump with stacks takes a process up to two seconds, and looks like a pause."""
_FEW_CALLS = 6
AT_LEAST_OF_FEW_NS = 10_000_000_000
"""What a rank has done so few times shows nobody how long it may take: the first data come, a file is opened; nor does
a pause that a rank makes. Whoever watches a job (`raf run`) looks after as long a standstill as the person said."""
_KNOWN_BY = 2
"""So often a way must have been gone to tell how long it takes."""


class Patience(Enum):
    OVER = "longer than its timeout"
    LATE = "much longer than any pause between two calls before it"
    NEW_WORK = "longer than any pause before it, after work that the job had not done before"
    SAID = "as long as it takes to call it a hang"
    UNKNOWN = "for a time that nothing tells"
    NOT_YET = "not longer than the job's own pauses"


def patience(facts: Facts, call: Pending) -> Patience:
    """Of a call that everyone has joined."""
    rows = _rows(facts, call)
    if call.slot is not None and any(_given_up(facts, row) for row in rows):
        return Patience.OVER
    created = [r["created_ns"] for r in rows if r["created_ns"]]
    if not created:
        return Patience.UNKNOWN
    timeouts = [r["timeout_ms"] for r in rows if r["timeout_ms"]]
    waited = latest_ns(facts) - max(created)
    if timeouts and waited >= 0.95 * min(timeouts) * 1e6:
        return Patience.OVER
    if waited >= late_after_ns(facts, call) and not _moved_meanwhile(facts, waited):
        if not call.lacking or not is_new_work(facts, call):
            return Patience.LATE
        # Whoever says that it hung has seen that this does not end.
        return Patience.SAID if facts.hung and not _at_work(facts, call) else Patience.NEW_WORK
    if looked_ns(facts) is not None and not facts.hung:
        return Patience.NOT_YET
    # Who is seen to move gives no reason to suppose it.
    supposed = facts.supposed_hung and not _at_work(facts, call)
    return Patience.SAID if facts.hung or supposed else Patience.UNKNOWN


def is_new_work(facts: Facts, call: Pending) -> bool:
    """Whether what lies between the call before and this one was done for the first time, or nearly so."""
    return not _came_here_before(_rows(facts, call), facts)


def _at_work(facts: Facts, call: Pending) -> bool:
    """Whether one that has not come is seen to move."""
    return any(facts.hosts[rank].moving for rank in call.lacking if rank in facts.hosts)


def waited_ns(facts: Facts, call: Pending) -> int | None:
    """Up to the look, since the last of them came; None where no record has a time."""
    created = [row["created_ns"] for row in _rows(facts, call) if row["created_ns"]]
    return latest_ns(facts) - max(created) if created else None


def late_after_ns(facts: Facts, call: Pending) -> int:
    """A wait that is longer than this no wait of the job was, by far.

    What comes before a call that is made for the first time, as the first validation or checkpoint, may take longer
    than any step did: then it must be longer than all that the job has recorded before.
    """
    usual = max(_at_least_ns(facts), MUCH_LONGER * longest_pause_ns(facts))
    rows = _rows(facts, call)
    row = next((row for row in rows if row["created_ns"]), None)
    if row is None or row["site"] is None:
        return usual
    before = facts.call_table.calls.select("rank", "site", "created_ns").filter(
        pl.col("created_ns") < row["created_ns"]
    )
    if not before.height or before.filter(rank=row["rank"], site=row["site"]).height:
        return usual
    first = before["created_ns"].min()
    return max(usual, row["created_ns"] - first) if isinstance(first, int) else usual


def _at_least_ns(facts: Facts) -> int:
    most = facts.call_table.calls.group_by("rank").len()["len"].max()
    seldom = not facts.accounts.work and (not isinstance(most, int) or most <= _FEW_CALLS)
    return AT_LEAST_OF_FEW_NS if seldom or _somebody_pauses(facts) else _AT_LEAST_NS


def _somebody_pauses(facts: Facts) -> bool:
    """Who is waited for, and for nobody else, sleeps or may: a call into C leaves no frame. Nobody watched the job, who
    would have seen how long it does."""
    if facts.accounts.work:
        return False
    waited_for = {rank for end in facts.wait_ends for rank in end.ranks} or facts.hosts.keys()
    return any(
        stand.activity in ("sleep", "user_code") and not stand.moving
        for rank, stand in facts.hosts.items()
        if rank in waited_for and not facts.waits.of_rank.get(rank)
    )


def _came_here_before(rows: list[Row], facts: Facts) -> bool:
    """Whether the way from the call before to this one was gone more than once, by any of those that wait: of work
    that is done for the first time, as a checkpoint or tidying up at the end, no pause before it tells how long it
    takes; and what some rounds do and others not, one round before may not have done."""
    ends = ["from_op", "from_path", "op", "path"]
    for row in rows:
        own = facts.call_table.of_rank(row["rank"]).select("record", "op", "path")
        ways = own.with_columns(from_op=pl.col("op").shift(), from_path=pl.col("path").shift())
        here = ways.filter(record=row["record"]).select(ends)
        before = ways.filter(pl.col("record") < row["record"]).join(here, on=ends, nulls_equal=True)
        if before.height >= _KNOWN_BY:
            return True
    return False


def _rows(facts: Facts, call: Pending) -> list[Row]:
    """The calls of some that wait in it."""
    few = call.waiting[:8]
    if call.slot is None:
        return [row for rank in few if (row := call_of_record(facts, rank, call.record or 0))]
    return [row for rank in few if (row := call_at(facts, rank, call.group, call.slot))]


def _moved_meanwhile(facts: Facts, waited_ns: int) -> bool:
    """A rank got on between two looks at it: what was idle since counts only if that was long against the gap."""
    if facts.hung or not moved(facts):
        return False
    gap = gap_ns(facts)
    return gap is None or waited_ns < MUCH_LONGER * abs(gap)


def _given_up(facts: Facts, row: Row) -> bool:
    """Its own watchdog says that the call took longer than its timeout."""
    group = facts.case.groups.row(by_predicate=pl.col("group") == row["group"], named=True)
    reports = facts.accounts.of_rank.get(row["rank"], ())
    return any(r.seq == row["seq"] and r.group in (group["name"], group["desc"]) for r in reports)


def much_longer(facts: Facts, pause_ns: int) -> bool:
    """Longer by far than any rank ever took from one call to the next."""
    least = AT_LEAST_OF_FEW_NS if _somebody_pauses(facts) else _AT_LEAST_NS
    return pause_ns >= max(least, MUCH_LONGER * longest_pause_ns(facts))


def is_usual(facts: Facts, apart_ns: int) -> bool:
    """Whether the job, as it is recorded, has made pauses that are near as long: without the first of each rank, in
    which things are set up and compiled."""
    return apart_ns < MUCH_LONGER * _longest_ns(facts, first=False)


def late_to_end(facts: Facts) -> bool:
    """Whether the job should have ended long ago: it has ended but once, and all that it did before was shorter."""
    made = facts.call_table.calls["created_ns"]
    first, last = made.min(), made.max()
    if facts.hung or not isinstance(first, int) or not isinstance(last, int) or looked_ns(facts) is None:
        return facts.hung
    idle = latest_ns(facts) - last
    return much_longer(facts, idle) and idle >= last - first


def all_idle(facts: Facts) -> bool:
    """Nobody has made a call for much longer than anybody ever took to the next."""
    last = facts.call_table.calls["created_ns"].max()
    return isinstance(last, int) and much_longer(facts, latest_ns(facts) - last)


def longest_pause_ns(facts: Facts) -> int:
    """The longest time between two calls of one rank."""
    return _longest_ns(facts, first=True)


def _longest_ns(facts: Facts, first: bool) -> int:
    calls = facts.call_table.calls.select("rank", "created_ns")
    same = pl.col("rank") == pl.col("rank").shift(1 if first else 2)
    pauses = calls.select(pl.when(same).then(pl.col("created_ns").diff()).max())
    return int(pauses.item() or 0)


def latest_ns(facts: Facts) -> int:
    """The latest moment that is known of: of a call, or of the look at the job."""
    written = looked_ns(facts)
    if facts.clocks:
        times = [facts.call_table.calls["created_ns"].max(), written]
    else:
        times = [facts.case.calls[name].max() for name in ("created_ns", "started_ns", "completed_ns")]
        times += [facts.case.dumps_used["last_ns"].max(), written]
    return max((int(t) for t in times if t is not None), default=0)  # type: ignore[arg-type]
