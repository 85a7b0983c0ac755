"""From a case to its diagnosis by what the job left behind alone: gather, find, decide, write the document."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from rankandfile.model.case import Case
from rankandfile.model.diagnosis import Diagnosis, GroupSummary, Job, Standing, Verdict
from rankandfile.model.findings import SourceFindings
from rankandfile.model.ledger import DISAGREE, UNKNOWN_OPERATION, Evidence, Note
from rankandfile.model.ranks import format_ranks

from .facts import Facts, OnStep, gather
from .ranks.dump_times import written_ns
from .ranks.standings import standings
from .verdict.believed import Believed
from .verdict.finding import Finding
from .verdict.precedence import Findings, believe, findings
from .verdict.with_code import with_code
from .words import ranks_words

_MOST_GROUPS = 12
_ASSUMED = "it hung: the files do not tell when they were written"
_WORTH_A_NOTE_NS = 10_000_000_000


class Conclusion(Struct, frozen=True, kw_only=True):
    """All that the document of a job says, while there may be something to add to it."""

    job: Job
    believed: tuple[Believed, ...]
    evidence: tuple[Evidence, ...]
    notes: tuple[Note, ...]
    standings: tuple[Standing, ...]

    def verdicts(self) -> list[Verdict]:
        return [one.verdict() for one in self.believed]

    def document(self) -> Diagnosis:
        return Diagnosis(
            job=self.job,
            verdicts=self.verdicts(),
            evidence=list(self.evidence),
            notes=list(self.notes),
            standings=list(self.standings),
        )


def diagnose(case: Case, on_step: OnStep | None = None) -> Diagnosis:
    """From a case to its diagnosis, without the program's source."""
    return conclude(gather(case, on_step))


def conclude(facts: Facts) -> Diagnosis:
    """The document of what the job left behind alone; whoever waits is named in it, even if nobody is to blame."""
    return concluded(facts).document()


def concluded(facts: Facts) -> Conclusion:
    """Where files have lost their times and that alone leaves it open, the answer is about a hang: it was asked for."""
    conclusion = decide(facts, findings(facts))
    if facts.hung or _settled(conclusion) or not _times_lost(facts):
        return conclusion
    supposed = replace(facts, supposed_hung=True)
    other = decide(supposed, findings(supposed))
    return _supposing(other) if _settled(other) else conclusion


def _times_lost(facts: Facts) -> bool:
    return bool(facts.call_table.calls.height) and written_ns(facts.case, facts.clocks) is None


def _settled(conclusion: Conclusion) -> bool:
    return any(one.finding.culprits or one.finding.cause != "undetermined" for one in conclusion.believed)


def _each(conclusion: Conclusion, changed: Callable[[Finding], Finding]) -> Conclusion:
    return replace(
        conclusion,
        believed=tuple(replace(one, finding=changed(one.finding)) for one in conclusion.believed),
    )


def _supposing(conclusion: Conclusion) -> Conclusion:
    """Whoever is to blame only if it hung is suspected: a job that was looked at while it ran leaves the same files."""
    return _each(
        conclusion,
        lambda finding: replace(
            finding,
            hang=None,
            assumed=_ASSUMED,
            confidence="hypothesis",
            victims=(),
            # Who had not come to a call may have come to it later.
            divergence=finding.divergence if _all_came(finding) else None,
        ),
    )


def _all_came(finding: Finding) -> bool:
    return finding.divergence is not None and all(one.call is not None for one in finding.divergence.cohorts)


def victims_of_somebody(conclusion: Conclusion) -> Conclusion:
    """Victims are victims of somebody: where nobody is to blame and nothing is decided, there is none.

    It comes last: the source looks at whoever waits, too, and may find out whose victims they are.
    """
    return _each(
        conclusion, lambda finding: replace(finding, victims=()) if _decides_nothing(finding) else finding
    )


def _decides_nothing(finding: Finding) -> bool:
    return finding.confidence == "hypothesis" or (not finding.culprits and finding.cause == "undetermined")


def with_source(conclusion: Conclusion, found: SourceFindings, case: Case) -> Conclusion:
    """The same with what the source code adds to it."""
    believed, notes = with_code(conclusion.believed, found, case)
    return replace(conclusion, believed=believed, notes=(*conclusion.notes, *notes))


def decide(facts: Facts, found: Findings) -> Conclusion:
    """What the table of precedence chooses, with the evidence that it cites."""
    chosen, unsaid = believe(facts, found)
    where, doubted = standings(facts)
    disagreeing = [i for one in facts.contradictions for i in one.evidence]
    ids = dict.fromkeys(
        [
            *(i for one in chosen for i in _cited(one.verdict())),
            *disagreeing,
            *(i for one in where for i in one.evidence),
        ]
    )
    return Conclusion(
        job=_job(facts),
        believed=tuple(chosen),
        evidence=tuple(e for i in ids if (e := facts.case.evidence(i)) is not None),
        notes=(
            *_contradictions(facts),
            *_unknown_operations(facts),
            *facts.case.notes,
            *_clock_notes(facts),
            *dict.fromkeys((*unsaid, *doubted)),
        ),
        standings=tuple(where),
    )


def _contradictions(facts: Facts) -> list[Note]:
    return [
        Note(
            file=ranks_words(one.ranks),
            where=DISAGREE,
            what=f"{one.what} ({' against '.join(one.evidence[:2])})",
        )
        for one in facts.contradictions
    ]


def _unknown_operations(facts: Facts) -> list[Note]:
    return [
        Note(
            file=op,
            where=UNKNOWN_OPERATION,
            what="not known: calls of it were compared by its name only, not by what they asked for",
        )
        for op in facts.call_table.unknown_ops[:_MOST_GROUPS]
    ]


def _clock_notes(facts: Facts) -> list[Note]:
    """Clocks that are apart are said: whoever reads the logs side by side meets them too."""
    off = {rank: ns for rank, ns in facts.clocks.items() if abs(ns) >= _WORTH_A_NOTE_NS}
    by_seconds: dict[int, list[int]] = {}
    for rank, ns in off.items():
        by_seconds.setdefault(round(ns / 1e9), []).append(rank)
    return [
        Note(
            file=f"{ranks_words(ranks)}",
            where="clock",
            what=f"{abs(seconds)} s {'ahead of' if seconds > 0 else 'behind'} the others'; times were set to theirs",
        )
        for seconds, ranks in sorted(by_seconds.items())[:_MOST_GROUPS]
    ]


def _cited(v: Verdict) -> list[str]:
    ids = list(v.evidence)
    for wait in v.waits:
        ids += wait.evidence
    for cohort in v.divergence.cohorts if v.divergence else []:
        ids += cohort.call.evidence if cohort.call else []
    return [*ids, *(i for claim in v.claims for i in claim.evidence)]


def _job(facts: Facts) -> Job:
    case = facts.case
    heads = sorted(set(facts.membership.families.values()))
    rows = {row["group"]: row for row in case.groups.iter_rows(named=True)}
    groups = [
        GroupSummary(
            name=rows[g]["name"],
            desc=rows[g]["desc"] or "",
            members=format_ranks(facts.membership.members[g]) or None,
            size=len(facts.membership.members[g]) or None,
        )
        for g in heads[:_MOST_GROUPS]
    ]
    used = case.dumps_used
    return Job(
        world_size=case.world_size,
        ranks_seen=format_ranks(case.ranks_seen),
        groups=groups,
        group_count=case.groups.height,
        calls=case.calls.height,
        dumps=used.height,
        backends=sorted(used["backend"].drop_nulls().unique().to_list()),
        versions=sorted(used["version"].drop_nulls().unique().to_list()),
    )
