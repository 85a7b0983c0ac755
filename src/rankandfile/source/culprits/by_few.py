"""Whom the numbers of the two sides name, where the code shows that one of them did what was not meant.

A branch that leaves a call out, a loop over what is a rank's own, a framework's loop that a flag of the program ends:
of two such ways that the ranks took, most say what was meant.
"""

from __future__ import annotations

import ast

from rankandfile.model.diagnosis import Verdict
from rankandfile.model.findings import NamedByCode
from rankandfile.model.heuristics import Heuristic
from rankandfile.model.ranks import format_ranks, parse_ranks
from rankandfile.source.culprits.exact_cause import ran_out
from rankandfile.source.lines.decision import Decision
from rankandfile.source.lines.divergence import CodeDivergence, Side, ranks_in_words
from rankandfile.source.lines.found_line import FoundLine

ON_RANK = ("rank_api", "environment")
_FEWER = Heuristic(
    "fewer at a branch",
    "where a branch leaves a call out or puts one in, the few that took it are out of line",
)
_RAN_OUT = Heuristic(
    "ran out first", "of two sides in a loop over their own data, the one without another item is out of line"
)
_STOPPED = Heuristic(
    "stopped alone",
    "who ends a framework's loop by what the program stores, where more ranks go on, is out of line",
)


def who_ran_out(verdict: Verdict, found: FoundLine, divergence: CodeDivergence) -> NamedByCode | None:
    """A loop over what a call hands out of the rank's own data was over on one side, and no fewer go round once more.
    What an object holds is another matter: it may be as long as it should be, and the call too many."""
    side = ran_out(found)
    handed_out = found.decision is not None and isinstance(found.decision.condition.node, ast.Call)
    if side is None or not handed_out or verdict.cause == "undetermined" or _RAN_OUT.off:
        return None
    other = divergence.culprit if side is divergence.normal else divergence.normal
    if len(side.members) > len(other.members):
        return None
    file = found.place.path.rsplit("/", 1)[-1]
    return NamedByCode(
        ranks=side.members,
        doing=f"had no more to go over at {file}:{found.line}",
        sentence=f"What is gone over there is this rank's own, and {ranks_in_words(side)} had no more of it.",
        cause="uneven_inputs",
    )


def the_fewer(found: FoundLine, divergence: CodeDivergence, decision: Decision) -> NamedByCode | None:
    """One side left the function and the other made a call in it, and else they go on alike: the code shows that the
    call was left out, or made besides; of two such ways the one that few took is out of line."""
    branching = decision.branching
    few, many = sorted(sides(divergence), key=lambda side: len(side.members))
    left_out = "end" in (branching.normal, branching.culprit)
    if not left_out or branching.rounds or branching.guessed or decision.reason.source in ON_RANK:
        return None
    if decision.reason.level != "varying" or 2 * len(few.members) > len(many.members) or _FEWER.off:
        return None
    gone = divergence.normal if branching.normal == "end" else divergence.culprit
    did = "left without the call" if few is gone else "made a call"
    return NamedByCode(
        ranks=few.members,
        doing=f"went another way than most at {found.place.path.rsplit('/', 1)[-1]}:{decision.condition.line}",
        sentence=f"There {ranks_in_words(few)} {did} that {ranks_in_words(many)} "
        f"{'made' if few is gone else 'went without'}, and nothing else parts them: most say what was meant.",
        cause="skipped_collective" if few is gone else "extra_collective",
    )


def who_put_off(found: FoundLine, divergence: CodeDivergence) -> NamedByCode | None:
    """Upon what is their own, a few exchanged gradients in another backward pass than most."""
    few, many = sorted(sides(divergence), key=lambda side: len(side.members))
    if found.reason is None or found.reason.level != "varying" or found.reason.source in ON_RANK:
        return None
    if 2 * len(few.members) > len(many.members) or _FEWER.off:
        return None
    return NamedByCode(
        ranks=few.members,
        doing=f"went another way than most at {found.place.path.rsplit('/', 1)[-1]}:{found.line}",
        sentence=f"In which backward pass gradients are exchanged was decided there otherwise on {ranks_in_words(few)} "
        f"than on {ranks_in_words(many)}: most say what was meant.",
    )


def who_added_otherwise(verdict: Verdict, found: FoundLine, divergence: CodeDivergence) -> NamedByCode | None:
    """What was added since a library asked last says which calls it makes: upon their own data, few added otherwise."""
    few, many = sorted(sides(divergence), key=lambda side: len(side.members))
    suspects = {one.rank for one in verdict.suspects}
    if found.reason is None or found.reason.level != "varying" or found.reason.source in ON_RANK:
        return None
    if 2 * len(few.members) > len(many.members) or suspects - {*few.members} or _FEWER.off:
        return None
    return NamedByCode(
        ranks=few.members,
        doing=f"added otherwise than most at {found.place.path.rsplit('/', 1)[-1]}:{found.line}",
        sentence=f"What was added there was decided otherwise on {ranks_in_words(few)} than on {ranks_in_words(many)}: "
        "most say what was meant.",
    )


def who_stopped(verdict: Verdict, found: FoundLine, divergence: CodeDivergence) -> NamedByCode | None:
    """A framework's loop was stopped on fewer ranks than go on, by what the program stores for it."""
    everybody = sum(len(side.members) for side in sides(divergence))
    suspects = {one.rank for one in verdict.suspects}
    if not found.singled or 2 * len(found.singled) >= everybody or _STOPPED.off:
        return None
    if suspects and suspects != {*found.singled}:
        return None
    who = format_ranks([*found.singled])
    who = f"rank {who}" if len(found.singled) == 1 else f"ranks {who}"
    return NamedByCode(
        ranks=found.singled,
        doing=f"stopped alone, upon {found.place.path.rsplit('/', 1)[-1]}:{found.line}",
        sentence=f"The framework's loop ended on {who} alone, and more ranks went on: the ranks did not agree to stop.",
    )


def who_left_a_loop(found: FoundLine) -> NamedByCode:
    """One stage of a pipeline is behind a loop in which all others wait, or alone still in it."""
    (rank,), left = found.singled, found.kind != "stayed_in_loop"
    file = found.place.path.rsplit("/", 1)[-1]
    counted = found.kind != "fewer_items" and (
        "range(" in (found.condition or "") or not (found.condition or "").startswith(("for ", "yield"))
    )
    return NamedByCode(
        ranks=found.singled,
        doing=f"{'left a loop that other stages are in' if left else 'is in a loop that other stages left'}, by "
        f"{file}:{found.line}",
        sentence=f"All of them wait for another rank, and rank {rank} alone is out of step with the stages around it.",
        cause="extra_collective" if not left else "early_exit" if counted else "uneven_inputs",
    )


def who_left_a_message_out(found: FoundLine) -> NamedByCode | None:
    """A stage has gone through a round without a message that another waits for, upon its own data."""
    if found.reason is None or found.reason.level not in ("varying", "axes"):
        return None
    (rank,), file = found.singled, found.place.path.rsplit("/", 1)[-1]
    return NamedByCode(
        ranks=found.singled,
        doing=f"left out a message that another waits for, by {file}:{found.line}",
        sentence=f"Rank {rank} is asked for more messages than it sent.",
        cause="skipped_collective",
    )


def who_came_alone(verdict: Verdict, found: FoundLine) -> NamedByCode | None:
    """A test on the rank lets them to a call that it keeps all others from."""
    suspects = {one.rank for one in verdict.suspects}
    if (
        found.reason is None
        or found.reason.source not in ON_RANK
        or (suspects and suspects != {*found.singled})
    ):
        return None
    return NamedByCode(
        ranks=found.singled,
        doing=f"made a call that no other can come to, by {found.place.path.rsplit('/', 1)[-1]}:{found.line}",
        sentence="The code decides it: a test on the rank keeps the others from that call.",
        cause="rank_conditional",
    )


def who_made_another(verdict: Verdict, found: FoundLine) -> NamedByCode | None:
    """Few are the odd ones by a group that they alone have used, or not used, and the code shows that it is made by
    some ranks only."""
    suspects = tuple(one.rank for one in verdict.suspects)
    if not suspects or found.reason is None or found.reason.level != "varying":
        return None
    return NamedByCode(
        ranks=suspects,
        doing=verdict.suspects[0].doing or "made other groups than the others",
        sentence="The code agrees: not every rank comes to make that group.",
    )


def sides(divergence: CodeDivergence) -> tuple[Side, Side]:
    return divergence.normal, divergence.culprit


def parsed(ranks: str) -> list[int]:
    try:
        return parse_ranks(ranks)
    except ValueError:
        return []
