"""A verdict that somebody proposes, held against the case: what supports it, what speaks against it."""

from __future__ import annotations

from collections.abc import Iterator

from rankandfile.agent.bench import Bench
from rankandfile.agent.choose import ranks_of
from rankandfile.agent.evidence_ranks import ranks_of_evidence
from rankandfile.agent.result import Answer, Line, line, who
from rankandfile.agent.tool import Arguments, Tool
from rankandfile.model.causes import CAUSES
from rankandfile.model.diagnosis import Confidence, Verdict
from rankandfile.source.files.text import without_comment

_STRENGTH: dict[Confidence, int] = {"hypothesis": 0, "supported": 1, "established": 2}


class Proposal(Arguments, frozen=True):
    cause: str
    """A word of the taxonomy: skipped_collective, early_exit, raised, killed, host_blocked, undetermined, ..."""
    culprits: str = ""
    """Ranks, as 3 or 0-6,8; empty: nobody."""
    confidence: Confidence = "hypothesis"
    """established (it follows), supported (an alternative remains), hypothesis (consistent, unproved)."""
    file: str | None = None
    line: int | None = None
    condition: str | None = None
    """The condition as it is written at that line."""
    evidence: tuple[str, ...] = ()
    """Ids that support it."""


def propose_verdict(bench: Bench, asked: Proposal) -> Iterator[Line]:
    """Holds a verdict against the case before it reaches a person: the evidence must exist and be about its culprits,
    no culprit may only wait, the place and the condition must be in the source, and the confidence must be earned."""
    culprits = ranks_of(asked.culprits)
    verdicts = bench.diagnosis.verdicts
    same = next((one for one in verdicts if one.cause == asked.cause and _culprits(one) == culprits), None)
    machine, agrees = same or next(iter(verdicts), None), same is not None
    problems = list(_problems(bench, asked, culprits))
    if not problems and not agrees and _STRENGTH[asked.confidence]:
        problems.append("it differs from what the rules conclude, so that it is no more than a hypothesis")
    if not problems and agrees and machine is not None:
        problems += _too_sure(asked, machine)
    real = [one for one in asked.evidence if bench.case.evidence(one) is not None]
    verdict: Answer = "not accepted" if problems else "accepted"
    yield line(f"{verdict}: {asked.cause} of {_named(culprits)} ({asked.confidence}).", *real, answer=verdict)
    for problem in problems:
        yield line(f"- {problem}")
    if machine is not None:
        how = "The rules conclude the same" if agrees else "The rules conclude otherwise"
        yield line(
            f"{how}: {machine.cause} of {_named(_culprits(machine))} ({machine.confidence}).",
            *machine.evidence,
        )


def _too_sure(asked: Proposal, machine: Verdict) -> Iterator[str]:
    """Who repeats a verdict is not surer than it, nor sure of a place that it does not name."""
    if _STRENGTH[asked.confidence] > _STRENGTH[machine.confidence]:
        yield f"the rules call it {machine.confidence}, and no more"
    where = machine.location
    same_place = where is not None and (where.file, where.line) == (asked.file, asked.line)
    if asked.file is not None and not same_place and _STRENGTH[asked.confidence]:
        named = f"{where.file}:{where.line}" if where is not None else "none"
        yield f"the place that the rules name is {named}: another one is no more than a hypothesis"


def _named(ranks: list[int]) -> str:
    return who(ranks) if ranks else "nobody"


def _culprits(verdict: Verdict) -> list[int]:
    return sorted(culprit.rank for culprit in verdict.culprits)


def _problems(bench: Bench, asked: Proposal, culprits: list[int]) -> Iterator[str]:
    if asked.cause not in CAUSES:
        yield f"'{asked.cause}' is no cause; the causes are {', '.join(CAUSES)}"
    if not asked.evidence and (culprits or asked.cause not in ("undetermined", "no_hang")):
        yield "it cites nothing"
    about: set[int] = set()
    for one in asked.evidence:
        if bench.case.evidence(one) is None:
            yield f"there is no evidence {one}"
        about |= ranks_of_evidence(bench, one)
    # Of a rank that the rules blame and that left nothing, what speaks is that the others wait for it.
    left_nothing = bench.culprits - set(bench.case.ranks_seen)
    uncited = [rank for rank in culprits if rank not in about | left_nothing]
    if uncited:
        yield f"nothing that it cites is about {who(uncited)}"
    innocent = [rank for rank in culprits if rank not in bench.culprits and _only_waits(bench, rank)]
    if innocent:
        yield f"waiting in a call that others have not joined, and so victims, are {who(innocent)}"
    yield from _place_problems(bench, asked)


def _only_waits(bench: Bench, rank: int) -> bool:
    """Whether it waits for others, whom nothing holds: not for itself, not in a circle, in no disputed call."""
    waits = bench.facts.waits
    calls = [waits.pending[index] for index in waits.of_rank.get(rank, ())]
    in_root = any(rank in root.ranks for root in bench.facts.wait_ends)
    waited_for = any(rank in (*one.lacking, *one.behind, *one.unknown) for one in waits.pending)
    lacks = any({*one.lacking, *one.behind} - {rank} for one in calls)
    return lacks and not in_root and not waited_for and not any(one.mismatched for one in calls)


def _place_problems(bench: Bench, asked: Proposal) -> Iterator[str]:
    if asked.file is None:
        if asked.condition is not None:
            yield "a condition needs its file and line"
        return
    lines = bench.source_lines(asked.file)
    if lines is None:
        if bench.tree is not None:
            yield f"the source has no file '{asked.file[:200]}'"
        return
    if asked.line is None:
        return
    if not 1 <= asked.line <= len(lines):
        yield f"{asked.file} has {len(lines)} lines"
    elif asked.condition is not None:
        here = " ".join(one.strip() for one in lines[asked.line - 1 : asked.line + 30])
        first = without_comment(lines[asked.line - 1]).strip()
        if not (here.startswith(asked.condition.strip()) or asked.condition.strip() in first):
            yield f"line {asked.line} of {asked.file} reads `{first[:200]}`"


ORDER = 200
TOOL = Tool(propose_verdict, Proposal)
