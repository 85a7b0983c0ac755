"""Verdicts with what the source code adds to them: whom it names, which exact cause, at which line."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from rankandfile.model.case import Case
from rankandfile.model.causes import CAUSES
from rankandfile.model.claims import LeftOut, TookBranch, ranks_of
from rankandfile.model.diagnosis import Culprit, Diagnosis, Divergence, Verdict
from rankandfile.model.findings import Implied, SourceFinding, SourceFindings
from rankandfile.model.ranks import format_ranks, parse_ranks
from rankandfile.model.sentence import in_words
from rankandfile.reason.claims.raw import Raw
from rankandfile.reason.claims.said import Check
from rankandfile.reason.divergence.in_document import (
    BY_SOURCE,
    without_order,
    without_perhaps_left,
    without_skipping,
    without_ways,
)

_LOOPS = ("for ", "async for ", "while ")


def with_source(diagnosis: Diagnosis, found: SourceFindings, case: Case) -> Diagnosis:
    """The diagnosis with what the source code adds to its verdicts.

    A location that only repeats a call of the dumps is taken away where the source was asked and had no answer: it
    is in the divergence already, and is not where the ranks went different ways.
    """
    pairs = zip(diagnosis.verdicts, found.of_verdicts, strict=True)
    raw = Raw(case)
    checks = [Check(raw) for _ in diagnosis.verdicts]
    verdicts = [
        _with_code(verdict, said, check) for (verdict, said), check in zip(pairs, checks, strict=True)
    ]
    notes = [*found.notes, *(note for check in checks for note in check.notes)]
    return msgspec.structs.replace(diagnosis, verdicts=verdicts, notes=[*diagnosis.notes, *notes])


def _whom_it_names(verdict: Verdict, said: SourceFinding, _check: Check) -> Verdict:
    named = said.named
    if named is None:
        return verdict
    own = format_ranks(named.ranks)
    who = [Culprit(rank=rank, doing=named.doing) for rank in named.ranks]
    # Where nothing shows that it hung, nobody has done anything yet.
    hung = verdict.hang is not None
    return msgspec.structs.replace(
        verdict,
        confidence="supported" if hung else "hypothesis",
        culprits=who if hung else [],
        suspects=[] if hung else who,
        victims=format_ranks([rank for rank in parse_ranks(verdict.victims) if rank not in named.ranks]),
        sentence=f"{verdict.sentence} {named.sentence}",
        evidence=[*verdict.evidence, *named.evidence],
        alternatives=[other for other in verdict.alternatives if other.culprits != own],
    )


def _as_many(verdict: Verdict, said: SourceFinding, _check: Check) -> Verdict:
    if not said.as_many:
        return verdict
    return msgspec.structs.replace(
        verdict, confidence="hypothesis", culprits=[], suspects=verdict.culprits, victims=""
    )


def _which_exact_cause(verdict: Verdict, said: SourceFinding, _check: Check) -> Verdict:
    given, at = verdict.cause, said.location
    for cause in said.causes:
        verdict = _of_cause(verdict, cause)
    supposed = at is not None and at.condition is not None and at.why_it_can_differ is None
    if supposed and verdict.cause != given and verdict.confidence == "established":
        # That this condition decided is likely; why it came out differently, and so what it means, nothing shows.
        return msgspec.structs.replace(verdict, confidence="supported")
    return verdict


def _at_which_line(verdict: Verdict, said: SourceFinding, check: Check) -> Verdict:
    told = said.location is not None and said.location.condition is not None
    before = without_ways(verdict.sentence) if told else verdict.sentence
    before = without_perhaps_left(before) if told or said.causes else before
    words = in_words(said.sentence, check)
    return msgspec.structs.replace(
        verdict,
        location=said.location,
        excerpts=list(said.excerpts),
        sentence=f"{before} {words}".strip(),
        alternatives=[one for one in verdict.alternatives if not told or one.decided_by != BY_SOURCE],
        claims=[*verdict.claims, *check.claims],
        divergence=_with_implied(verdict.divergence, said.implied),
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


def _not_yet_there(verdict: Verdict, said: SourceFinding, check: Check) -> Verdict:
    """Who goes round a loop once more, which the others have left, has left out nothing that lies behind it."""
    named = {one.rank for one in verdict.culprits}
    condition = (said.location.condition or "") if said.location is not None else ""
    rounds = [one for one in check.claims if isinstance(one, TookBranch) and one.truth]
    again = condition.startswith(_LOOPS) and any(named & set(ranks_of(one)) for one in rounds)
    # Who caught an exception, and made a call more for it, is in another go at what raised.
    again = again or (condition.startswith("except") and "extra_collective" in said.causes)
    if not again:
        return verdict
    return msgspec.structs.replace(
        verdict,
        sentence=without_skipping(verdict.sentence),
        claims=[one for one in verdict.claims if not isinstance(one, LeftOut)],
        alternatives=[one for one in verdict.alternatives if one.cause != "order_inversion"],
    )


#: What the code adds, each to what was added before it.
ADDED_BY_CODE = (_whom_it_names, _as_many, _which_exact_cause, _at_which_line, _not_yet_there)


def _with_code(verdict: Verdict, said: SourceFinding | None, check: Check) -> Verdict:
    if said is None:
        return msgspec.structs.replace(verdict, location=None)
    for add in ADDED_BY_CODE:
        verdict = add(verdict, said, check)
    return verdict


def _of_cause(verdict: Verdict, cause: str) -> Verdict:
    alternatives = [other for other in verdict.alternatives if other.cause != cause]
    if cause == verdict.cause:
        return msgspec.structs.replace(verdict, alternatives=alternatives)
    if verdict.cause == "order_inversion":
        verdict = msgspec.structs.replace(verdict, sentence=without_order(verdict.sentence))
    return msgspec.structs.replace(
        verdict,
        cause=cause,
        family=CAUSES[cause].family,
        alternatives=alternatives,
        remedies=list(CAUSES[cause].remedies),
        anti_advice=list(CAUSES[cause].anti_advice),
        probes=list(CAUSES[cause].probes),
    )
