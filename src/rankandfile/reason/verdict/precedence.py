"""Where a verdict comes from: every source adds findings, and one table says which of them are believed.

This is the only place that makes a verdict. What the source code adds comes second, as it needs a verdict to look at:
the line, whom the code names where the evidence names nobody, and a more exact cause.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple, TypeAlias

import msgspec

from rankandfile.model.case import Case
from rankandfile.model.causes import CAUSES
from rankandfile.model.diagnosis import Culprit, Diagnosis, Verdict
from rankandfile.model.findings import SourceFinding, SourceFindings
from rankandfile.model.ledger import Note
from rankandfile.model.ranks import format_ranks, parse_ranks
from rankandfile.model.sentence import in_words, told
from rankandfile.reason.causes import finders
from rankandfile.reason.claims.of_tellings import told_of
from rankandfile.reason.claims.raw import Raw
from rankandfile.reason.claims.said import Check, Said, may_be_said
from rankandfile.reason.divergence.in_document import without_leaving, without_ways
from rankandfile.reason.facts import Facts
from rankandfile.reason.finder import Question
from rankandfile.reason.ranks.from_logs.over import BROKE_OFF as IT_BROKE_OFF
from rankandfile.reason.ranks.from_logs.over import over_at_once
from rankandfile.reason.waits.from_logs.findings import watchdogs_together
from rankandfile.reason.waits.from_stacks.findings import by_stacks
from rankandfile.reason.waits.graph import NO_WAIT
from rankandfile.reason.waits.patience import Patience, patience

from .also_read import with_what_else_was_read
from .calls_that_wait import calls_that_wait, of_whole_job
from .finding import Finding
from .named_by_checks import checked
from .nothing_waits import ended_well, nothing_waits
from .other_programs import fit
from .own_place import with_own_place
from .ras_agrees import said_by_ras
from .said_departures import with_own_words
from .silent_disagreement import silent_disagreements
from .standstill_proof import MOST_ASKED, hangs_or_not

Findings: TypeAlias = Mapping[str, tuple[Finding, ...]]
"""By the source that they are of, the best first."""

BROKE_OFF = "the job broke off"
CALLS_THAT_WAIT = "calls that wait"
WITHOUT_CALLS = "what stacks, logs and exits alone say"
WATCHDOGS = "the watchdogs' lines of all ranks together"
STACKS = "where the stacks of all ranks stand"
CHECKS = "torch's own checks"
SINGLE_LINES = "single lines of logs"
NOTHING_WAITS = "nothing waits"

#: What each source finds, whatever the others say.
SOURCES: dict[str, Callable[[Facts], list[Finding]]] = {
    BROKE_OFF: lambda facts: _asked("ended job", facts),
    CALLS_THAT_WAIT: calls_that_wait,
    WITHOUT_CALLS: lambda facts: _asked("job", facts),
    WATCHDOGS: watchdogs_together,
    STACKS: by_stacks,
    CHECKS: lambda facts: [_over(facts, finding) for finding in _of_whole_job(facts, checked(facts))],
    SINGLE_LINES: lambda facts: (
        [] if facts.call_table.calls.height or ended_well(facts) else _asked("logs", facts)
    ),
    NOTHING_WAITS: lambda facts: [nothing_waits(facts), *silent_disagreements(facts)],
}


class Precedence(NamedTuple):
    source: str
    only: Callable[[Finding], bool] | None = None
    """Which of its findings are believed; None: all."""
    several: bool = False
    """Each of them becomes a verdict; else the first alone."""
    yields_to: str | None = None
    """A source that is believed instead where these findings leave open who it was, and that one is sure of it."""


def _hangs(finding: Finding) -> bool:
    return bool(finding.hang)


def _yields(row: Precedence, believed: list[Finding], found: Findings) -> bool:
    if row.yields_to is None or any(f.culprits or f.cause != "undetermined" for f in believed):
        return False
    return any(f.culprits and f.confidence != "hypothesis" for f in found[row.yields_to])


def _is_of_a_moment(finding: Finding) -> bool:
    return finding.ordinary


def _says_what(finding: Finding) -> bool:
    return bool(finding.culprits) or finding.cause != "undetermined"


def _names_ranks(finding: Finding) -> bool:
    return bool(finding.culprits)


def _surely_names(finding: Finding) -> bool:
    return bool(finding.culprits) and finding.confidence != "hypothesis"


def _asked_differently(finding: Finding) -> bool:
    """A log of calls shows who asked for something else: more than that all wait in one call."""
    return bool(finding.culprits) and CAUSES[finding.cause].family == "arguments"


#: The first row with a finding that is believed gives the verdicts.
PRECEDENCE = (
    Precedence(BROKE_OFF),
    Precedence(CALLS_THAT_WAIT, only=_hangs, several=True, yields_to=STACKS),
    Precedence(WITHOUT_CALLS),
    Precedence(WATCHDOGS, only=_names_ranks, several=True),
    Precedence(CHECKS),
    Precedence(CALLS_THAT_WAIT, only=_is_of_a_moment, several=True, yields_to=STACKS),
    Precedence(STACKS, only=_says_what),
    Precedence(SINGLE_LINES, only=_surely_names),
    Precedence(SINGLE_LINES, only=_asked_differently),
    Precedence(WATCHDOGS),
    Precedence(STACKS),
    Precedence(SINGLE_LINES),
    Precedence(CALLS_THAT_WAIT),
    Precedence(NOTHING_WAITS, several=True),
)


def findings(facts: Facts) -> Findings:
    return {name: tuple(find(facts)) for name, find in SOURCES.items()}


def verdicts(facts: Facts, found: Findings) -> tuple[list[Verdict], list[Note]]:
    """Those of the first row that has any, with their claims checked, and notes on what is not said therefore."""
    for row in PRECEDENCE:
        believed = [finding for finding in found[row.source] if row.only is None or row.only(finding)]
        if believed and not _yields(row, believed, found):
            raw = Raw(facts.case)
            chosen = [
                with_what_else_was_read(
                    facts,
                    _with_tellings(
                        facts, with_own_place(facts, with_own_words(facts, _so_far(facts, fit(facts, one))))
                    ),
                )
                for one in (believed if row.several else believed[:1])
            ]
            said = [may_be_said(raw, finding) for finding in chosen]
            return [_verdict(facts, one) for one in said], [note for one in said for note in one.notes]
    return [], []


def _with_tellings(facts: Facts, finding: Finding) -> Finding:
    """With what it says of those that it names, and of their stacks, logs and ends, as claims."""
    of_them = [claim for rank in finding.doing for claim in told_of(facts, rank, finding.evidence)]
    return replace(finding, claims=(*finding.claims, *of_them))


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


def _asked(question: Question, facts: Facts) -> list[Finding]:
    """What is found where no recorded call is in question: who is asked first is believed first."""
    return _of_whole_job(facts, *(find(facts, NO_WAIT) for find in finders(question)))


def _so_far(facts: Facts, finding: Finding) -> Finding:
    """Whoever is seen to get on is late, and not stuck, where nobody has waited for longer than may be."""
    if finding.cause != "host_slow" or facts.hung or facts.accounts.gave_up:
        return finding
    if any(patience(facts, call) is Patience.OVER for call in facts.waits.pending[:MOST_ASKED]):
        return finding
    return replace(finding, hang=False, confidence="hypothesis")


def _over(facts: Facts, finding: Finding) -> Finding:
    """A check that refuses a call ends it at once: with all processes gone, nothing hangs."""
    if finding.hang is None or not over_at_once(facts):
        return finding
    return replace(finding, hang=None, sentence=told(finding.sentence, IT_BROKE_OFF))


def _of_whole_job(facts: Facts, *found: Finding | None) -> list[Finding]:
    return [of_whole_job(facts, finding) for finding in found if finding is not None]


def _verdict(facts: Facts, said: Said) -> Verdict:
    finding = said.finding
    also, ids = said_by_ras(facts, finding)
    cause, unadvised = finding.cause, finding.unadvised
    named = [
        Culprit(rank=r, host=facts.accounts.hosts.get(r), doing=finding.doing.get(r))
        for r in finding.culprits
    ]
    return Verdict(
        hang=hangs_or_not(facts, finding),
        cause=cause,
        family=CAUSES[cause].family,
        confidence=finding.confidence,
        sentence=f"{said.sentence} {also}".rstrip(),
        culprits=[] if finding.confidence == "hypothesis" else named,
        suspects=named if finding.confidence == "hypothesis" else [],
        assumed=finding.assumed or None,
        ordinary=finding.ordinary,
        victims=format_ranks(finding.victims),
        divergence=finding.divergence,
        location=finding.location,
        waits=[row.wait() for row in finding.waits],
        evidence=list(dict.fromkeys([*finding.evidence, *ids])),
        alternatives=list(finding.alternatives),
        remedies=list(CAUSES[cause].remedies),
        anti_advice=[] if "anti_advice" in unadvised else list(CAUSES[cause].anti_advice),
        probes=[] if "probes" in unadvised else list(CAUSES[cause].probes),
        missing_evidence=list(finding.missing),
        claims=list(said.claims),
    )


def _whom_it_names(verdict: Verdict, said: SourceFinding, _check: Check) -> Verdict:
    named = said.named
    if named is None:
        return verdict
    own = format_ranks(named.ranks)
    return msgspec.structs.replace(
        verdict,
        confidence="supported",
        culprits=[Culprit(rank=rank, doing=named.doing) for rank in named.ranks],
        suspects=[],
        victims=format_ranks([rank for rank in parse_ranks(verdict.victims) if rank not in named.ranks]),
        sentence=f"{verdict.sentence} {named.sentence}",
        alternatives=[other for other in verdict.alternatives if other.culprits != own],
    )


def _which_exact_cause(verdict: Verdict, said: SourceFinding, _check: Check) -> Verdict:
    for cause in said.causes:
        verdict = _of_cause(verdict, cause)
    return verdict


def _at_which_line(verdict: Verdict, said: SourceFinding, check: Check) -> Verdict:
    told = said.location is not None and said.location.condition is not None
    before = without_ways(verdict.sentence) if told else verdict.sentence
    words = in_words(said.sentence, check)
    return msgspec.structs.replace(
        verdict,
        location=said.location,
        excerpts=list(said.excerpts),
        sentence=f"{before} {words}".strip(),
        claims=[*verdict.claims, *check.claims],
    )


#: What the code adds, each to what was added before it.
ADDED_BY_CODE = (_whom_it_names, _which_exact_cause, _at_which_line)


def _with_code(verdict: Verdict, said: SourceFinding | None, check: Check) -> Verdict:
    if said is None:
        return msgspec.structs.replace(verdict, location=None)
    for add in ADDED_BY_CODE:
        verdict = add(verdict, said, check)
    return verdict


def _in_the_loop(verdict: Verdict) -> Verdict:
    doing = [msgspec.structs.replace(one, doing=without_leaving(one.doing or "")) for one in verdict.culprits]
    return msgspec.structs.replace(verdict, sentence=without_leaving(verdict.sentence), culprits=doing)


def _of_cause(verdict: Verdict, cause: str) -> Verdict:
    alternatives = [other for other in verdict.alternatives if other.cause != cause]
    if cause == verdict.cause:
        return msgspec.structs.replace(verdict, alternatives=alternatives)
    if verdict.cause == "early_exit" and cause in ("rank_conditional", "extra_collective"):
        verdict = _in_the_loop(verdict)
    return msgspec.structs.replace(
        verdict,
        cause=cause,
        family=CAUSES[cause].family,
        alternatives=alternatives,
        remedies=list(CAUSES[cause].remedies),
        anti_advice=list(CAUSES[cause].anti_advice),
        probes=list(CAUSES[cause].probes),
    )
