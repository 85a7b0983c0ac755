"""Where cohorts stand, whom they wait for and what ranks do, in words."""

from __future__ import annotations

from collections.abc import Iterable

from rankandfile.reason.words import ranks_words, upper, verb

from .places import Cohort
from .where_all_stand import WhereAllStand

#: More places than this are not listed.
MOST_PLACES = 6


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
    """What each rank does, told once for those that do the same."""
    alike: dict[str, list[int]] = {}
    for rank, words in doing.items():
        alike.setdefault(words, []).append(rank)
    return upper("; ".join(f"{ranks_words(ranks)}: {words}" for words, ranks in alike.items()))


def waiting_words(of: WhereAllStand, ranks: Iterable[int], whom: str) -> str:
    """Where these ranks wait and, unless `whom` is empty, for whom."""
    those = set(ranks)
    places = [c for c in of.cohorts if set(c.ranks) <= those]
    words = "; ".join(
        f"{ranks_words(c.ranks)} {verb(c.ranks, 'waits', 'wait')} {f'{whom}, ' if whom else ''}{_phrase(c)}"
        for c in places[:MOST_PLACES]
    )
    return upper(words)
