"""Findings of a job that still moves, or that stands as a whole, in words."""

from __future__ import annotations

from collections.abc import Mapping

from rankandfile.capture.sentinel.late import Late
from rankandfile.capture.sentinel.piling import Pile
from rankandfile.capture.sentinel.ranks import Rank
from rankandfile.capture.sentinel.telling import id_of, name_of, path_of
from rankandfile.capture.sentinel.words import place
from rankandfile.model.digest import Finding, Side


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


def _s(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds < 10 else f"{seconds:.0f} s"
