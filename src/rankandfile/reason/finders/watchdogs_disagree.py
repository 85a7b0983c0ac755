"""The members of the call asked for different things, by their dumps, their watchdogs' own words and their stacks.

The dump that would show it is missing; what the rank's watchdog gave up on, or where it stands, is there in its place.
"""

from __future__ import annotations

import re

from rankandfile.model.diagnosis import Alternative, Cohort, Missing
from rankandfile.model.ranks import format_ranks
from rankandfile.model.sentence import told
from rankandfile.reason.calls.requests import (
    Request,
    as_call,
    asked,
    by_site,
    claims_at,
    history,
    majority,
    most_of_all,
    one_call,
    relation,
    sides,
)
from rankandfile.reason.document import diverged, perhaps
from rankandfile.reason.facts import Facts
from rankandfile.reason.finder import finder
from rankandfile.reason.ranks.did_instead import location_of
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import Pending, WaitEnd
from rankandfile.reason.waits.in_words import call_phrase, waiting_sentence
from rankandfile.reason.waits.patience import Patience, patience
from rankandfile.reason.waits.seen_elsewhere import seen_elsewhere
from rankandfile.reason.words import ranks_words, upper, verb

from .goes_on import GoesOn, goes_on

#: So many frames have a program's main function and what that calls: the module's, its own, and that.
_OF_MAIN = 3
_ONE_MORE_OR_LESS = ("skipped_collective", "extra_collective")
_LEAVING = re.compile(r"shut_?down|tear_?down|destroy|clean_?up|finali[sz]e|finish|leave", re.IGNORECASE)


@finder(precedence=170)
def watchdogs_disagree(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    if wait_end.kind not in ("joined", "behind", "missing", "absent"):
        return None
    for index in wait_end.pending:
        call = facts.waits.pending[index]
        if call.slot is None or (wait_end.kind == "absent" and not {*wait_end.ranks} <= {*call.unknown}):
            # Who has not come asks for nothing there: only where that is not known, its stack may tell.
            continue
        # Some may have got past it, as a call of fewer elements does, and disagree in the one behind it.
        for slot in (call.slot, call.slot + 1):
            claims = claims_at(facts, call.group, slot)
            if slot == call.slot:
                claims = [*claims, *seen_elsewhere(facts, call, claims)]
            parts = sides(claims)
            if len(parts) > 1:
                usual = goes_on(facts, call.group, slot, parts)
                if slot == call.slot or usual is not None:
                    return _finding(facts, wait_end, call, slot, parts, usual)
            elif patience(facts, call) is Patience.OVER and len(by_line := by_site(claims)) > 1:
                # Calls that are alike may well belong together: only of one that did not end, its lines tell something.
                usual = goes_on(facts, call.group, slot, by_line)
                if usual is not None:
                    return _finding(facts, wait_end, call, slot, by_line, usual)
    return None


def _finding(
    facts: Facts,
    wait_end: WaitEnd,
    call: Pending,
    slot: int,
    parts: list[list[Request]],
    usual: GoesOn | None,
) -> Finding:
    unlike = slot == call.slot and len(sides([side[0] for side in parts])) > 1
    numbers = majority(parts) and unlike
    most = most_of_all(parts, facts.membership.members[call.group]) and unlike
    together = len(parts[0]) > sum(map(len, parts[1:])) and one_call(parts[0])
    if unlike and together and not numbers and usual is not None and usual.side != 0:
        # Most, in one call at one line, against what the rounds before promise: one witness is as good as the other.
        usual, most = None, False
    if usual is not None and not numbers:
        parts = [parts[usual.side], *(side for i, side in enumerate(parts) if i != usual.side)]
    known = numbers or most or (usual is not None and usual.known)
    normal, others = parts[0], [claim for side in parts[1:] for claim in side]
    culprits = tuple(sorted(claim.rank for claim in others)) if known or usual is not None else ()
    cause = _cause(facts, call, normal, others) if culprits else "undetermined"
    if cause in _ONE_MORE_OR_LESS and known and not numbers:
        # A place of the round is come to by calls left out, and by calls made once more.
        cause = "different_collective"
    words = "; ".join(
        f"{ranks_words([c.rank for c in side])} {verb([c.rank for c in side], 'is', 'are')} in {asked(side[0])}"
        for side in parts
    )
    differently = (
        "asked for different things" if len(sides([*normal, *others])) > 1 else "come from different lines"
    )
    behind = "" if slot == call.slot else f" In the one after it, {words}."
    sentence = (
        f"Not all members get past the {call_phrase(facts, call)}.{behind}"
        if behind
        else f"The members of the {call_phrase(facts, call)} {differently}: {words}."
    )
    if usual is not None and not numbers:
        due = ranks_words([c.rank for c in normal])
        new = (
            ""
            if known
            else "; the other one was never made before, so it may be due for all for the first time"
        )
        sentence += f" By the calls before, which every member had ended, that of {due} is due{new}."
    elif not known:
        sentence += " Who of them is out of line, this alone does not say."
    return Finding(
        cause=cause,
        confidence="supported" if known else "hypothesis",
        sentence=told(sentence, waiting_sentence(facts, wait_end, culprits if known else ())),
        culprits=culprits,
        doing={claim.rank: f"is in {asked(claim)} instead" for claim in others} if culprits else {},
        divergence=diverged(
            facts,
            call.group,
            seq=slot,
            kind="argument" if cause == "size_mismatch" else "substituted",
            cohorts=[
                Cohort(ranks=format_ranks(c.rank for c in side), call=as_call(side[0], slot))
                for side in parts
            ],
            exact=False,
        ),
        location=location_of((others[0] if cause != "skipped_collective" else normal[0]).place),
        evidence=tuple(dict.fromkeys(c.evidence for c in (normal[0], *others[:4]))),
        contradicted_by="the dumps of the ranks that left none",
        alternatives=_alternatives(cause, culprits),
        missing=(
            Missing(
                what="the calls before this one, of every rank",
                how="the dump of each rank: a skipped call shifts all that follow, and only the earlier ones show it",
            ),
        ),
    )


def _cause(facts: Facts, call: Pending, normal: list[Request], others: list[Request]) -> str:
    if all(_one_call(normal[0], other) for other in others):
        return "size_mismatch"
    past = history(facts, call.group, [c.rank for c in normal]) or history(
        facts, call.group, [c.rank for c in others], before=call.slot
    )
    how = relation(past, normal[0], others[0])
    if how == "skipped":
        return "skipped_collective"
    if how == "extra":
        return "extra_collective"
    place = others[0].place
    if how == "new" and place is not None:
        return "early_exit" if _leaves(others[0], place.function) else "extra_collective"
    # Of whoever tells no line it is not known that it came from another one: what is seen is what it asked for.
    same_line = normal[0].asked[0] == others[0].asked[0] and (
        normal[0].site == others[0].site or (how == "new" and place is None)
    )
    return "size_mismatch" if same_line else "different_collective"


def _leaves(claim: Request, function: str) -> bool:
    """By its name; or out of a context manager that the program's main function has around all that it does."""
    outermost = len(claim.way) <= _OF_MAIN and function in ("__exit__", "__aexit__")
    return outermost or _LEAVING.search(function) is not None


def _one_call(normal: Request, other: Request) -> bool:
    """The same operation, come to on the same way: then only its size is another."""
    return normal.asked[0] == other.asked[0] and bool(normal.way) and normal.way == other.way


def _alternatives(cause: str, culprits: tuple[int, ...]) -> tuple[Alternative, ...]:
    if not culprits:
        return ()
    others = [c for c in ("skipped_collective", "extra_collective", "different_collective") if c != cause][:2]
    return tuple(
        perhaps(
            other,
            f"{upper(ranks_words(culprits))} may have departed earlier, in another way.",
            culprits,
            decided_by="the dump of each rank",
        )
        for other in others
    )
