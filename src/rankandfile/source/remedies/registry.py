"""The fix patterns in the order in which they are tried, and the first that has a patch."""

from __future__ import annotations

from rankandfile.source.program.modules import Files

from .code import Code
from .edit import CannotEdit
from .patch import Patch, Refusal
from .pattern import Pattern, finished
from .patterns import (
    agree_on_exceptions,
    any_length,
    dump_before_tear_down,
    even_loops,
    every_receive_its_send,
    groups_by_all,
    one_order_of_groups,
    out_of_rank_guard,
    reduce_decision,
    reduce_first,
    same_order,
    same_root,
    send_and_receive_together,
    stand_in,
    synced_gpus,
    tear_down_after_success,
    time_for_solo_work,
    without_wrapper,
)
from .place import Place, place_of
from .problem import Problem

#: The particular ones first: each knows more of its place than those behind it.
PATTERNS: tuple[Pattern, ...] = (
    synced_gpus.PATTERN,
    send_and_receive_together.PATTERN,
    one_order_of_groups.PATTERN,
    same_order.PATTERN,
    even_loops.PATTERN,
    agree_on_exceptions.PATTERN,
    stand_in.PATTERN,
    every_receive_its_send.PATTERN,
    without_wrapper.PATTERN,
    out_of_rank_guard.PATTERN,
    same_root.PATTERN,
    any_length.PATTERN,
    groups_by_all.PATTERN,
    time_for_solo_work.PATTERN,
    reduce_first.PATTERN,
    reduce_decision.PATTERN,
    tear_down_after_success.PATTERN,
    dump_before_tear_down.PATTERN,
)


def patches(problem: Problem, files: Files | Code, plain: bool = False) -> list[Patch | Refusal]:
    """What every pattern that serves the cause has to say of the place, patches first.

    Raises `LibCSTMissing`.
    """
    code = files if isinstance(files, Code) else Code(files)
    place = place_of(problem, code)
    if place is None:
        return [Refusal("", f"the source shows no decision at {problem.file}:{problem.line}")]
    found = [
        answer
        for pattern in PATTERNS
        if problem.cause in pattern.causes
        if (answer := _tried(pattern, place, plain))
    ]
    return sorted(found, key=lambda answer: isinstance(answer, Refusal))


def patched(problem: Problem, files: Files | Code, plain: bool = False) -> Patch | Refusal:
    """The patch for a problem, or why there is none. Raises `LibCSTMissing`."""
    found = patches(problem, files, plain)
    return found[0] if found else Refusal("", f"no pattern mends {problem.cause} at such a place")


def _tried(pattern: Pattern, place: Place, plain: bool) -> Patch | Refusal | None:
    try:
        draft = pattern.make(place, plain)
        if draft is None or isinstance(draft, Refusal):
            return draft
        patch = finished(pattern, draft)
    except CannotEdit as error:
        return Refusal(pattern.name, str(error))
    except RecursionError:
        return Refusal(pattern.name, "the code is nested too deeply to be edited")
    return patch if patch.before != patch.after else None
