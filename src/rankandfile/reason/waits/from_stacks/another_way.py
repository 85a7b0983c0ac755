"""The few ranks that left the way of the others, where all wait for each other."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection

from rankandfile.model.heuristics import heuristic
from rankandfile.reason.document import perhaps
from rankandfile.reason.ranks.activity import CodePlace, at
from rankandfile.reason.ranks.from_logs.watchdog_reports import DEFAULT
from rankandfile.reason.ranks.host import Stand
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.words import ranks_words, upper, verb

from .by_dumps import lacks_only
from .called import divergence_of
from .few_and_most import most_are_in_one_call
from .in_words import places_words, ranks_of
from .kinds import kind_of, known, rooted
from .make_finding import make_finding
from .one_root import are_past_it, is_its_root, lacks_all, may_be_past, owes_all
from .places import Cohort, StackDivergence, left_at, stack_divergence
from .where_all_stand import WhereAllStand

_RANKS = "they wait for each other"
_DEVICES = "a device that does not end its work, or waits in a call that the others' devices are not in, holds them all"
_NOT_ARRIVED = perhaps(
    "network_stalled",
    "What one gives to all may have left it, and not arrived.",
    decided_by="the links between their hosts",
)
_LEFT_OUT = "left out the call that the others wait in, or one before it"
_KEEPS_IN_STEP = re.compile(r"_object(?:_list|s)?$")


@heuristic(
    "off the way of most",
    "of ranks that wait for each other, the few off the way of the others are out of line",
)
def went_another_way(of: WhereAllStand) -> Finding | None:
    """All wait for each other, and not in the same place: the few that left the way of the others are out of line."""
    spinning = of.perhaps_spinning
    if of.elsewhere.keys() - spinning or len(of.stands) < 2:
        return None
    divergence = stack_divergence(of.cohorts)
    if divergence is None or not divergence.usual or _in_a_smaller_group(of, divergence):
        return None
    owes = owes_all(of, divergence)
    # Who owes all others what they wait for may have gone on from there: their calls are not of one number.
    gone_on = owes and of.at_several_numbers
    if are_past_it(of, divergence) and not owes:
        return None
    odd = ranks_of(divergence.odd)
    if spinning and (spinning & set(odd) or not _unlike(divergence)):
        return None
    # To make a group takes every rank of the job, whatever groups there are.
    makes_group = _cause(divergence) == "group_mismatch" and len(divergence.usual) == 1
    # So do the calls by which a whole job keeps in step: no model is cut along them.
    keeps_in_step = (
        all(_KEEPS_IN_STEP.search(c.stand.op) for c in divergence.odd) and len(divergence.usual) == 1
    )
    alike = of.one_group or (
        (makes_group or keeps_in_step or _takes_everyone(of, divergence)) and not of.transfers
    )
    # Whom all others lack is out of line in whatever kind of call it stands.
    lasts = lacks_only(of.facts, odd, ranks_of(divergence.usual))
    clear = (_unlike(divergence) and not may_be_past(of, divergence)) or owes or bool(lasts)
    # Most may make a group too many, or one that some of them count as another: they wait among themselves.
    make_one = any(c.stand.activity == "init" and "group" in c.stand.op for c in divergence.usual)
    most = most_are_in_one_call(of, divergence) or (of.no_smaller_group_told and owes)
    proved = (alike and clear and not make_one) or _are_left_over(of, divergence) or most
    sure = bool(lasts or of.stays) and not of.unseen and proved
    receives = any(
        rooted(c.stand) and not (is_its_root(of, c) or lacks_all(of, c, divergence)) for c in divergence.odd
    )
    if (_by_role(of, divergence) or receives) and not sure:
        # By its role a rank stands elsewhere, or it waits for one that went on with the others.
        return None
    devices = all(cohort.stand.activity == "cuda_sync" for cohort in (*divergence.usual, *divergence.odd))
    left = left_at(divergence)
    doing = {r: _elsewhere(cohort.stand.phrase, left) for cohort in divergence.odd for r in cohort.ranks}
    # Who waits for a message of the next round has been past the call of this one.
    left_out = sure and _further_on(divergence.usual[0], divergence.odd)
    at_a_line = divergence.usual[0] if left_out else divergence.odd[0]
    return make_finding(
        of,
        cause="gpu_stuck" if devices else "skipped_collective" if left_out else _cause(divergence),
        confidence="supported" if sure else "hypothesis",
        what=(
            f"{upper(places_words(divergence.odd))}, while {places_words(divergence.usual)}: "
            f"{_DEVICES if devices else _RANKS}, and {ranks_words(odd)} {verb(odd, 'is', 'are')} the odd "
            f"{verb(odd, 'one', 'ones')} out"
        ),
        hang=None if spinning else True,
        lasts=lasts,
        also=_perhaps_at_work(sorted(spinning)),
        culprits=odd,
        doing=doing,
        evidence=[i for cohort in (*divergence.odd, *divergence.usual) for i in cohort.stand.evidence[:1]],
        place=at_a_line.stand.location if len(divergence.odd) == 1 else None,
        divergence=None if gone_on else divergence_of(of, (*divergence.usual, *divergence.odd)),
        alternatives=(
            perhaps(
                "different_collective" if left_out else "skipped_collective",
                f"{upper(ranks_words(odd))} may have "
                f"{'gone another way before it' if left_out else _LEFT_OUT}.",
                odd,
                decided_by="flight-recorder dumps of all ranks, or the source (--src)",
            ),
            *((_NOT_ARRIVED,) if gone_on else ()),
        ),
    )


def _elsewhere(phrase: str, left: CodePlace | None) -> str:
    """With the line from which on it went there, where it is not the one at which it stands."""
    since = "" if left is None or phrase.endswith(at(left)) else f" from {at(left)} on"
    return f"{phrase}, on another path than the others{since}"


def _takes_everyone(of: WhereAllStand, divergence: StackDivergence) -> bool:
    """The odd ones wait in a call of all ranks, of which the others that stand together are in none.

    By their watchdogs; a barrier that no watchdog speaks of, where all that do speak of the group of all ranks.
    """
    if len(divergence.usual) != 1 or not known(divergence.usual[0].stand):
        return False
    reports = of.facts.accounts.of_rank
    waits = {r: [one for one in reports.get(r, ()) if one.seq is not None] for r in of.stands}
    default = {
        r for r, those in waits.items() if those and all(DEFAULT in (one.group, one.desc) for one in those)
    }
    odd = set(ranks_of(divergence.odd))
    if odd <= default:
        return True
    barriers = all(kind_of(cohort.stand) == "barrier" for cohort in divergence.odd)
    return barriers and not any(waits[rank] for rank in odd) and set(ranks_of(divergence.usual)) <= default


def _in_a_smaller_group(of: WhereAllStand, divergence: StackDivergence) -> bool:
    """Whether the odd ones wait in a call of fewer ranks than the others, who wait in one of all: by their watchdogs,
    which answer that nothing of the group of all is open there. They wait for one of the others then."""
    reports = of.facts.accounts.of_rank

    def of_all(rank: int, open_: bool) -> bool:
        theirs = [one for one in reports.get(rank, ()) if DEFAULT in (one.group, one.desc)]
        return bool(theirs) and any(one.seq is not None for one in theirs) is open_

    odd = [cohort for cohort in divergence.odd if cohort.stand.activity == "collective"]
    return len(odd) == len(divergence.odd) and all(
        of_all(rank, open_)
        for those, open_ in ((divergence.odd, False), (divergence.usual, True))
        for rank in ranks_of(those)
    )


def _perhaps_at_work(spinning: list[int]) -> str:
    if not spinning:
        return ""
    words = f"whether {ranks_words(spinning)} {verb(spinning, 'works or stands', 'work or stand')} still"
    return f" This is so if the job hung: {words}, one look does not tell."


def _are_left_over(of: WhereAllStand, divergence: StackDivergence) -> bool:
    """All others wait in calls of smaller groups, by their watchdogs, and each odd one for a message of one of those:
    each call lacks a member, and no other rank of the job is left to be it.

    Not where the message may only not have been sent: then whoever comes behind the odd one would lack it, too.
    """
    waiting = divergence.usual[0]
    if len(divergence.usual) != 1 or not known(waiting.stand) or rooted(waiting.stand):
        return False
    reports = of.facts.accounts.of_rank
    calls = {
        r: {(one.group, one.seq) for one in reports.get(r, ()) if one.seq is not None} for r in waiting.ranks
    }
    if any(len(those) != 1 for those in calls.values()):
        return False
    group_of = {rank: next(iter(those)) for rank, those in calls.items()}
    members = Counter(group_of.values())
    odd = ranks_of(divergence.odd)
    passes = [r for r in odd if is_passed(of.stands[r], waiting.ranks)]
    awaited = [group_of.get(peer) for r in passes if (peer := of.stands[r].asked.awaited) is not None]
    return (
        len(awaited) == len(odd) == len(members)
        and {*awaited} == {*members}
        and all(count > 1 for count in members.values())
    )


def _further_on(waiting: Cohort, odd: Collection[Cohort]) -> bool:
    """Whether those that wait are past the line of one function from which each odd one came to its receive.

    Whoever owes it a message has sent those of this round there: it waits for one of the next.
    """

    def is_past(one: Cohort) -> bool:
        for ours, theirs in zip(waiting.path, one.path, strict=False):
            if ours != theirs:
                (file, _, line), (other, _, before) = ours.at.rpartition(":"), theirs.at.rpartition(":")
                there = (ours.function, file) == (theirs.function, other)
                return there and line.isdecimal() and before.isdecimal() and int(line) > int(before)
        return False

    return all(one.stand.activity == "p2p" and is_past(one) for one in odd)


def is_passed(stand: Stand, waiting: Collection[int]) -> bool:
    """Whether it stands in a line of ranks between the one whose message it waits for and the next, and both are among
    those: the next one has all that it can get through it."""
    peer = stand.asked.awaited
    return peer is not None and peer in waiting and 2 * stand.rank - peer in waiting


def _by_role(of: WhereAllStand, divergence: StackDivergence) -> bool:
    """Whether the odd ones may stand elsewhere by their role, as the stages of a pipeline do.

    Not where all others wait in one and the same collective: no stage sends or receives then.
    """
    usual = divergence.usual[0].stand
    together = len(divergence.usual) == 1 and usual.activity == "collective" and known(usual)
    return of.transfers and not together


def _cause(divergence: StackDivergence) -> str:
    if all(
        "group" in cohort.stand.op for cohort in divergence.odd if cohort.stand.activity == "init"
    ) and all(cohort.stand.activity == "init" for cohort in divergence.odd):
        return "group_mismatch"
    if all(cohort.stand.activity == "teardown" for cohort in divergence.odd):
        return "early_exit"
    return "different_collective"


def _unlike(divergence: StackDivergence) -> bool:
    """The calls cannot belong together: else a call too many or too few before may have shifted all after it.

    Who waits as or for the root of a call may wait for one that went on with the others.
    """
    odd = {kind_of(cohort.stand) for cohort in divergence.odd}
    usual = {kind_of(cohort.stand) for cohort in divergence.usual}
    return not odd & usual and not any(rooted(cohort.stand) for cohort in divergence.odd)
