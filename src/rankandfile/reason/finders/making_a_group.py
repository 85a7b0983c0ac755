"""A rank without a single call, in a job whose other ranks use groups of which it may not know.

Making a group is no recorded call. Ranks that disagree on who makes which wait for each other there, unseen. So it
may be where somebody waits in a group of which nobody that is known is missing, or where those who wait have used a
group of their own before.
"""

from __future__ import annotations

from msgspec import Struct

from rankandfile.model.column import Row
from rankandfile.model.diagnosis import Missing
from rankandfile.model.heuristics import heuristic
from rankandfile.model.known.group_makers import MAKES_GROUPS
from rankandfile.model.sentence import told
from rankandfile.reason import lookup
from rankandfile.reason.divergence.in_groups import FEWEST_WITNESSES
from rankandfile.reason.document import cited, perhaps
from rankandfile.reason.facts import Facts
from rankandfile.reason.finder import finder
from rankandfile.reason.ranks.host import Stand
from rankandfile.reason.ranks.missing_dumps import absent_ranks
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import Pending, WaitEnd
from rankandfile.reason.waits.in_words import call_phrase, first_pending, pending_row, waiting_sentence
from rankandfile.reason.waits.patience import Patience, patience
from rankandfile.reason.words import ranks_words, upper, verb

_MOST_PLACES = 3


class _Doubt(Struct, frozen=True):
    """Why a rank without calls may be making a group: what the others did in one that it may not know."""

    words: str
    rows: tuple[Row | None, ...]
    """The calls that show it; the last one is the place to look at."""


def may_be_making_a_group(facts: Facts, wait_end: WaitEnd) -> bool:
    call = first_pending(facts, wait_end)
    return call is not None and _doubt(facts, wait_end, call) is not None


@heuristic("making a group", "a rank without a call may be where a group is made")
def _doubt(facts: Facts, wait_end: WaitEnd, call: Pending) -> _Doubt | None:
    if any(facts.call_table.of_rank(rank).height for rank in wait_end.ranks):
        return None
    if {*wait_end.ranks} & {*absent_ranks(facts)} or any(_in_a_call(facts, rank) for rank in wait_end.ranks):
        # That its calls are not here does not say that it made none; and who stands in a call makes no group.
        return None
    if incomplete := _incomplete(facts):
        other = incomplete[0]
        words = (
            f"{ranks_words(other.waiting)} {verb(other.waiting, 'waits', 'wait')} in the "
            f"{call_phrase(facts, other)}, which lacks nobody who ever used that group"
        )
        return _Doubt(words, (pending_row(facts, call), pending_row(facts, other)))
    for group in _of_others(facts, wait_end):
        users = tuple(facts.membership.members[group])
        words = (
            f"{ranks_words(users)} {verb(users, 'has', 'have')} used group {lookup.group_words(facts, group)}"
        )
        return _Doubt(words, (lookup.last_call(facts, users[0], group), pending_row(facts, call)))
    return None


def _in_a_call(facts: Facts, rank: int) -> bool:
    stand = facts.hosts.get(rank)
    return stand is not None and stand.activity in ("collective", "p2p", "backward")


def _of_others(facts: Facts, wait_end: WaitEnd) -> list[int]:
    """Groups whose members are not recorded, that some who wait for these ranks have used, and these have not."""
    waiting = {rank for i in wait_end.pending for rank in facts.waits.pending[i].waiting}
    members = {group: set(facts.membership.members[group]) for group in sorted(facts.membership.unsure)}
    return [group for group, ranks in members.items() if ranks & waiting and not ranks & set(wait_end.ranks)]


def _incomplete(facts: Facts) -> list[Pending]:
    """Calls in groups whose members are not recorded, that all known members have joined and that do not end."""
    unsure = facts.membership.unsure
    calls = [call for call in facts.waits.pending if call.group in unsure and call.slot is not None]
    return [call for call in calls if not (call.lacking or call.unknown or call.busy or call.behind)]


def makes_a_group(stand: Stand | None) -> bool:
    """Its stack stands where a group is made."""
    return stand is not None and stand.activity == "init" and MAKES_GROUPS.search(stand.op) is not None


@heuristic(
    "one against many groups",
    "who alone makes a group, or alone makes none, is the one that is wrong",
    otherwise=(),
)
def _one_against_many(facts: Facts, wait_end: WaitEnd, call: Pending) -> tuple[int, ...]:
    """The one rank that makes a group while all others wait for it; or that waits while all others make groups, or have
    made them and wait in the first call of one. Nobody where less is known, or the others are few."""
    makers = {rank for rank in call.lacking if makes_a_group(facts.hosts.get(rank))}
    in_theirs = {
        rank
        for other in facts.waits.pending
        if other.slot == 1 and not {*facts.membership.members[other.group]} & {*call.waiting}
        for rank in other.waiting
    }
    if {*call.waiting, *makers, *in_theirs} != {*facts.case.ranks_seen} or call.unknown or call.busy:
        return ()
    one, others = sorted((call.waiting, tuple(call.lacking)), key=len)
    return one if len(one) == 1 and len(others) >= FEWEST_WITNESSES and {*wait_end.ranks} <= makers else ()


def _where(facts: Facts, ranks: tuple[int, ...]) -> str:
    """`in new_group, pairs.py:18`; of several places each with its ranks, as far as they are few."""
    places: dict[str, list[int]] = {}
    for rank in ranks:
        places.setdefault(facts.hosts[rank].words, []).append(rank)
    if len(places) == 1:
        return next(iter(places))
    return "; ".join(f"{ranks_words(there)} {words}" for words, there in list(places.items())[:_MOST_PLACES])


def _alone_in_it(facts: Facts, wait_end: WaitEnd, call: Pending) -> Finding:
    """Making a group takes every rank of the job: some are at it, and others wait in a call for those."""
    row = pending_row(facts, call)
    stand = facts.hosts[wait_end.ranks[0]]
    wrong = _one_against_many(facts, wait_end, call)
    if not wrong:
        whose = "Which of them is right, this does not say."
    elif wrong == call.waiting:
        whose = f"{upper(ranks_words(wrong))} alone is not at it."
    else:
        whose = f"{upper(ranks_words(wrong))} alone makes one."
    return Finding(
        cause="group_mismatch",
        confidence="supported",
        culprits=wrong,
        doing=dict.fromkeys(
            wrong, "waits in another call" if wrong == call.waiting else "makes a group alone"
        ),
        sentence=told(
            f"{upper(ranks_words(wait_end.ranks))} {verb(wait_end.ranks, 'makes', 'make')} a group "
            f"({_where(facts, wait_end.ranks)}), which takes every rank of the job.",
            waiting_sentence(facts, wait_end, wait_end.ranks),
            f"They disagree on which groups there are, or make them in another order. {whose}",
        ),
        location=stand.location,
        evidence=(*cited(row), *(i for rank in wait_end.ranks[:4] for i in facts.hosts[rank].evidence)),
        contradicted_by="a stack of the waiting ranks in new_group",
        alternatives=(
            perhaps(
                "init_stuck",
                f"{upper(ranks_words(wait_end.ranks))} may only be late in setting up.",
                wait_end.ranks,
                decided_by="stacks that are taken once more",
            ),
            perhaps(
                "early_exit",
                f"{upper(ranks_words(wait_end.ranks))} may have left a loop sooner that the others are still in.",
                wait_end.ranks,
                decided_by="the source around the two places",
            ),
        ),
    )


@finder(precedence=250)
def making_a_group(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    if wait_end.kind != "absent":
        return None
    call = first_pending(facts, wait_end)
    if call is None or patience(facts, call) is Patience.NOT_YET:
        return None
    if all(makes_a_group(facts.hosts.get(rank)) for rank in wait_end.ranks):
        return _alone_in_it(facts, wait_end, call)
    doubt = _doubt(facts, wait_end, call)
    if doubt is None:
        return None
    rows = [row for row in doubt.rows if row]
    those = ranks_words(wait_end.ranks)
    return Finding(
        cause="undetermined",
        confidence="hypothesis",
        sentence=(
            f"{upper(those)} {verb(wait_end.ranks, 'has', 'have')} made no call at all, and {doubt.words}. Making a "
            "group "
            f"is not recorded: {those} may still be in `new_group`, if the ranks disagree on which groups there are."
        ),
        location=lookup.location_of(facts, rows[-1]) if rows else None,
        evidence=cited(*rows),
        contradicted_by="a stack that is not in new_group",
        alternatives=tuple(
            perhaps(cause, words, ranks, decided_by="the stacks, and the lines that make the groups")
            for cause, words, ranks in (
                ("group_mismatch", "Not every rank makes every group, in the same order.", ()),
                ("host_blocked", f"{upper(those)} may be stuck before the first call.", wait_end.ranks),
            )
        ),
        missing=(Missing(what=f"the stacks of {those}", how="py-spy dump --pid PID while it hangs"),),
    )
