"""A rank made a call on one group that its peers make, from the same place, on another."""

from __future__ import annotations

from msgspec.structs import replace

from rankandfile.model.causes import Cause
from rankandfile.model.column import Row
from rankandfile.model.diagnosis import Remedy
from rankandfile.model.sentence import told
from rankandfile.reason.finder import finder
from rankandfile.reason.toolbox import (
    DivergencePoint,
    Facts,
    WaitEnd,
    find_divergence,
    in_document,
    lookup,
    pending_row,
    pl,
    waiting_sentence,
    who_made_it,
)
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.words import ranks_words, upper, verb

CAUSE = Cause(
    word="group_mismatch",
    family="arguments",
    place=50,
    meaning="Ranks made a call on different groups.",
    help="The call pairs with nothing on the group where the others wait. Look at the `group=` argument, "
    "and at the order in which groups are made.",
    remedies=(
        Remedy(
            title="Hand over the group, and make each on every rank",
            text="Pass group=... at every call instead of falling back to the default one, and call "
            "new_group for all groups on all ranks, in one order; or by its members alone, with "
            "use_local_synchronization=True.",
        ),
    ),
    anti_advice=("Do not raise the timeout: the members wait in different groups for each other.",),
    did="made the call on another group",
    title="Ranks use different groups",
    page="""
## How it comes about

A group was made by its members only, or one rank passes another group:

```python
if rank in members:
    group = dist.new_group(members)  # every rank of the job must make this call
```

Groups are told apart by their members and not by their names: names are counters, and ranks that count differently
mean different groups by one name.

Ranks that count differently may as well wait for each other in the next `new_group`, where all of them stand in one
line: no record tells of that, but a group that only some have used.
""",
    scenario="group-metrics",
)


_BY_FAR = 3


@finder(precedence=20)
def on_another_group(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    p = find_divergence(facts, wait_end)
    if p is not None and not p.culprits:
        p = _of_two_sides(facts, p)
    if p is None:
        return None
    p = _made_elsewhere(facts, p) or p
    if p.came is None or p.came["site"] is None:
        return None
    elsewhere = _where_others_make_it(facts, p)
    if elsewhere is None:
        return None
    if _as_well_the_others(facts, p):
        return _either_group(facts, wait_end, p)
    where = f", {p.place}" if p.place else ""
    return Finding(
        cause=CAUSE.word,
        confidence="supported",
        sentence=told(
            f"{upper(ranks_words(p.culprits))} made the {lookup.call_words(facts, p.came)} on group "
            f"{lookup.group_words(facts, int(p.came['group']))}; other ranks make it from there on groups such as "
            f"{lookup.group_words(facts, elsewhere)}{where}.",
            waiting_sentence(facts, wait_end, p.culprits),
        ),
        culprits=p.culprits,
        doing=dict.fromkeys(p.culprits, "made the call on another group"),
        divergence=in_document.divergence(facts, p, "argument"),
        location=lookup.location_of(facts, p.came),
        evidence=in_document.evidence(facts, p),
        # The call itself is made by all, each on a group: nobody took a branch to it.
        instead_of="rank_conditional",
        contradicted_by="a branch on which the call belongs to that group",
    )


def _of_two_sides(facts: Facts, p: DivergencePoint) -> DivergencePoint | None:
    """Where nothing says which side diverged: the one whose call more ranks than these make on groups of another kind,
    and nobody else on one of this kind, though some of those have one."""
    if p.kind != "substituted" or p.came is None or p.expected is None:
        return None
    turned = replace(p, culprits=p.normal, normal=p.other, other=p.normal, came=p.expected, expected=p.came)
    sides = [(replace(p, culprits=p.other), p.came), (turned, p.expected)]
    found = [
        side
        for side, made in sides
        if made["site"] is not None
        and len(others := _used_by_others(facts, made, side.culprits)) > len(side.culprits)
        and others & _have_one_like_it(facts, made) - {*p.normal, *p.other}
    ]
    return found[0] if len(found) == 1 else None


def _have_one_like_it(facts: Facts, made: Row) -> set[int]:
    """Ranks that are in a group of the kind on which this call was made."""
    families, members = facts.programs.families, facts.membership.members
    here = families.get(int(made["group"]), int(made["group"]))
    return {rank for group, ranks in members.items() if families.get(group, group) == here for rank in ranks}


@finder(precedence=22)
def missed_on_another_group(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    """It asks for another size than its peers, and lacks in the call of that very size and line on another group."""
    p = find_divergence(facts, wait_end)
    if p is None or not p.culprits or p.kind != "argument" or p.came is None or p.came["stack"] is None:
        return None
    came, p = p.came, who_made_it(facts, p)
    for call in facts.waits.pending:
        row = pending_row(facts, call) if {*p.culprits} <= {*call.lacking} and call.group != p.group else None
        if row is not None and (row["stack"], row["terms"]) == (came["stack"], came["terms"]):
            break
    else:
        return None
    made, meant = (lookup.group_words(facts, group) for group in (p.group, call.group))
    size = lookup.size_words(facts, came)
    return Finding(
        cause=CAUSE.word,
        confidence="supported",
        sentence=told(
            f"{upper(ranks_words(p.culprits))} made the {lookup.call_words(facts, came)} with size {size} on group "
            f"{made}, where {ranks_words(p.normal)} {verb(p.normal, 'asks', 'ask')} for another; "
            f"{ranks_words(call.waiting)} {verb(call.waiting, 'waits', 'wait')} for "
            f"{verb(p.culprits, 'it', 'them')} in the call of that size on group {meant}.",
            waiting_sentence(facts, wait_end, p.culprits),
        ),
        culprits=p.culprits,
        doing=dict.fromkeys(p.culprits, "made the call on another group"),
        divergence=in_document.divergence(facts, p, "argument", detail=True),
        location=lookup.location_of(facts, came),
        evidence=(*in_document.evidence(facts, p), lookup.evidence_of(row)),
        instead_of="size_mismatch",
        contradicted_by="a branch on which the call belongs to that group",
    )


@finder(precedence=25)
def in_a_circle(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    """Of a circle of waits: one waits in a call on a group on which nobody else makes it, and is missing where another
    of the circle waits in the same line, on a group of both that is a part of it: no group is handed over, or a wider
    one. Of groups side by side, each rank may come to its own in another order."""
    if wait_end.kind != "cycle":
        return None
    members = facts.membership.members
    calls = [facts.waits.pending[index] for index in wait_end.pending]
    rows = {call: row for call in calls if (row := pending_row(facts, call)) is not None}
    for call, row in rows.items():
        if call.slot is None or row["site"] is None:
            continue
        same = [
            other
            for other, its in rows.items()
            if its["stack"] == row["stack"]
            and {*call.waiting} & {*other.lacking}
            and {*members[other.group]} < {*members[call.group]}
        ]
        elsewhere = _used_by_others(facts, row, call.waiting)
        if same and len(elsewhere) > len(call.waiting):
            return _of_circle(facts, wait_end, row, call.waiting, same[0].group)
    return None


def _used_by_others(facts: Facts, row: Row, odd: tuple[int, ...]) -> set[int]:
    """Ranks that make the call of this line on groups of another kind; nobody, if any makes it on one of this kind."""
    others = facts.call_table.calls.filter(
        (pl.col("stack") == row["stack"]) & pl.col("slot").is_not_null() & ~pl.col("rank").is_in(list(odd))
    )
    families = facts.programs.families
    here = families.get(int(row["group"]), int(row["group"]))
    used = {families.get(int(g), int(g)) for g in others["group"].unique()}
    return set() if here in used else set(others["rank"].unique().to_list())


def _of_circle(facts: Facts, wait_end: WaitEnd, row: Row, odd: tuple[int, ...], theirs: int) -> Finding:
    made, meant = lookup.group_words(facts, int(row["group"])), lookup.group_words(facts, theirs)
    return Finding(
        cause=CAUSE.word,
        confidence="supported",
        sentence=told(
            f"{upper(ranks_words(odd))} made the {lookup.call_words(facts, row)} on group {made}; other ranks make it "
            f"from there on groups such as {meant}, in which {ranks_words(odd)} {verb(odd, 'is', 'are')} waited for.",
            waiting_sentence(facts, wait_end, odd),
        ),
        culprits=odd,
        doing=dict.fromkeys(odd, "made the call on another group"),
        divergence=in_document.circle(facts, wait_end, odd),
        location=lookup.location_of(facts, row),
        evidence=(lookup.evidence_of(row),),
        instead_of="order_inversion",
        contradicted_by="a branch on which the call belongs to that group",
    )


def _as_well_the_others(facts: Facts, p: DivergencePoint) -> bool:
    """All members of the group on which it was made came there, and nobody made the call before: those who made it on
    the group of all may as well have fallen back to that. Not where those are many times as many: the few are odd."""
    assert p.came is not None
    if len(p.normal) >= _BY_FAR * len(p.culprits):
        return False
    group = int(p.came["group"])
    members, slot = facts.membership.members[group], p.came["slot"]
    if not set(members) <= set(p.culprits) or len(members) < len(p.culprits) or slot is None:
        return False
    if len(facts.membership.members[p.group]) < (facts.case.world_size or 0) or p.group == group:
        return False
    here = pl.col("stack") == p.came["stack"]
    made = facts.call_table.calls.filter(here).group_by("rank").len()["len"].max()
    return made == 1 and all(lookup.call_at(facts, r, group, slot) is not None for r in members)


def _either_group(facts: Facts, wait_end: WaitEnd, p: DivergencePoint) -> Finding:
    assert p.came is not None
    here, there = (lookup.group_words(facts, g) for g in (p.group, int(p.came["group"])))
    return Finding(
        cause=CAUSE.word,
        confidence="hypothesis",
        sentence=told(
            f"{upper(ranks_words(p.normal))} made the {lookup.call_words(facts, p.came)} on group {here}, and "
            f"{ranks_words(p.culprits)} on group {there}, to which all its members came. Which of the two was meant, "
            "the calls do not tell: a group that is not handed over is the default one.",
            waiting_sentence(facts, wait_end, p.normal),
        ),
        culprits=p.normal,
        doing=dict.fromkeys(p.normal, "made the call on the group of all"),
        divergence=in_document.divergence(facts, p, "argument"),
        location=lookup.location_of(facts, p.expected or p.came),
        evidence=in_document.evidence(facts, p),
        instead_of="skipped_collective",
        contradicted_by="the source of the argument",
    )


def _made_elsewhere(facts: Facts, p: DivergencePoint) -> DivergencePoint | None:
    """The call that the culprit left out on this group, if it made it on another one at that point."""
    if p.kind != "skipped" or p.expected is None or p.expected["site"] is None or p.slot is None:
        return None
    rank = p.culprits[0]
    before = lookup.call_at(facts, rank, p.group, p.slot - 1)
    calls = facts.call_table.calls.filter(
        (pl.col("rank") == rank) & (pl.col("stack") == p.expected["stack"]) & (pl.col("group") != p.group)
    )
    calls = calls.filter(pl.col("record") > (before["record"] if before else -1))
    return replace(p, came=calls.row(0, named=True)) if calls.height else None


def _where_others_make_it(facts: Facts, p: DivergencePoint) -> int | None:
    """The group on which most ranks make the call of this site: another one, and never this."""
    assert p.came is not None
    calls = facts.call_table.calls.filter(
        (pl.col("site") == p.came["site"])
        & (pl.col("stack") == p.came["stack"])
        & pl.col("slot").is_not_null()
    )
    families = facts.programs.families
    here = families.get(int(p.came["group"]))
    others = calls.filter(~pl.col("rank").is_in(list(p.culprits)))
    used = {families.get(int(g), int(g)) for g in others["group"].unique()}
    if not used or here in used:
        return None
    return int(others["group"][0])
