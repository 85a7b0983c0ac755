"""Where cohorts stand, whom they wait for and what ranks do, in words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from rankandfile.model.causes import RECEIVES_FROM, SENDS_TO
from rankandfile.reason.words import ranks_words, upper, verb

from .places import Cohort
from .where_all_stand import WhereAllStand

#: More places than this are not listed.
MOST_PLACES = 6
#: So many that do the same, each with a rank of its own, are told of together.
_ROW = 3
_TRANSFER = re.compile(rf"(?P<verb>{RECEIVES_FROM}|{SENDS_TO}) (?P<peer>\d+),? (?P<rest>.+)")
#: How what one of them does goes on, and what several do.
_OF_SEVERAL = {
    "before it sends": "before they send",
    "before it receives": "before they receive",
}


def ranks_of(places: Iterable[Cohort]) -> tuple[int, ...]:
    """All ranks that stand in any of the places."""
    return tuple(sorted(rank for cohort in places for rank in cohort.ranks))


def place_words(cohort: Cohort) -> str:
    """`ranks 0-2 wait in all_reduce ← step, train.py:31`."""
    words = _phrase(cohort)
    how = verb(cohort.ranks, "is", "are")
    if words.startswith("in ") and cohort.stand.waits == "ranks":
        how = verb(cohort.ranks, "waits", "wait")
    elif words.startswith("in "):
        how = verb(cohort.ranks, "stands", "stand")
    return f"{ranks_words(cohort.ranks)} {how} {words}"


def _phrase(cohort: Cohort) -> str:
    words = cohort.stand.where
    return words if len(cohort.ranks) == 1 else words.replace(" its ", " their ")


def places_words(places: Iterable[Cohort]) -> str:
    """The same of several, the first few of them."""
    return "; ".join(place_words(cohort) for cohort in list(places)[:MOST_PLACES])


def doing_words(doing: dict[int, str]) -> str:
    """What each rank does, told once for those that do the same, each with a rank of its own or all with one."""
    alike: dict[str, list[int]] = {}
    for rank, words in doing.items():
        alike.setdefault(_with_anybody(words), []).append(rank)
    told: dict[str, list[int]] = {}
    for same, ranks in alike.items():
        for rank in ranks:
            told.setdefault(same if len(ranks) >= _ROW else doing[rank], []).append(rank)
    return upper("; ".join(f"{ranks_words(ranks)}: {_together(ranks, doing)}" for ranks in told.values()))


def _with_anybody(words: str) -> str:
    """The same for those that do the same with other ranks."""
    found = _TRANSFER.fullmatch(words)
    return f"{found['verb']} {found['rest']}" if found and found["rest"] in _OF_SEVERAL else words


def _together(ranks: Sequence[int], doing: dict[int, str]) -> str:
    """``send to ranks 2, 4 and 0 before they receive``: the other ranks in the order of these."""
    if len({doing[rank] for rank in ranks}) == 1:
        return doing[ranks[0]]
    found = [one for rank in ranks if (one := _TRANSFER.fullmatch(doing[rank]))]
    *most, last = [one["peer"] for one in found]
    verb_, _, how = found[0]["verb"].partition(" ")
    rest = _OF_SEVERAL[found[0]["rest"]]
    return f"{verb_.removesuffix('s')} {how}s {', '.join(most)} and {last} {rest}"


def waiting_words(of: WhereAllStand, ranks: Iterable[int], whom: str) -> str:
    """Where these ranks wait and, unless `whom` is empty, for whom."""
    those = set(ranks)
    places = [c for c in of.cohorts if set(c.ranks) <= those]
    words = "; ".join(
        f"{ranks_words(c.ranks)} {verb(c.ranks, 'waits', 'wait')} {f'{whom}, ' if whom else ''}{_phrase(c)}"
        for c in places[:MOST_PLACES]
    )
    return upper(words)
