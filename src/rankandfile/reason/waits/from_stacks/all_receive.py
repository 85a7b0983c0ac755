"""Ranks that receive from each other in a circle, so that none of them comes to send."""

from __future__ import annotations

from rankandfile.reason.document import perhaps
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.components import components
from rankandfile.reason.words import upper

from .in_words import doing_words, waiting_words
from .make_finding import make_finding
from .where_all_stand import WhereAllStand


def all_receive(of: WhereAllStand) -> Finding | None:
    """Ranks that receive from each other in a circle, as the arguments in their stacks show: none of them has sent."""
    awaited = {r: s.asked.awaited for r, s in of.waiting.items() if s.asked.awaited is not None}
    circles = [circle for circle in _circles(awaited) if len(circle) > 1]
    if not circles:
        return None
    named = tuple(sorted(rank for circle in circles for rank in circle))
    lines = {(of.stands[r].location.file, of.stands[r].location.line) for r in named}
    sure = bool(of.stays) and len(lines) == 1 and set(named) == set(of.stands) and not of.unseen
    doing = {rank: f"receives from rank {awaited[rank]} before it sends" for rank in named}
    return make_finding(
        of,
        cause="order_inversion" if len(lines) == 1 else "skipped_collective",
        confidence="supported" if sure else "hypothesis",
        what=f"{doing_words(doing)}: {upper(waiting_words(of, named, ''))}",
        culprits=named,
        doing=doing,
        evidence=[i for rank in named for i in of.stands[rank].evidence],
        place=of.stands[named[0]].location if len(lines) == 1 else None,
        alternatives=(
            perhaps(
                "skipped_collective" if len(lines) == 1 else "order_inversion",
                "A send may have been left out before."
                if len(lines) == 1
                else "Both may receive before they send.",
                named,
                decided_by="the source at these lines: who sends to whom, and when",
            ),
        ),
    )


def _circles(awaited: dict[int, int]) -> list[list[int]]:
    ranks = sorted({*awaited, *awaited.values()})
    index = {rank: i for i, rank in enumerate(ranks)}
    arrows = [[index[awaited[rank]]] if rank in awaited else [] for rank in ranks]
    return [[ranks[i] for i in part] for part in components(arrows)]
