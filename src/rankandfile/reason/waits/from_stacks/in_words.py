"""Where cohorts stand, whom they wait for and what ranks do, in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct

from rankandfile.model.causes import RECEIVES_FROM, SENDS_TO
from rankandfile.reason.words import ranks_words, upper, verb

from .places import Cohort
from .where_all_stand import WhereAllStand

#: More places than this are not listed.
MOST_PLACES = 6
#: So many that do the same, each with a rank of its own, are told of together.
_ROW = 3


class Transfer(Struct, frozen=True):
    """A message that a rank waits to send or to get, before it does the other of the two."""

    sends: bool
    peer: int

    @property
    def words(self) -> str:
        """`receives from rank 2 before it sends`."""
        return f"{SENDS_TO if self.sends else RECEIVES_FROM} {self.peer} before it {self.then}s"

    @property
    def then(self) -> str:
        return "receive" if self.sends else "send"


Doing: TypeAlias = "str | Transfer"


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


def in_words(doing: Doing) -> str:
    """What one rank does."""
    return doing if isinstance(doing, str) else doing.words


def doing_words(doing: Mapping[int, Doing]) -> str:
    """What each rank does, told once for those that do the same, each with a rank of its own or all with one."""
    alike: dict[str | bool, list[int]] = {}
    for rank, what in doing.items():
        # With whomever: a transfer is like any other in its direction.
        alike.setdefault(what if isinstance(what, str) else what.sends, []).append(rank)
    told: dict[Doing | bool, list[int]] = {}
    for same, ranks in alike.items():
        for rank in ranks:
            told.setdefault(same if len(ranks) >= _ROW else doing[rank], []).append(rank)
    return upper("; ".join(f"{ranks_words(ranks)}: {_together(ranks, doing)}" for ranks in told.values()))


def _together(ranks: Sequence[int], doing: Mapping[int, Doing]) -> str:
    """``send to ranks 2, 4 and 0 before they receive``: the other ranks in the order of these."""
    if len({doing[rank] for rank in ranks}) == 1:
        return in_words(doing[ranks[0]])
    transfers = [one for rank in ranks if isinstance(one := doing[rank], Transfer)]
    *most, last = [str(one.peer) for one in transfers]
    how = "send to" if transfers[0].sends else "receive from"
    return f"{how} ranks {', '.join(most)} and {last} before they {transfers[0].then}"


def waiting_words(of: WhereAllStand, ranks: Iterable[int], whom: str) -> str:
    """Where these ranks wait and, unless `whom` is empty, for whom."""
    those = set(ranks)
    places = [c for c in of.cohorts if set(c.ranks) <= those]
    words = "; ".join(
        f"{ranks_words(c.ranks)} {verb(c.ranks, 'waits', 'wait')} {f'{whom}, ' if whom else ''}{_phrase(c)}"
        for c in places[:MOST_PLACES]
    )
    return upper(words)
