"""The first call of groups that some ranks of the job have never called: each lacks one of those, who are past it.

Who belongs to a group is not recorded where its call is the first: of whom left it out, nothing shows that it is a
member. Where each of the calls, from one line, lacks one, and as many ranks are left that are in none of the groups and
wait in a transfer past the call, these are they: the stage of each pipeline that had nothing to sum up.
"""

from __future__ import annotations

from rankandfile.model.heuristics import heuristic
from rankandfile.model.sentence import told
from rankandfile.reason import lookup
from rankandfile.reason.claims.in_words import waiting
from rankandfile.reason.document import cited, not_come, perhaps
from rankandfile.reason.facts import Facts
from rankandfile.reason.finder import finder
from rankandfile.reason.finders.missing_member import is_a_row, lacking, of_one_kind
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import Pending, WaitEnd
from rankandfile.reason.waits.in_words import in_calls
from rankandfile.reason.waits.past_the_call import past_the_call
from rankandfile.reason.waits.seen_elsewhere import seen_beside
from rankandfile.reason.words import ranks_words, upper, verb


@finder(precedence=214)
@heuristic(
    "first call left out",
    "a first call lacks the rank that is in no such group and waits in a transfer past it",
)
def first_call_left_out(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    calls, call = lacking(facts, wait_end)
    if (
        call is None
        or any((one.slot or 0) > 1 for one in calls)
        or (len(calls) > 1 and not of_one_kind(facts, calls))
    ):
        return None
    here = {rank for one in calls for rank in one.waiting}
    left = sorted({*facts.case.ranks_seen} - here)
    if len(left) != len(calls) or 2 * len(left) > len(here | seen_beside(facts, here)):
        return None
    past = past_the_call(facts, left, call)
    if past is None:
        return None
    those = ranks_words(left)
    where = "; ".join(dict.fromkeys(facts.hosts[rank].phrase for rank in left))
    each = "each of these calls lacks one of them" if len(left) > 1 else "that call lacks it"
    return Finding(
        cause="skipped_collective",
        confidence="supported",
        sentence=told(
            *(waiting(in_calls(facts, one)) for one in calls[:4]),
            "All members that are recorded have joined, and it does not end.",
            f"{upper(those)} made no call there, and {verb(left, 'is', 'are')} past it, {where}: {each}.",
        ),
        culprits=tuple(left),
        doing={rank: f"{facts.hosts[rank].phrase}, past that call" for rank in left},
        victims=tuple(sorted(here)),
        divergence=not_come(facts, call, past.due, _of_it(call, left), call.waiting),
        location=lookup.location_of(facts, past.due),
        evidence=(
            *cited(past.due, past.last),
            *(i for rank in left[:4] for i in facts.hosts[rank].evidence[:1]),
        ),
        contradicted_by=f"the members of the group, without {those}",
        alternatives=(
            perhaps(
                "network_stalled",
                "All members may have joined, and the network does not carry it.",
                decided_by="who belongs to the group: the source",
            ),
        ),
    )


def _of_it(call: Pending, left: list[int]) -> tuple[int, ...]:
    """Which of them this call lacks: the one that makes its ranks a row of equal steps, as a mesh lays them out."""
    rows = [rank for rank in left if is_a_row((*call.waiting, rank)) and len(call.waiting) > 1]
    return tuple(left if len(left) == 1 else rows if len(rows) == 1 else ())
