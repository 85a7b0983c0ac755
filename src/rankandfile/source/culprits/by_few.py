"""Whom the numbers of the two sides name, where the code shows that one of them did what was not meant.

A branch upon which another call is made, a loop over what is a rank's own: of two such ways that the ranks took, most
say what was meant.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from rankandfile.model.causes import LEFT_MESSAGE_OUT
from rankandfile.model.diagnosis import Verdict
from rankandfile.model.findings import NamedByCode
from rankandfile.model.heuristics import Heuristic
from rankandfile.model.ranks import format_ranks
from rankandfile.source.culprits.own_items import ran_out
from rankandfile.source.dependence import axes_of
from rankandfile.source.effects.event import event
from rankandfile.source.lines.arguments import calls_on
from rankandfile.source.lines.call_paths import CallPaths, Stop
from rankandfile.source.lines.divergence import CodeDivergence, Side, ranks_in_words, ranks_of
from rankandfile.source.lines.found_line import FoundLine
from rankandfile.source.program.places import place_in

ON_RANK = ("rank_api", "environment")
_FEWER = Heuristic(
    "fewer at a branch",
    "where a branch says which call is made, upon what is each one's own, the few that took it are out of line",
)
_ASKED = Heuristic(
    "asked the framework",
    "who alone, upon its own data, asked a framework for what it then did is out of line, if no more than the others",
)
_RAN_OUT = Heuristic(
    "ran out first", "of two sides in a loop over their own data, the one without another item is out of line"
)


def upon_its_own(found: FoundLine) -> bool:
    """It is decided by what varies from rank to rank, and is not what each rank is in the job."""
    reason = found.reason
    return reason is not None and reason.level == "varying" and reason.source not in ON_RANK


def who_ran_out(verdict: Verdict, found: FoundLine, divergence: CodeDivergence) -> NamedByCode | None:
    """A loop over what a call hands out of the rank's own data was over on one side, and no fewer go round once more.
    What an object holds is another matter: it may be as long as it should be, and the call too many."""
    side = ran_out(found)
    handed_out = found.decision is not None and isinstance(found.decision.condition.node, ast.Call)
    if side is None or not handed_out or verdict.cause == "undetermined" or _RAN_OUT.off:
        return None
    other = divergence.other_than(side)
    if len(side.members) > len(other.members):
        return None
    return NamedByCode(
        ranks=side.members,
        doing=f"had no more to go over at {found.at}",
        sentence=f"What is gone over there is this rank's own, and {ranks_in_words(side)} had no more of it.",
        cause="uneven_inputs",
    )


def who_had_fewer(found: FoundLine, divergence: CodeDivergence) -> NamedByCode | None:
    """The side that had no batch left in a framework's loop, as its way shows; if they are no more than the others."""
    ended = next((side for side in sides(divergence) if side.members == found.singled), None)
    if ended is None or len(ended.members) > len(divergence.other_than(ended).members) or _RAN_OUT.off:
        return None
    return NamedByCode(
        ranks=ended.members,
        doing=f"had no batch left, as it seems, of what is shared out at {found.at}",
        sentence=f"Unless something else ended their loop, the data of {ranks_in_words(ended)} were over first.",
        cause="uneven_inputs",
    )


def _few_of_many(found: FoundLine, divergence: CodeDivergence) -> tuple[Side, Side] | None:
    """The two sides, where one is at most half of the other and what is each one's own decided."""
    few, many = sorted(sides(divergence), key=lambda side: len(side.members))
    if not upon_its_own(found) or 2 * len(few.members) > len(many.members) or _FEWER.off:
        return None
    return few, many


def who_put_off(found: FoundLine, divergence: CodeDivergence) -> NamedByCode | None:
    """Upon what is their own, a few exchanged gradients in another backward pass than most."""
    few_of_many = _few_of_many(found, divergence)
    if few_of_many is None:
        return None
    few, many = few_of_many
    return NamedByCode(
        ranks=few.members,
        doing=f"went another way than most at {found.at}",
        sentence=f"In which backward pass gradients are exchanged was decided there otherwise on {ranks_in_words(few)} "
        f"than on {ranks_in_words(many)}: most say what was meant.",
    )


def who_is_odd(
    verdict: Verdict, found: FoundLine, divergence: CodeDivergence, unusual: Side | None
) -> NamedByCode | None:
    """A few went apart from all others, and what sent them there is each one's own: it struck few.

    `unusual`: the side that did otherwise than in all rounds before. Where no stacks show a few apart, it is to be
    they, unless a loop came to its end: it does so once only, and no round before says when. Of who is
    at which item of a loop, where only stacks tell, most may be further on."""
    if found.kind in ("items", "order") and (
        divergence.normal.call is None or divergence.culprit.call is None
    ):
        return None
    few_of_many = _few_of_many(found, divergence)
    if few_of_many is None:
        return None
    few, many = few_of_many
    suspects = {one.rank for one in verdict.suspects}
    if suspects != {*few.members} and (suspects or not _all_told(verdict, divergence)):
        return None
    if not suspects and unusual is not few and not _a_loop_ended(found):
        return None
    if _among_few(verdict, found, few):
        return None
    return NamedByCode(
        ranks=few.members,
        doing=f"went another way than most at {found.at}",
        sentence=f"What is decided there is each rank's own, and {ranks_in_words(few)} went another way than "
        f"{ranks_in_words(many)}: most say what was meant.",
    )


def _among_few(verdict: Verdict, found: FoundLine, few: Side) -> bool:
    """By stacks alone, they wait in a call that is for a part of the ranks: who waits there alone has been left alone,
    by one of those that are elsewhere."""
    place = found.decision.place if found.decision is not None else None
    if place is None or (verdict.divergence is not None and verdict.divergence.members):
        return False
    lines = [f.line for f in few.path if f.function == place.function.name and f.file.endswith(place.path)]
    calls = [call for line in lines for call in calls_on(place_in(place.function, line), Stop(line))]
    known = [each for call in calls if (each := event(call, place.function)) is not None]
    program = place.module.program
    return any(
        each.group is not None and axes_of(program, each.function, each.group) is not None for each in known
    )


def _all_told(verdict: Verdict, divergence: CodeDivergence) -> bool:
    """Every member of the group in which it shows is on one side, and so is everybody who waits."""
    told = {rank for side in sides(divergence) for rank in side.members}
    waiting = {rank for wait in verdict.waits for rank in ranks_of(wait.ranks)}
    members = verdict.divergence.members if verdict.divergence is not None else None
    return bool(members) and told == {*ranks_of(members or ""), *waiting}


def _a_loop_ended(found: FoundLine) -> bool:
    decision = found.decision
    return decision is not None and decision.condition.kind in ("while", "for")


def who_added_otherwise(verdict: Verdict, found: FoundLine, divergence: CodeDivergence) -> NamedByCode | None:
    """What was added since a library asked last says which calls it makes: upon their own data, few added otherwise."""
    few_of_many = _few_of_many(found, divergence)
    if few_of_many is None or {one.rank for one in verdict.suspects} - {*few_of_many[0].members}:
        return None
    few, many = few_of_many
    return NamedByCode(
        ranks=few.members,
        doing=f"added otherwise than most at {found.at}",
        sentence=f"What was added there was decided otherwise on {ranks_in_words(few)} than on {ranks_in_words(many)}: "
        "most say what was meant.",
    )


def who_asked_for_it(
    verdict: Verdict, found: FoundLine, divergence: CodeDivergence, paths: CallPaths
) -> NamedByCode | None:
    """Upon what is its own, or what nothing shows to be the same everywhere, a side asked its framework for what the
    other did not ask for, and no fewer did not: what a framework does unasked, all its ranks do. Where nothing shows
    it, and one side is as large as the other, it is to be what the other never did: else it may have been due."""
    others = [side for side in sides(divergence) if side.members != found.singled]
    suspects = {one.rank for one in verdict.suspects}
    unshown = found.reason is None or found.reason.level == "unknown"
    if not (upon_its_own(found) or unshown) or _ASKED.off:
        return None
    if len(others) != 1 or len(found.singled) > len(others[0].members) or suspects - {*found.singled}:
        return None
    if unshown and len(found.singled) == len(others[0].members):
        side = divergence.other_than(others[0])
        if side.path and any(made.path == side.path for made in paths.calls(others[0].rank)):
            return None
    return NamedByCode(
        ranks=found.singled,
        doing=f"went another way than its peers at {found.at}",
        sentence=f"{'Nothing shows that all' if unshown else 'Not all'} ranks are asked the same there: upon it the "
        "framework did what it did not do on the others.",
    )


def who_left_a_loop(found: FoundLine) -> NamedByCode:
    """One stage of a pipeline is behind a loop in which all others wait, or alone still in it."""
    (rank,), left = found.singled, found.kind != "stayed_in_loop"
    counted = found.kind != "fewer_items" and (
        "range(" in (found.condition or "") or not (found.condition or "").startswith(("for ", "yield"))
    )
    return NamedByCode(
        ranks=found.singled,
        doing=f"{'left a loop that other stages are in' if left else 'is in a loop that other stages left'}, by "
        f"{found.at}",
        sentence=f"All of them wait for another rank, and rank {rank} alone is out of step with the stages around it.",
        cause="extra_collective" if not left else "early_exit" if counted else "uneven_inputs",
    )


def who_left_a_message_out(found: FoundLine) -> NamedByCode | None:
    """A stage has gone through a round without a message that another waits for, upon its own data."""
    if found.reason is None or found.reason.level not in ("varying", "axes"):
        return None
    (rank,) = found.singled
    return NamedByCode(
        ranks=found.singled,
        doing=f"{LEFT_MESSAGE_OUT} that another waits for, by {found.at}",
        sentence=f"Rank {rank} is asked for more messages than it sent.",
        cause="skipped_collective",
    )


def who_is_a_round_ahead(found: FoundLine) -> NamedByCode:
    """They wait for a message of a later round than that in which all others wait for them."""
    ranks = found.singled
    who = f"rank {ranks[0]} waits" if len(ranks) == 1 else f"ranks {format_ranks({*ranks})} wait"
    return NamedByCode(
        ranks=ranks,
        doing="went by a call that the others wait in, and on to the next round",
        sentence="Whoever waits in the collective has had all messages of its round: the message that "
        f"{who} in is of a later one.",
        cause="skipped_collective",
    )


OF_STAGES: dict[str, Callable[[FoundLine], NamedByCode | None]] = {
    **dict.fromkeys(("left_loop", "stayed_in_loop", "fewer_items"), who_left_a_loop),
    "left_out_message": who_left_a_message_out,
    "round_ahead": who_is_a_round_ahead,
}
"""By the kind of the line that says where the stages of a pipeline stand."""


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
        doing=f"made a call that no other can come to, by {found.at}",
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
