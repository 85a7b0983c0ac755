"""All ranks of a circle in which nobody is the odd one out, where each puts its calls in an order of its own.

Of two orders neither is the right one where as many ranks took the one as the other: all of them made it.
"""

from __future__ import annotations

from collections import Counter

from rankandfile.model.diagnosis import Verdict
from rankandfile.model.findings import NamedByCode
from rankandfile.model.heuristics import heuristic
from rankandfile.model.ranks import parse_ranks
from rankandfile.source.lines.call_paths import CallPaths
from rankandfile.source.lines.found_line import FoundLine

from .own_order import own_order


@heuristic(
    "all in the circle",
    "where as many ranks of a circle went one way as the other, all are in another's order",
)
def all_in_the_circle(verdict: Verdict, found: FoundLine, paths: CallPaths) -> NamedByCode | None:
    """None where the evidence names somebody, the order is not each rank's own, or one way is that of most."""
    circle = verdict.divergence is not None and verdict.divergence.kind == "cycle"
    if verdict.culprits or not circle or not own_order(found):
        return None
    calls = {
        rank: (wait.group, wait.op, wait.seq) for wait in verdict.waits for rank in parse_ranks(wait.ranks)
    }
    ways = Counter((paths.now(rank), *call) for rank, call in calls.items())
    case = paths.case
    heard = {
        *case.snapshots["rank"].drop_nulls(),
        *case.events["rank"].drop_nulls(),
        *range(case.world_size or 0),
    }
    if not calls or calls.keys() != heard or 2 * max(ways.values()) > len(heard):
        return None
    return NamedByCode(
        ranks=tuple(sorted(heard)),
        doing="makes the calls in an order of its own",
        sentence="Each rank puts its calls in an order of its own there, and no order is that of most: all are in the "
        "circle.",
        cause="order_inversion",
    )
