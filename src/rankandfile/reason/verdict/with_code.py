"""What is believed, with what the source code adds to it: whom it names, which exact cause, at which line."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from rankandfile.model.case import Case
from rankandfile.model.claims import LeftOut, TookBranch, ranks_of
from rankandfile.model.diagnosis import Divergence
from rankandfile.model.findings import Implied, SourceFinding, SourceFindings
from rankandfile.model.ledger import Note
from rankandfile.model.ranks import format_ranks
from rankandfile.model.sentence import checked, taken_back
from rankandfile.reason.claims.raw import Raw
from rankandfile.reason.claims.said import Check
from rankandfile.reason.divergence.in_document import BY_SOURCE

from .believed import Believed


def with_code(
    believed: Sequence[Believed], found: SourceFindings, case: Case
) -> tuple[tuple[Believed, ...], tuple[Note, ...]]:
    """The same with what the source code adds to each, and notes on what of that is not said.

    A location that only repeats a call of the dumps is taken away where the source was asked and had no answer: it
    is in the divergence already, and is not where the ranks went different ways.
    """
    raw = Raw(case)
    checks = [Check(raw) for _ in believed]
    three = zip(believed, found.of_verdicts, checks, strict=True)
    added = tuple(_with_code(one, said, check) for one, said, check in three)
    return added, (*found.notes, *(note for check in checks for note in check.notes))


def _whom_it_names(one: Believed, said: SourceFinding, _check: Check) -> Believed:
    named = said.named
    if named is None:
        return one
    finding, own = one.finding, format_ranks(named.ranks)
    return replace(
        one,
        finding=replace(
            finding,
            # Where nothing shows that it hung, nobody has done anything yet.
            confidence="hypothesis" if finding.hang is None else "supported",
            culprits=named.ranks,
            doing=dict.fromkeys(named.ranks, named.doing),
            victims=tuple(rank for rank in finding.victims if rank not in named.ranks),
            evidence=(*finding.evidence, *named.evidence),
            alternatives=tuple(other for other in finding.alternatives if other.culprits != own),
        ),
        words=(*one.words, named.sentence),
        hosts={},
    )


def _as_many(one: Believed, said: SourceFinding, _check: Check) -> Believed:
    if not said.as_many:
        return one
    return replace(one, finding=replace(one.finding, confidence="hypothesis", victims=()))


def _which_exact_cause(one: Believed, said: SourceFinding, _check: Check) -> Believed:
    given, at = one.finding.cause, said.location
    for cause in said.causes:
        one = _of_cause(one, cause)
    supposed = at.condition is not None and at.why_it_can_differ is None
    if supposed and one.finding.cause != given and one.finding.confidence == "established":
        # That this condition decided is likely; why it came out differently, and so what it means, nothing shows.
        return replace(one, finding=replace(one.finding, confidence="supported"))
    return one


def _at_which_line(one: Believed, said: SourceFinding, check: Check) -> Believed:
    finding, told = one.finding, said.location.condition is not None
    words = taken_back(one.words, "different ways") if told else one.words
    words = taken_back(words, "perhaps left the loop") if told or said.causes else words
    others = tuple(other for other in finding.alternatives if not told or other.decided_by != BY_SOURCE)
    added = checked(said.sentence, check)
    return replace(
        one,
        finding=replace(
            finding,
            location=said.location,
            alternatives=others,
            divergence=_with_implied(finding.divergence, said.implied),
        ),
        words=(*words, *added),
        excerpts=said.excerpts,
        claims=(*one.claims, *check.claims),
    )


def _with_implied(divergence: Divergence | None, implied: Sequence[Implied]) -> Divergence | None:
    """Its calls, each with what makes it where its line does not name it."""
    by = {(one.op, one.file, one.line): one.by for one in implied}
    if divergence is None or not by:
        return divergence
    cohorts = []
    for cohort in divergence.cohorts:
        call = cohort.call
        name = (call.file or "").replace("\\", "/").rpartition("/")[2] if call is not None else ""
        if call is not None and (call.op, name, call.line or 0) in by:
            call = msgspec.structs.replace(call, implied_by=by[call.op, name, call.line or 0])
        cohorts.append(msgspec.structs.replace(cohort, call=call))
    return msgspec.structs.replace(divergence, cohorts=cohorts)


def _not_yet_there(one: Believed, said: SourceFinding, check: Check) -> Believed:
    """Who goes round a loop once more, which the others have left, has left out nothing that lies behind it."""
    named = set(one.culprits)
    rounds = [claim for claim in check.claims if isinstance(claim, TookBranch) and claim.truth]
    again = said.decided_by == "loop" and any(named & set(ranks_of(claim)) for claim in rounds)
    # Who caught an exception, and made a call more for it, is in another go at what raised.
    again = again or (said.decided_by == "handler" and "extra_collective" in said.causes)
    if not again:
        return one
    others = tuple(other for other in one.finding.alternatives if other.cause != "order_inversion")
    return replace(
        one,
        finding=replace(one.finding, alternatives=others),
        words=taken_back(one.words, "skipped a call"),
        claims=tuple(claim for claim in one.claims if not isinstance(claim, LeftOut)),
    )


#: What the code adds, each to what was added before it.
ADDED_BY_CODE = (_whom_it_names, _as_many, _which_exact_cause, _at_which_line, _not_yet_there)


def _with_code(one: Believed, said: SourceFinding | None, check: Check) -> Believed:
    if said is None:
        return replace(one, finding=replace(one.finding, location=None))
    for add in ADDED_BY_CODE:
        one = add(one, said, check)
    return one


def _of_cause(one: Believed, cause: str) -> Believed:
    finding = one.finding
    others = tuple(other for other in finding.alternatives if other.cause != cause)
    if cause == finding.cause:
        return replace(one, finding=replace(finding, alternatives=others))
    return replace(
        one,
        finding=replace(finding, cause=cause, alternatives=others, unadvised=()),
        words=taken_back(one.words, "another order") if finding.cause == "order_inversion" else one.words,
    )
