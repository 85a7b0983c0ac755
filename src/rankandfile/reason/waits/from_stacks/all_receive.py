"""Ranks that wait for each other in a circle of transfers: all receive, so that none of them comes to send; all send,
and none receives; or each of them does one of the two with a rank that is busy with the next."""

from __future__ import annotations

from collections.abc import Mapping

from rankandfile.model.causes import RECEIVES_FROM, SENDS_TO
from rankandfile.model.diagnosis import Location
from rankandfile.reason.document import perhaps
from rankandfile.reason.ranks.did_instead import world_of
from rankandfile.reason.ranks.host import Stand
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.components import components
from rankandfile.reason.words import upper

from .in_words import Doing, Transfer, doing_words, in_words, waiting_words
from .make_finding import make_finding
from .where_all_stand import WhereAllStand

#: So many looks at all of them show no message under way.
_LOOKS = 3
_NOBODY_SENDS = "no rank that was seen is at work, so none of them comes to send"


def all_receive(of: WhereAllStand) -> Finding | None:
    """Ranks that receive from each other in a circle, as the arguments in their stacks show: none of them has sent."""
    awaited = {r: s.asked.awaited for r, s in of.waiting.items() if s.asked.awaited is not None}
    circles = [circle for circle in _circles(awaited) if len(circle) > 1]
    if not circles:
        return None
    named = tuple(sorted(rank for circle in circles for rank in circle))
    # A helper that all receive by is one line; who called it says whether they do the same.
    lines = {(of.stands[r].location.file, of.stands[r].location.line, of.stands[r].caller) for r in named}
    if len(lines) > 1 and any(of.stands[rank].asked.by_source for rank in named):
        # Who of them has left the loop that the others are in, the source can tell, and these lines do not.
        return None
    together = any(set(named) == set(cohort.ranks) for cohort in of.cohorts)
    # Nobody is at work who could send yet, and what was sent arrives in less time than several looks take.
    for_ever = (
        together and of.alike and not of.elsewhere and min(s.snapshots for s in of.stands.values()) >= _LOOKS
    )
    sure = (
        len(lines) == 1 and not of.unseen and (for_ever or (bool(of.stays) and set(named) == set(of.stands)))
    )
    doing = {rank: Transfer(sends=False, peer=awaited[rank]) for rank in named}
    if sure and {*named} | {*(sent := _sent_in_circles(of))} == {*of.stands}:
        # Who sends in a circle of its own waits for none of those that receive: it is in the same plight.
        doing |= {rank: Transfer(sends=True, peer=to) for rank, to in sent.items()}
        doing = dict(sorted(doing.items()))
    either = ("order_inversion", "Both may receive before they send.")
    left_out = ("skipped_collective", "A send may have been left out before.")
    first, second = (either, left_out) if len(lines) == 1 else (left_out, either)
    return _in_a_circle(
        of,
        doing,
        first[0],
        sure=sure,
        otherwise=second,
        place=of.stands[named[0]].location if len({line[:2] for line in lines}) == 1 else None,
        lasts=_NOBODY_SENDS if sure else "",
    )


#: A send that blocks: what is sent asynchronously is waited for elsewhere.
_SEND = "send"
_PAIR = 2


def _sent_in_circles(of: WhereAllStand) -> dict[int, int]:
    """Ranks that send to each other in circles -> to whom."""
    to = {r: s.asked.dst for r, s in of.waiting.items() if s.op == _SEND and s.asked.dst is not None}
    return {rank: to[rank] for circle in _circles(to) if len(circle) > 1 for rank in circle}


def all_send(of: WhereAllStand) -> Finding | None:
    """Ranks that send to each other in a circle, and none of which receives: each waits until its message is taken."""
    senders = {rank: stand for rank, stand in of.waiting.items() if stand.op == _SEND}
    pair = len(senders) == len(of.stands) == world_of(of.facts) == _PAIR
    to = {
        rank: 1 - rank if stand.asked.dst is None and pair else stand.asked.dst
        for rank, stand in senders.items()
    }
    circles = _circles({rank: peer for rank, peer in to.items() if peer is not None})
    named = tuple(sorted(rank for circle in circles if len(circle) > 1 for rank in circle))
    if not named or not set(named) <= senders.keys():
        return None
    told = of.facts.case.world_size is not None or all(senders[rank].asked.dst is not None for rank in named)
    sure = bool(of.stays) and told and set(named) == set(of.stands) and not of.unseen
    doing = {rank: f"{SENDS_TO} {to[rank]}, which is in a send itself" for rank in named}
    return _in_a_circle(
        of,
        doing,
        "order_inversion",
        sure=sure,
        otherwise=("skipped_collective", "A receive may have been left out before."),
        only="" if told else ", if these two are all ranks of the job",
    )


def all_in_turn(of: WhereAllStand) -> Finding | None:
    """A circle of sends and receives: whoever each of them sends to, or receives from, is in a transfer with another.

    The same transfers in another order do that; so does one that somebody left out, after which all are out of step."""
    doing = in_turn(of.waiting)
    if not doing:
        return None
    return _in_a_circle(
        of,
        doing,
        "order_inversion",
        sure=False,
        otherwise=("skipped_collective", "A transfer may have been left out before."),
    )


def in_turn(stands: Mapping[int, Stand]) -> dict[int, str]:
    """What each rank of such circles does, in words; nothing where all of a circle send, or all receive."""
    with_: dict[int, int] = {}
    for rank, stand in stands.items():
        peer = stand.asked.dst if stand.op == _SEND else stand.asked.awaited
        if peer is not None:
            with_[rank] = peer
    # Of two that are in one transfer with each other, it is under way.
    named = tuple(sorted(rank for circle in _circles(with_) if len(circle) > _PAIR for rank in circle))
    if not 0 < sum(stands[rank].op == _SEND for rank in named) < len(named):
        return {}
    return {
        rank: f"{SENDS_TO if stands[rank].op == _SEND else RECEIVES_FROM} {with_[rank]}, which is busy "
        f"with rank {with_[with_[rank]]}"
        for rank in named
    }


def _in_a_circle(
    of: WhereAllStand,
    doing: Mapping[int, Doing],
    cause: str,
    *,
    sure: bool,
    otherwise: tuple[str, str],
    only: str = "",
    place: Location | None = None,
    lasts: str = "",
) -> Finding:
    """What they do, in order of their ranks, and the other cause that leaves the same."""
    named = tuple(doing)
    return make_finding(
        of,
        cause=cause,
        confidence="supported" if sure else "hypothesis",
        what=f"{doing_words(doing)}{only}: {upper(waiting_words(of, named, ''))}",
        culprits=named,
        doing={rank: in_words(what) for rank, what in doing.items()},
        evidence=[i for rank in named for i in of.stands[rank].evidence],
        place=place,
        lasts=lasts,
        alternatives=(
            perhaps(*otherwise, named, decided_by="the source at these lines: who sends to whom, and when"),
        ),
    )


def _circles(awaited: dict[int, int]) -> list[list[int]]:
    ranks = sorted({*awaited, *awaited.values()})
    index = {rank: i for i, rank in enumerate(ranks)}
    arrows = [[index[awaited[rank]]] if rank in awaited else [] for rank in ranks]
    return [[ranks[i] for i in part] for part in components(arrows)]
