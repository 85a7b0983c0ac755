"""When somebody looked at the job, as the files of its dumps and its stacks tell together."""

from __future__ import annotations

from rankandfile.model.heuristics import Heuristic

from .dump_times import written_ns
from .facts import RankFacts

_SECOND_NS = 1_000_000_000
_ONE_LOOK_NS = 5 * _SECOND_NS
"""Stacks of all ranks, and the dumps after them, take no longer."""
_STACKS_TELL = Heuristic(
    "one look", "the earlier of the dumps' and the stacks' files tell when somebody looked"
)


def looked_ns(facts: RankFacts) -> int | None:
    """None where nothing tells it.

    A file was written when its time says, or before: a copy makes that later, never earlier. So of dumps and stacks
    the earlier are nearer to the truth. Stacks from just before the last call are of a job that still moved, and of
    the same look as the dumps; those from long before it tell nothing of them.
    """
    written = written_ns(facts.case, facts.clocks)
    last = facts.call_table.calls["created_ns"].max()
    times = [_whole(stand.last_ns) for stand in facts.hosts.values() if stand.last_ns and not stand.died]
    if written is None or not isinstance(last, int) or not times or max(times) >= written:
        return written
    if max(times) < last - _ONE_LOOK_NS or _STACKS_TELL.off:
        return written
    return max(*times, last)


def _whole(time_ns: int) -> int:
    """Archives keep whole seconds: it was written at some time of that second."""
    return time_ns if time_ns % _SECOND_NS else time_ns + _SECOND_NS - 1
