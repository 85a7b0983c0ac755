"""The whole way from a case to its diagnosis."""

from __future__ import annotations

import msgspec

from rankandfile.model.case import Case
from rankandfile.model.diagnosis import Diagnosis, GroupSummary, Job, Verdict
from rankandfile.model.ledger import DISAGREE, UNKNOWN_OPERATION, Note
from rankandfile.model.ranks import format_ranks, parse_ranks

from .causes import finders
from .facts import MOST_WAIT_ENDS, Facts, OnStep, gather
from .verdict.choose import findings, verdict
from .verdict.finding import Finding
from .verdict.named_by_checks import checked
from .verdict.nothing_waits import quiet
from .verdict.ras_agrees import with_ras
from .verdict.without_calls import settled
from .waits.from_logs.verdict import logs_only
from .waits.graph import NO_WAIT, WaitEnd
from .words import ranks_words

_MOST_GROUPS = 12
_WORTH_A_NOTE_NS = 10_000_000_000


def diagnose(case: Case, on_step: OnStep | None = None) -> Diagnosis:
    return conclude(gather(case, on_step))


def conclude(facts: Facts) -> Diagnosis:
    verdicts = [with_ras(facts, verdict) for verdict in _verdicts(facts)]
    disagreeing = [i for one in facts.contradictions for i in one.evidence]
    ids = dict.fromkeys([*(i for v in verdicts for i in _cited(v)), *disagreeing])
    evidence = [e for i in ids if (e := facts.case.evidence(i)) is not None]
    notes = [*_contradictions(facts), *_unknown_operations(facts), *facts.case.notes, *_clock_notes(facts)]
    return Diagnosis(job=_job(facts), verdicts=verdicts, evidence=evidence, notes=notes)


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
    apart = {rank: ns for rank, ns in facts.clocks.items() if abs(ns) >= _WORTH_A_NOTE_NS}
    by_seconds: dict[int, list[int]] = {}
    for rank, ns in apart.items():
        by_seconds.setdefault(round(ns / 1e9), []).append(rank)
    return [
        Note(
            file=f"{ranks_words(ranks)}",
            where="clock",
            what=f"{abs(seconds)} s {'ahead of' if seconds > 0 else 'behind'} the others'; times were set to theirs",
        )
        for seconds, ranks in sorted(by_seconds.items())[:_MOST_GROUPS]
    ]


def _verdicts(facts: Facts) -> list[Verdict]:
    for find in finders("ended job"):
        if (ended := find(facts, NO_WAIT)) is not None:
            return [_of(facts, ended)]
    out: list[Verdict] = []
    for wait_end in facts.wait_ends[:MOST_WAIT_ENDS]:
        found = findings(facts, wait_end)
        if found:
            candidate = verdict(facts, wait_end, found)
            twin = next((i for i, other in enumerate(out) if _same(candidate, other)), None)
            if twin is None:
                out.append(candidate)
            elif candidate.sentence == out[twin].sentence:
                out[twin] = _with_victims_of(out[twin], candidate)
    hangs = [v for v in out if v.hang]
    return hangs or _spoken(facts) or out[:1] or [quiet(facts)]


def _spoken(facts: Facts) -> list[Verdict]:
    """Where no recorded call hangs, stacks, logs and exits may still tell of one."""
    finding = settled(facts)
    if finding is not None:
        return [_of(facts, finding)]
    found = logs_only(facts)
    if any(v.culprits for v in found):
        return found
    named = checked(facts)
    return [_of(facts, named)] if named is not None else found


def _of(facts: Facts, finding: Finding) -> Verdict:
    """The verdict of a finding that no recorded call is about: all others are its victims."""
    others = tuple(sorted(set(range(facts.case.world_size or 0)) - set(finding.culprits)))
    victims = others if finding.cause != "teardown_only" else ()
    return verdict(facts, WaitEnd(finding.culprits, (), "absent", victims), [finding])


def _same(one: Verdict, other: Verdict) -> bool:
    """Two roots that end in the same claim about the same ranks are one verdict."""
    ranks = [c.rank for c in one.culprits]
    alike = one.cause == other.cause and ranks == [c.rank for c in other.culprits]
    return alike and (bool(ranks) or one.sentence == other.sentence)


def _with_victims_of(one: Verdict, other: Verdict) -> Verdict:
    """Two sides of one transfer wait for each other, and are two roots of what is said once."""
    victims = {*parse_ranks(one.victims), *parse_ranks(other.victims)}
    return msgspec.structs.replace(one, victims=format_ranks(sorted(victims)))


def _cited(v: Verdict) -> list[str]:
    ids = list(v.evidence)
    for wait in v.waits:
        ids += wait.evidence
    for cohort in v.divergence.cohorts if v.divergence else []:
        ids += cohort.call.evidence if cohort.call else []
    return ids


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
