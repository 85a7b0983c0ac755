"""From a case to its diagnosis by what the job left behind alone: gather, find, decide, write the document."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from rankandfile.model.case import Case
from rankandfile.model.diagnosis import Diagnosis, GroupSummary, Job, Verdict
from rankandfile.model.ledger import DISAGREE, UNKNOWN_OPERATION, Note
from rankandfile.model.ranks import format_ranks

from .facts import Facts, OnStep, gather
from .ranks.dump_times import written_ns
from .ranks.standings import standings
from .verdict.precedence import Findings, findings, verdicts
from .words import ranks_words

_MOST_GROUPS = 12
_ASSUMED = "it hung: the files do not tell when they were written"
_WORTH_A_NOTE_NS = 10_000_000_000


def diagnose(case: Case, on_step: OnStep | None = None) -> Diagnosis:
    """From a case to its diagnosis, without the program's source."""
    return conclude(gather(case, on_step))


def conclude(facts: Facts) -> Diagnosis:
    """Where files have lost their times and that alone leaves it open, the answer is about a hang: it was asked for."""
    diagnosis = decide(facts, findings(facts))
    if facts.hung or _settled(diagnosis) or not _times_lost(facts):
        return diagnosis
    supposed = replace(facts, supposed_hung=True)
    other = decide(supposed, findings(supposed))
    return _supposing(other) if _settled(other) else diagnosis


def _times_lost(facts: Facts) -> bool:
    return bool(facts.call_table.calls.height) and written_ns(facts.case, facts.clocks) is None


def _settled(diagnosis: Diagnosis) -> bool:
    return any(verdict.named or verdict.cause != "undetermined" for verdict in diagnosis.verdicts)


def _supposing(diagnosis: Diagnosis) -> Diagnosis:
    """Whoever is to blame only if it hung is suspected: a job that was looked at while it ran leaves the same files."""
    verdicts = [
        msgspec.structs.replace(
            verdict,
            hang=None,
            assumed=_ASSUMED,
            confidence="hypothesis",
            culprits=[],
            suspects=verdict.culprits or verdict.suspects,
            victims="",
            # Who had not come to a call may have come to it later.
            divergence=verdict.divergence if _all_came(verdict) else None,
        )
        for verdict in diagnosis.verdicts
    ]
    return msgspec.structs.replace(diagnosis, verdicts=verdicts)


def _all_came(verdict: Verdict) -> bool:
    return verdict.divergence is not None and all(one.call is not None for one in verdict.divergence.cohorts)


def victims_of_somebody(diagnosis: Diagnosis) -> Diagnosis:
    """Victims are victims of somebody: where nobody is to blame and nothing is decided, there is none.

    It comes last: the source looks at whoever waits, too, and may find out whose victims they are.
    """
    verdicts = [
        msgspec.structs.replace(one, victims="") if _decides_nothing(one) else one
        for one in diagnosis.verdicts
    ]
    return msgspec.structs.replace(diagnosis, verdicts=verdicts)


def _decides_nothing(verdict: Verdict) -> bool:
    return not verdict.culprits and (verdict.cause == "undetermined" or verdict.confidence == "hypothesis")


def decide(facts: Facts, found: Findings) -> Diagnosis:
    """The document: the verdicts that the table of precedence chooses, with the evidence that they cite."""
    chosen, unsaid = verdicts(facts, found)
    where, doubted = standings(facts)
    disagreeing = [i for one in facts.contradictions for i in one.evidence]
    ids = dict.fromkeys(
        [
            *(i for verdict in chosen for i in _cited(verdict)),
            *disagreeing,
            *(i for one in where for i in one.evidence),
        ]
    )
    evidence = [e for i in ids if (e := facts.case.evidence(i)) is not None]
    notes = [
        *_contradictions(facts),
        *_unknown_operations(facts),
        *facts.case.notes,
        *_clock_notes(facts),
        *dict.fromkeys((*unsaid, *doubted)),
    ]
    return Diagnosis(job=_job(facts), verdicts=chosen, evidence=evidence, notes=notes, standings=where)


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
