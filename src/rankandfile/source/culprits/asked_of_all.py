"""Who makes a call of all, behind a test on the rank that the others cannot pass: it asks for ranks that never come.

The last stage of a pipeline alone sums over the job, say, while the stages before it wait for what it sends back. Where
all have made each earlier call of that group alike, and none of them there, nobody has a call to meet this one with.
"""

from __future__ import annotations

from rankandfile.model.diagnosis import Verdict, Wait
from rankandfile.model.findings import NamedByCode
from rankandfile.model.heuristics import heuristic
from rankandfile.model.ranks import parse_ranks
from rankandfile.source.lines.call_paths import CallPath, CallPaths, Made, Stop
from rankandfile.source.lines.decision import Decision
from rankandfile.source.lines.divergence import CodeDivergence, Side
from rankandfile.source.lines.found_line import FoundLine

from .by_few import ON_RANK, sides


@heuristic(
    "asked of all",
    "a call of all behind a test on the rank, as nobody made one there before, is asked in vain",
)
def who_asks_all(
    verdict: Verdict, found: FoundLine, divergence: CodeDivergence, paths: CallPaths
) -> NamedByCode | None:
    decision = found.decision
    if decision is None or decision.condition.kind != "if" or decision.reason.source not in ON_RANK:
        return None
    stops = (decision.branching.normal, decision.branching.culprit)
    lines = {stop.line for stop in stops if isinstance(stop, Stop)}
    if verdict.cause != "undetermined" or len(verdict.waits) != 1 or "end" in stops:
        return None
    wait = verdict.waits[0]
    asking, asked = parse_ranks(wait.ranks), parse_ranks(wait.waits_for)
    for side in sides(divergence):
        other = divergence.other_than(side)
        alike = all(
            {paths.now(rank) for rank in ranks} == {of.path} for of, ranks in ((side, asking), (other, asked))
        )
        if not alike or not _stands_at(lines, decision, side) or not _none_before(wait, asking, asked, paths):
            continue
        at = found.place.at(found.line)
        return NamedByCode(
            ranks=tuple(asking),
            doing=f"made a call of all behind a test on the rank, at {at}",
            sentence=f"The code decides it: the call lies behind a test on the rank ({at}) that the others do not "
            "pass, and all earlier calls of this group were made elsewhere, by all alike.",
            cause="rank_conditional",
        )
    return None


def _stands_at(lines: set[int], decision: Decision, side: Side) -> bool:
    """The path of this side goes through the function of the test, by one of these lines."""
    depth = decision.branching.depth
    return depth < len(side.path) and side.path[depth].line in lines


def _none_before(wait: Wait, asking: list[int], asked: list[int], paths: CallPaths) -> bool:
    """All made the same calls of the group before this one, by the same paths, and none by this one's."""
    made: dict[int, list[Made]] = {rank: paths.calls(rank) for rank in asking}
    last = {rank: calls[-1] for rank, calls in made.items() if calls}
    first = next(iter(last.values()), None)
    if first is None or first.op != wait.op or len(last) < len(asking) or not first.path:
        return False
    group = first.group
    if any((call.group, call.seq, call.path) != (group, wait.seq, first.path) for call in last.values()):
        return False
    before: set[tuple[CallPath, ...]] = {_of_group(calls[:-1], group) for calls in made.values()}
    before |= {_of_group(paths.calls(rank), group) for rank in asked}
    (alike, *others) = before
    return not others and bool(alike) and all(alike) and first.path not in alike


def _of_group(calls: list[Made], group: int) -> tuple[CallPath, ...]:
    return tuple(call.path for call in calls if call.group == group)
