"""Findings of a job that still moves, or that stands as a whole, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rankandfile.capture.sentinel.late import Late
from rankandfile.capture.sentinel.piling import Pile
from rankandfile.capture.sentinel.ranks import Rank
from rankandfile.capture.sentinel.standing import not_come
from rankandfile.capture.sentinel.telling import id_of, name_of, path_of, ranks_told
from rankandfile.capture.sentinel.telling_waits import side_of, which
from rankandfile.capture.sentinel.transfers import Lane
from rankandfile.capture.sentinel.waits import Open
from rankandfile.capture.sentinel.words import place
from rankandfile.model.digest import Finding, Side
from rankandfile.model.ranks import format_ranks
from rankandfile.wire import layout

#: Calls in which ranks stand; more are left out of the line.
_TOLD = 3


def behind(late: Late, group: str, ranks: Mapping[int, Rank], now: float) -> Finding:
    path = path_of(ranks[late.rank], late.call.stack)
    at = f"{late.call.words} of {name_of(group, ranks)} at {place(path)}"
    if late.over:
        words = f"rank {late.rank} keeps up again: the others wait for it for {_s(late.late_s)} at {at}"
    else:
        words = (
            f"rank {late.rank} falls behind, and is not stuck: for {now - late.since:.0f} s the others have waited for "
            f"it at {at}, lately {_s(late.late_s)} of the {_s(late.every_s)} from one such call to the next; before, "
            f"about {_s(late.before_s)}"
        )
    return Finding(
        id=id_of("behind", group, late.rank, late.since), kind="behind", certainty="likely", words=words,
        since=late.since, time=now, group=group, sequence=late.number, ranks=str(late.rank),
        sides=(Side(ranks=str(late.rank), call=late.call.words, path=path),), over=late.over,
    )  # fmt: skip


def storm(pile: Pile, group: str, ranks: Mapping[int, Rank], now: float) -> Finding:
    path = path_of(ranks[pile.ahead], pile.oldest.stack)
    since = pile.oldest.wall_ns / 1e9
    moves = "makes calls too, and fewer" if pile.moves else "has made none meanwhile"
    words = (
        f"calls pile up: rank {pile.ahead} has {pile.more} calls of {name_of(group, ranks)} in flight that rank "
        f"{pile.behind} has not come to, {pile.more - pile.before} more than {pile.over_s:.0f} s ago; rank "
        f"{pile.behind} {moves}. The oldest is call {pile.number}, {pile.oldest.words} at {place(path)}, open for "
        f"{now - since:.0f} s"
    )
    sides = (
        Side(ranks=str(pile.ahead), call=pile.oldest.words, path=path),
        Side(ranks=str(pile.behind)),
    )
    return Finding(
        id=id_of("storm", group, pile.ahead, since), kind="storm", certainty="certain", words=words, since=since,
        time=now, group=group, sequence=pile.number, sides=sides,
    )  # fmt: skip


def frozen(ranks: Mapping[int, Rank], verdict: str, now: float) -> Finding:
    """Nothing moves on any node, and nobody's call is off. `verdict`: what the diagnosis says of it."""
    standing: dict[tuple[str | Lane, int], list[int]] = {}
    calls: dict[tuple[str | Lane, int], Open] = {}
    for rank, one in sorted(ranks.items()):
        if (call := _stands_in(one)) is not None:
            # Both halves of a transfer have the same place.
            at = call.lane, call.number if isinstance(call.lane, str) else -1 - rank
            calls.setdefault(at, call)
            standing.setdefault(at, []).append(rank)
    sides = [_standing(those, calls[at], ranks) for at, those in standing.items()]
    since = max((one.moved for one in ranks.values()), default=now)
    told = "; ".join(words for words, _ in sides[:_TOLD])
    more = f"; and {len(sides) - _TOLD} more calls" if len(sides) > _TOLD else ""
    words = f"nothing moves, for {now - since:.0f} s: {told or 'no rank stands in a call'}{more}; verdict: {verdict}"
    return Finding(
        id=id_of("frozen", min(ranks, default=0), since), kind="frozen", certainty="certain", words=words[:4000],
        since=since, time=now, sides=tuple(side for _, side in sides),
    )  # fmt: skip


def _stands_in(one: Rank) -> Open | None:
    newest = one.newest
    if newest is None or newest.number not in one.tail.open:
        return None
    place = one.lanes.get(newest.number) if newest.flags & layout.P2P else one.place(newest)
    return Open(newest.number, *place) if place is not None else None


def _standing(those: Sequence[int], call: Open, ranks: Mapping[int, Rank]) -> tuple[str, Side]:
    side = side_of(those, call, ranks)
    come = "" if isinstance(call.lane, Lane) else f", and {_come(call.lane, call.number, ranks)}"
    several = len(those) > 1
    words = (
        f"rank{'s' * several} {side.ranks} {'stand' if several else 'stands'} in {side.call} "
        f"({which(call, those[0], ranks)}) at {place(side.path)}{come}"
    )
    return words, side


def _come(group: str, number: int, ranks: Mapping[int, Rank]) -> str:
    members = next((one.members[group] for one in ranks.values() if group in one.members), ())
    away = not_come(members, group, number, ranks)
    if away:
        return f"{ranks_told(format_ranks(away))} {'have' if len(away) > 1 else 'has'} not come to it"
    return f"all {'of this node ' * (not set(members) <= ranks.keys())}have come to it"


def _s(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds < 10 else f"{seconds:.0f} s"
