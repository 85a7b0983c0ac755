"""Order across groups: which of two collectives comes first in the program, as the ranks that issued both show.

Groups of one family run the same program, so "slot 50 of my tensor-parallel group" is one place in the program,
whichever group it is.

In: the table of calls and the family of each group. Out, for two collectives: how many ranks issued the first one
first, and how many the second. Ranks 0-5 issued slot 50 of their tensor-parallel groups and then slot 12 of their
data-parallel ones, ranks 6 and 7 the other way round: `votes` are (6, 2), and 6 and 7 are out of order.
"""

from __future__ import annotations

from functools import cached_property

import polars as pl
from msgspec import Struct

from .call_table import CallTable


class PlaceInOrder(Struct, frozen=True):
    """A collective, by group and slot."""

    group: int
    slot: int


class Order(Struct, frozen=True, dict=True):
    call_table: CallTable
    families: dict[int, int]

    @cached_property
    def _groups_of(self) -> dict[int, list[int]]:
        out: dict[int, list[int]] = {}
        for group, family in self.families.items():
            out.setdefault(family, []).append(group)
        return out

    def issued(self, place: PlaceInOrder) -> dict[int, int]:
        """Rank -> record, for every rank of the family that issued its call of this slot."""
        if place not in self._issued:
            self._issued[place] = self._find(place)
        return self._issued[place]

    @cached_property
    def _issued(self) -> dict[PlaceInOrder, dict[int, int]]:
        return {}

    def _find(self, place: PlaceInOrder) -> dict[int, int]:
        groups = self._groups_of.get(self.families.get(place.group, place.group), [place.group])
        rows = self.call_table.calls.filter(pl.col("group").is_in(groups) & (pl.col("slot") == place.slot))
        return dict(rows.select("rank", "record").iter_rows())

    def votes(self, first: PlaceInOrder, second: PlaceInOrder, without: frozenset[int]) -> tuple[int, int]:
        """How many ranks issued `first` before `second`, and how many the other way round.

        A rank that issued only one of them came to that one first, if its ring still has its first call: what the
        ring lost may have been the other one.
        """
        one, two = self.issued(first), self.issued(second)
        before = after = 0
        for rank in (one.keys() | two.keys()) - without:
            if rank in one and rank in two:
                before += one[rank] < two[rank]
                after += one[rank] > two[rank]
            elif not self._lost_calls(rank, second if rank in one else first):
                before += rank in one
                after += rank in two
        return before, after

    def _lost_calls(self, rank: int, place: PlaceInOrder) -> bool:
        """Whether the rank may have issued its call of this slot and its ring has lost it since."""
        calls = self.call_table.of_rank(rank)
        if not calls.height or calls["record"][0] == 0:
            return False
        family = self._groups_of.get(self.families.get(place.group, place.group), [place.group])
        slots = calls.filter(pl.col("group").is_in(family))["slot"].drop_nulls()
        return not slots.len() or int(slots[0]) > place.slot
