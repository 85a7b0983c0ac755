"""Does the independent call log confirm what the truth says? Also finds where in the log the cohorts part."""

from __future__ import annotations

from pathlib import Path

from rankandfile.lab.calls import Call, CallLog, Group
from rankandfile.lab.scenario import Cohort, Scenario
from rankandfile.lab.source_tree import ScenarioError, locate
from rankandfile.lab.truth import CohortTruth, DivergenceTruth, short_ranks


def divergence(scenario: Scenario, log: CallLog, tree: Path) -> DivergenceTruth:
    """The truth's divergence with lines and sequence numbers, each proved from the call log."""
    stated = scenario.divergence
    if stated.kind == "none":
        return DivergenceTruth(kind="none")
    group = log.find_group(stated.group, stated.containing)
    if group is None:
        raise ScenarioError(f"{scenario.name}: no group {stated.group!r} with rank {stated.containing}")
    if stated.kind == "cycle":
        cohorts = [_last_call(scenario, c, log, tree) for c in stated.cohorts]
        return _truth(stated.kind, group, cohorts[0].seq, cohorts)
    index = _first_divergence(scenario, log, group, tree)
    cohorts = [_at_index(c, log, group, index) for c in stated.cohorts]
    return _truth(stated.kind, group, index + 1, cohorts)


def _truth(kind: str, group: Group, seq: int, cohorts: list[CohortTruth]) -> DivergenceTruth:
    return DivergenceTruth(
        kind=kind,
        group=group.name,
        description=group.desc,
        members=list(group.ranks),
        seq=seq,
        cohorts=cohorts,
    )


def _matches(call: Call, cohort: Cohort, tree: Path, name: str) -> bool:
    if cohort.at is None:
        return False
    place = locate(cohort.at, tree, name)
    here = any(f[0] == place.file and f[1] == place.line for f in call.stack)
    return here and cohort.op in ("", call.op)


def _first_divergence(scenario: Scenario, log: CallLog, group: Group, tree: Path) -> int:
    """Index of the first call of the group at which every cohort stands where the scenario says."""
    sequences = {r: log.of(group, r) for r in group.ranks}
    left = scenario.divergence.occurrence
    spread = max((len(s) for s in sequences.values()), default=0)
    for index in range(spread + 1):
        if all(
            _cohort_at(scenario, cohort, sequences[r], index, tree)
            for cohort in scenario.divergence.cohorts
            for r in cohort.ranks
        ):
            left -= 1
            if left:
                continue
            _check_agreement_before(scenario, sequences, index)
            return index
    ends = {r: _describe(s[-1]) if s else "nothing" for r, s in sequences.items()}
    raise ScenarioError(f"{scenario.name}: the cohorts never part as stated; last calls: {ends}")


def _check_agreement_before(scenario: Scenario, sequences: dict[int, list[Call]], index: int) -> None:
    """It is the earliest divergence only if all members did the same up to here, and not the same here."""
    for i in range(index):
        seen = {r: (c[i].op, *_functions(c[i])) if i < len(c) else () for r, c in sequences.items()}
        if len(set(seen.values())) > 1:
            raise ScenarioError(
                f"{scenario.name}: the ranks part before call {index + 1}, at {i + 1}: {seen}"
            )
    here = {(c[index].op, c[index].stack) if index < len(c) else () for c in sequences.values()}
    places = {cohort.at for cohort in scenario.divergence.cohorts}
    if len(here) == 1 and len(places) > 1:
        raise ScenarioError(f"{scenario.name}: all ranks do the same at call {index + 1}: {here}")


def _functions(call: Call) -> tuple[tuple[str, str], ...]:
    """The way into the call without line numbers: two lines of one function may do the same thing legally."""
    return tuple((file, function) for file, _line, function in call.stack)


def _cohort_at(scenario: Scenario, cohort: Cohort, calls: list[Call], index: int, tree: Path) -> bool:
    if cohort.at is None:
        return len(calls) == index
    return index < len(calls) and _matches(calls[index], cohort, tree, scenario.name)


def _at_index(cohort: Cohort, log: CallLog, group: Group, index: int) -> CohortTruth:
    if cohort.at is None:
        return CohortTruth(ranks=short_ranks(cohort.ranks), group=group.name)
    call = log.of(group, cohort.ranks[0])[index]
    return _cohort_truth(cohort, call)


def _last_call(scenario: Scenario, cohort: Cohort, log: CallLog, tree: Path) -> CohortTruth:
    """For a cycle: the call in which each cohort is stuck, whichever group it is on."""
    found: Call | None = None
    for rank in cohort.ranks:
        calls = [c for c in log.calls if c.rank == rank]
        found = next((c for c in reversed(calls) if _matches(c, cohort, tree, scenario.name)), None)
        if found is None:
            last = _describe(calls[-1]) if calls else "nothing"
            raise ScenarioError(f"{scenario.name}: rank {rank} never issued {cohort.at}; last: {last}")
    if found is None:
        raise ScenarioError(f"{scenario.name}: a cohort without ranks")
    return _cohort_truth(cohort, found)


def _cohort_truth(cohort: Cohort, call: Call) -> CohortTruth:
    """The innermost line of user code, which is what anyone would quote; the anchor may be further out."""
    file, line, function = call.stack[0]
    return CohortTruth(
        ranks=short_ranks(cohort.ranks),
        op=call.op,
        file=file,
        line=line,
        function=function,
        group=call.group,
        seq=call.seq,
    )


def _describe(call: Call) -> str:
    site = call.site
    return f"{call.op} on {call.group} #{call.seq} at {site[0]}:{site[1]}" if site else call.op


def equal_sequences(log: CallLog) -> list[str]:
    """Where the members of a group did not issue the same ops in the same order; empty for a healthy job."""
    problems = []
    for group in log.groups:
        ops = {rank: [c.op for c in log.of(group, rank)] for rank in group.ranks}
        first = ops[group.ranks[0]]
        for rank, mine in ops.items():
            if mine != first:
                at = next((i for i, (a, b) in enumerate(zip(mine, first, strict=False)) if a != b), None)
                where = f"op {at + 1}" if at is not None else f"length {len(mine)} against {len(first)}"
                problems.append(f"group {group.name} ({group.desc}): rank {rank} differs at {where}")
    sends = _pairs(log, "send")
    receives = _pairs(log, "recv")
    problems += [f"send {pair}: {n} sent" for pair, n in sends.items() if receives.get(pair, 0) != n]
    return problems


def _pairs(log: CallLog, op: str) -> dict[tuple[int, int, str], int]:
    ranks = {g.name: g.ranks for g in log.groups}
    out: dict[tuple[int, int, str], int] = {}
    for call in log.calls:
        if call.op == op and call.peer is not None and call.peer in ranks.get(call.group, ()):
            pair = (call.rank, call.peer) if op == "send" else (call.peer, call.rank)
            key = (pair[0], pair[1], call.group)
            out[key] = out.get(key, 0) + 1
    return out
