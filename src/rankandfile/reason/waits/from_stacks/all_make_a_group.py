"""All stand where a group is made, and none gets on: they counted other groups before, and meet under other names.

Making a group takes every rank of the job, in one order: the number of a group is how many each rank has made before.
Which group some did not make, no call records; but a group that some have used and others not is the one to look at.
"""

from __future__ import annotations

from msgspec import Struct

from rankandfile.model.heuristics import heuristic
from rankandfile.reason import lookup
from rankandfile.reason.document import cited, perhaps
from rankandfile.reason.facts import Facts
from rankandfile.reason.finders.making_a_group import makes_a_group
from rankandfile.reason.ranks.did_instead import world_of
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.words import ranks_words, upper, verb

from .in_words import place_words
from .make_finding import make_finding
from .where_all_stand import WhereAllStand


class _Uneven(Struct, frozen=True):
    """A group that some ranks have used, and others not."""

    group: int
    users: tuple[int, ...]
    others: tuple[int, ...]

    @property
    def fewer(self) -> tuple[int, ...]:
        """Those of the smaller side; none, where the two are equal."""
        few, many = sorted((self.users, self.others), key=len)
        return few if len(few) < len(many) else ()


def all_make_a_group(of: WhereAllStand) -> Finding | None:
    stands = of.stands
    if of.unseen or of.gone or of.moving or len(stands) < 2:
        return None
    if len(of.cohorts) != 1 or not all(makes_a_group(stand) for stand in stands.values()):
        return None
    uneven = _uneven(of.facts)
    few = uneven.fewer if uneven is not None and (of.stays or of.alike) else ()
    # To share a group with nobody says that it was made for itself alone; to be the one that is in none, that is
    # usual of some ranks.
    sure = uneven is not None and len(uneven.users) == 1 and bool(few)
    rows = [lookup.last_call(of.facts, uneven.users[0], uneven.group)] if uneven is not None else []
    return make_finding(
        of,
        cause="group_mismatch",
        confidence="supported" if sure else "hypothesis",
        what=(
            f"{upper(place_words(of.cohorts[0]))}. Making a group takes every rank of the job, in one order, and all "
            "are here: if it does not end, not all of them made the same groups before, and this one has other numbers "
            f"on some than on others{_words(of.facts, uneven)}"
        ),
        culprits=few,
        doing=dict.fromkeys(few, _did(of.facts, uneven)),
        evidence=[*cited(*rows), *(i for stand in stands.values() for i in stand.evidence[:1])],
        place=of.cohorts[0].stand.location,
        alternatives=(
            perhaps(
                "init_stuck",
                "They may have made the same groups, and the store through which they meet, or the network, "
                "does not answer.",
                decided_by="the lines that make groups: whether each rank comes to all of them, in one order",
            ),
        ),
    )


def _words(facts: Facts, uneven: _Uneven | None) -> str:
    if uneven is None:
        return ""
    one, other = uneven.users, uneven.others
    return (
        f". {upper(ranks_words(one))} {verb(one, 'has', 'have')} used group "
        f"{lookup.group_words(facts, uneven.group)} before, and {ranks_words(other)} {verb(other, 'has', 'have')} not: "
        f"that may be the one that {ranks_words(other)} did not make"
    )


def _did(facts: Facts, uneven: _Uneven | None) -> str:
    if uneven is None:
        return ""
    group = lookup.group_words(facts, uneven.group)
    return f"made group {group} alone" if uneven.fewer == uneven.users else f"did not make group {group}"


@heuristic(
    "uneven group", "a group that only some have used is one that only some have made, if none gets on"
)
def _uneven(facts: Facts) -> _Uneven | None:
    """The only group of which nothing shows that all have made it; None where there are several, or records are lost.

    A rank that uses a group of a later number by the same name as the others has counted all before as they did. Names
    that are no numbers are of groups that only members make.
    """
    dumps = facts.case.dumps_used
    world = range(world_of(facts))
    if {*facts.case.ranks_seen} != {*world} or bool(dumps["wrapped"].fill_null(True).any()):
        return None
    made = facts.call_table.calls.select("group", "rank").unique()
    users = {
        group: tuple(sorted(made.filter(group=group)["rank"].to_list())) for group in made["group"].unique()
    }
    names = {row["group"]: row["name"] or "" for row in facts.case.groups.iter_rows(named=True)}
    numbers = {group: int(names[group]) for group in users if names.get(group, "").isdecimal()}
    shared = [n for group, n in numbers.items() if len(users[group]) == len(world)]
    found = [g for g, n in numbers.items() if len(users[g]) < len(world) and n > max(shared, default=-1)]
    if len(found) != 1:
        return None
    return _Uneven(found[0], users[found[0]], tuple(rank for rank in world if rank not in users[found[0]]))
