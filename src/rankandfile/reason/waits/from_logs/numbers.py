"""Who is out of line by the numbers of the calls that all members of one group wait in.

Nobody gets past a call that takes every member before all of them have come. So where all but one wait in call 25 and
that one in 26, it got past a call that the others made together: what it made there was another one, or of another
size. Where one waits in 25 and all others in 26, at the same line, it has made one call fewer to get there. And where
call 25 is a broadcast to one and an all_reduce to another, those that are past it made the broadcast. And one that is
alone at another line than three or more others has gone another way, whoever of them got past one call or the next.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from rankandfile.model.diagnosis import Cohort, Divergence
from rankandfile.model.heuristics import heuristic
from rankandfile.model.ranks import format_ranks
from rankandfile.model.sentence import told
from rankandfile.reason.calls.contracts import contract_of
from rankandfile.reason.calls.requests import Request, as_call, asked, by_site, majority, of_report, sides
from rankandfile.reason.claims.in_words import waiting
from rankandfile.reason.document import perhaps
from rankandfile.reason.facts import Facts
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.from_stacks.where_all_stand import WhereAllStand
from rankandfile.reason.words import ranks_words, upper

from .disagreement import disagreement
from .in_words import in_calls, wait_list
from .settings import SETTINGS
from .waits import LoggedGroup, LoggedWaits

#: So many must be past a call, at one line, for the one that is still in it to be out of line.
_PAST = 3
#: Of two ranks neither is the odd one.
_FEWEST = 3
_TWO = 2

_Turns: TypeAlias = "dict[int, tuple[int, Request]]"
"""The number of the call that each rank is in, and what it asked for."""


class _Odd(Struct, frozen=True, kw_only=True):
    rank: int
    cause: str
    doing: str
    why: str


@heuristic(
    "numbers of calls",
    "whom the numbers of the calls that its group gave up on set apart is out of line",
    otherwise=[],
)
def out_of_numbers(facts: Facts, logged: LoggedWaits) -> list[Finding]:
    """The one rank that the numbers single out, in the first group that has one, and in groups beside it: of those that
    share a member with it, one tells what the other does."""
    found: list[Finding] = []
    told_of: set[int] = set()
    for number, group in enumerate(logged.groups):
        if told_of.isdisjoint(group.members) and (one := _in_group(facts, logged, number)) is not None:
            if one.confidence == "hypothesis":
                break
            found.append(one)
            told_of |= set(group.members)
    return found


def _in_group(facts: Facts, logged: LoggedWaits, number: int) -> Finding | None:
    group = logged.groups[number]
    calls = [c for c in logged.waits.pending if c.group == number and c.slot is not None]
    heard = {
        claim.rank: (call.slot or 0, claim)
        for call in calls
        for report in logged.of_call(call)
        if (claim := of_report(report)) is not None
    }
    there = heard | _by_stacks(facts, group, heard)
    members = set(group.members)
    if not (group.whole or group.told) or there.keys() != members or len(members) < _FEWEST:
        return None
    turns = sorted({slot for slot, _ in there.values()})
    sides_of = [[claim for slot, claim in there.values() if slot == turn] for turn in turns]
    if len(turns) == 1 and len(calls) == 1 and len(parts := sides(sides_of[0])) > 1:
        ends = [end for end in logged.waits.wait_ends if logged.waits.pending.index(calls[0]) in end.pending]
        whole = replace(calls[0], waiting=tuple(sorted(members)), lacking=(), unknown=(), busy=())
        return disagreement(logged, replace(ends[0], ranks=()), whole, parts) if ends else None
    if len(turns) == 1 or (len(turns) == _TWO and turns[1] == turns[0] + 1):
        odd = (_odd(turns[0], *sides_of) if len(turns) == _TWO else None) or _odd_by_turns(turns, sides_of)
        if odd is not None:
            return _finding(logged, number, list(zip(turns, sides_of, strict=True)), odd)
    return None


def _by_stacks(facts: Facts, group: LoggedGroup, heard: Mapping[int, tuple[int, Request]]) -> _Turns:
    """Members without a word of their watchdogs, whose stacks are those of others that are in one call."""
    found: _Turns = {}
    for cohort in WhereAllStand(facts).cohorts if group.whole else ():
        known = [heard[rank] for rank in cohort.ranks if rank in heard]
        if known and len({(slot, claim.asked, claim.site) for slot, claim in known}) == 1:
            slot, claim = known[0]
            for rank in set(cohort.ranks) - heard.keys():
                found[rank] = slot, claim._replace(rank=rank, evidence=facts.hosts[rank].evidence[0])
    return found


def _odd(at: int, here: list[Request], past: list[Request]) -> _Odd | None:
    """`here`: those in the call `at`; `past`: those that are past it, in the next."""
    takes_all = [claim for claim in here if _takes_all(claim)]
    if len(takes_all) == len(here):
        # An exchange between pairs ends where two of them agree, whoever of the others does not.
        pairs = here[0].asked[0].startswith("all_to_all")
        if len(past) == 1 and len(here) > 1 and not pairs and _alike(here):
            return _ahead(at, here[0], past[0])
        if len(here) == 1 and len(past) >= _PAST and _alike([*here, *past]):
            return _behind(at, here[0])
        return None
    if len(takes_all) == 1 and len(here) > 1:
        rooted = next(claim for claim in here if claim is not takes_all[0])
        if _alike([*takes_all, *past]):
            return _left_out(at, takes_all[0], rooted)
        return _in_its_place(at, takes_all[0], rooted) if len(past) >= _PAST and _alike(past) else None
    return None


def _odd_by_turns(turns: list[int], sides_of: list[list[Request]]) -> _Odd | None:
    """Three or more are at one line, in calls of one size, and one alone is at another line: whatever it has made in
    place of theirs, or how many, may have let some of them pass."""
    claims = [claim for side in sides_of for claim in side]
    parts: dict[object, list[Request]] = {}
    for claim in claims:
        parts.setdefault((claim.asked, claim.site), []).append(claim)
    most, *rest = sorted(parts.values(), key=lambda part: -len(part))
    pairs = any(claim.asked[0].startswith("all_to_all") for claim in claims)
    if pairs or not all(_takes_all(claim) and claim.site for claim in claims) or not majority([most, *rest]):
        return None
    odd = rest[0][0]
    if sum(len(part) for part in rest) > 1 or odd.site == most[0].site:
        return None
    at = next(turn for turn, side in zip(turns, sides_of, strict=True) if odd in side)
    return _Odd(
        rank=odd.rank,
        cause="different_collective",
        doing=f"is in {asked(odd)} with number {at}, where all others are in {asked(most[0])}",
        why=f"All others are in one call, at one line, and {ranks_words([odd.rank])} alone is in {asked(odd)}: most "
        "likely it went another way, or made a call more or less before.",
    )


def _takes_all(claim: Request) -> bool:
    return contract_of(claim.asked[0]).early == "nobody"


def _alike(claims: list[Request]) -> bool:
    """They asked for one thing, at one line."""
    return len({(claim.asked, claim.site) for claim in claims}) == 1 and claims[0].site is not None


def _ahead(at: int, usual: Request, odd: Request) -> _Odd:
    return _Odd(
        rank=odd.rank,
        cause="different_collective",
        doing=f"got past number {at}, which all others wait in, and is one call ahead of them",
        why=f"Nobody gets past {'an' if usual.asked[0][0] in 'aeiou' else 'a'} {usual.asked[0]} before all have come, "
        f"and those that have come do not get out of it: most likely {ranks_words([odd.rank])} made another call as "
        f"number {at}, or one of another size.",
    )


def _behind(at: int, odd: Request) -> _Odd:
    return _Odd(
        rank=odd.rank,
        cause="skipped_collective",
        doing=f"is at the line of all others with number {at}, one call fewer than they",
        why=f"All others are past number {at}, and at that line with the next: most likely {ranks_words([odd.rank])} "
        "has made one call fewer to get there, or made another one in its place.",
    )


def _left_out(at: int, odd: Request, rooted: Request) -> _Odd:
    first = rooted.asked[0]
    return _Odd(
        rank=odd.rank,
        cause="skipped_collective",
        doing=f"makes as number {at} what others make as the next: it left out the {first}",
        why=f"Those that are past number {at} made the {first} there, as nobody gets past "
        f"{'an' if odd.asked[0][0] in 'aeiou' else 'a'} {odd.asked[0]} alone: {ranks_words([odd.rank])} left it out.",
    )


def _in_its_place(at: int, odd: Request, rooted: Request) -> _Odd:
    first = rooted.asked[0]
    return _Odd(
        rank=odd.rank,
        cause="different_collective",
        doing=f"is in {asked(odd)} with number {at}, which is the {first} to all others",
        why=f"Those that are past number {at} made the {first} there, as nobody gets past "
        f"{'an' if odd.asked[0][0] in 'aeiou' else 'a'} {odd.asked[0]} alone: {ranks_words([odd.rank])} made another "
        "call in its place.",
    )


def _there(slot: int, claims: list[Request]) -> list[Cohort]:
    """What was made as that number; of who is past it nothing tells."""
    parts = by_site(claims) if len(sides(claims)) == 1 else sides(claims)
    return [
        Cohort(ranks=format_ranks(claim.rank for claim in side), call=as_call(side[0], slot))
        for side in parts
    ]


def _finding(logged: LoggedWaits, number: int, turns: list[tuple[int, list[Request]]], odd: _Odd) -> Finding:
    calls = [call for call in logged.waits.pending if call.group == number]
    ends = [
        end for end in logged.waits.wait_ends if any(logged.waits.pending[i] in calls for i in end.pending)
    ]
    group, claims = logged.groups[number], [claim for _, of in turns for claim in of]
    others = tuple(claim.rank for claim in claims if claim.rank != odd.rank)
    ones = (odd.rank,)
    return Finding(
        cause=odd.cause,
        confidence="supported",
        sentence=told(
            *(waiting(in_calls(logged, call)) for call in calls),
            odd.why,
        ),
        culprits=ones,
        doing={odd.rank: odd.doing},
        victims=others,
        divergence=None
        if odd.cause == "different_collective" and [c.rank for c in turns[0][1]] == [odd.rank]
        # What the others made as that number, none of the lines tells.
        else Divergence(
            group=group.words,
            members=group.listed,
            seq=turns[0][0],
            kind="skipped" if odd.cause == "skipped_collective" else "substituted",
            cohorts=[
                *_there(*turns[0]),
                *(Cohort(ranks=format_ranks(c.rank for c in past), unknown=True) for _, past in turns[1:]),
            ],
            exact=False,
        ),
        waits=tuple(row for end in ends[:1] for row in wait_list(logged, end)),
        evidence=tuple(claim.evidence for claim in claims[:4]),
        missing=SETTINGS,
        alternatives=(
            perhaps(
                "size_mismatch",
                f"{upper(ranks_words(ones))} may have given another size in number {turns[0][0]}.",
                ones,
                decided_by="dumps of all ranks",
            ),
            perhaps(
                "network_stalled",
                f"All may have made the same calls, and the network has carried number {turns[0][0]} to some of them.",
                decided_by="dumps of all ranks, NCCL_DEBUG=INFO",
            ),
        ),
        unadvised=("probes",),
    )
