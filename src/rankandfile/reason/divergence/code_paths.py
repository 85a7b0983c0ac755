"""Where in the program two calls lie to each other, by their stacks.

Two stacks share their outer frames; where they part, the same function is at two lines. Calls made before tell where
the loop runs: if they part from the expected call further inside, the loop is inside the outer line, and a call from
a later line has left it, if the expected call is the first of the loop's next round. If they part in the same
function, the order of its lines is the order of the loop's body.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

import polars as pl

from rankandfile.model.case import Case
from rankandfile.model.column import Row

Relation = Literal["left", "before", "after", "end", "behind", "unknown"]
"""end: behind the last call of the loop's body so far: at the end of the body, or after the loop. behind: the same
where all calls so far came by one way, which lies before it: most likely after the loop."""
_LEAVES = ("__exit__", "__aexit__")


class Frame(NamedTuple):
    function: str
    file: str
    line: int
    leaving: bool
    """At a `with`, on the way out of it: behind the lines of its body, whatever its own line is."""


Stack = list[Frame]
"""The frames that are not torch's own, outermost first."""


def relation(case: Case, earlier: Iterable[int], expected: int | None, came: int | None) -> Relation:
    """Where the call with stack `came` lies, as against the one with stack `expected`.

    `earlier`: the stacks of the calls that the rank with the expected call made before it, latest first.
    """
    ours, theirs = stack_of(case, expected), stack_of(case, came)
    depth = _divergence_depth(ours, theirs)
    if depth is None or not _in_order(ours[depth], theirs[depth]):
        return "unknown"
    again = False
    for nth, number in enumerate(earlier):
        before = stack_of(case, number)
        at = _divergence_depth(before, ours)
        if at is None:
            again = not nth
            continue
        if at > depth:
            if theirs[depth][2] <= ours[depth][2]:
                # A loop further inside says nothing of this function; what came before that loop may.
                continue
            # In the middle of a loop's body nothing but an exception leaves the loop: then it only came too early.
            begins = _one_function(before[at], ours[at]) and before[at][2] > ours[at][2]
            return "left" if begins else "after"
        if at < depth or not _in_order(before[at], ours[at]):
            return "unknown"
        if not nth and before[depth][2] == theirs[depth][2] and _one_function(before[depth], theirs[depth]):
            return _inside(before, theirs)
        lines = before[depth][2], ours[depth][2], theirs[depth][2]
        return "behind" if again and lines == tuple(sorted(lines)) else _by_line(*lines)
    return "behind" if again and theirs[depth][2] > ours[depth][2] else "unknown"


def _divergence_depth(one: Stack, other: Stack) -> int | None:
    """The outermost frame in which the two differ; None if one runs inside the other or they are equal."""
    for depth, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b and (a[2] != b[2] or not _one_function(a, b)):
            return depth
    return None


def _one_function(one: Frame, other: Frame) -> bool:
    """The same function: a recorder gives its file's whole path and its bare name, a stack may give less and more."""
    if one[:2] == other[:2]:
        return True
    names = {frame[0].rsplit(".", 1)[-1] for frame in (one, other)}
    files = sorted((frame[1].replace("\\", "/") for frame in (one, other)), key=len)
    return len(names) == 1 and (files[0] == files[1] or files[1].endswith("/" + files[0]))


def _in_order(one: Frame, other: Frame) -> bool:
    """The order of their lines is that in which the function comes to them."""
    return _one_function(one, other) and not (one.leaving or other.leaving)


def has_left(case: Case, before: int | None, expected: int | None, came: int | None) -> bool:
    """Whether who stands at `came` is out of the function that made two calls, `expected` at a later line of it."""
    first, second, now = (stack_of(case, number) for number in (before, expected, came))
    inner, outer = _divergence_depth(first, second), _divergence_depth(second, now)
    if inner is None or outer is None or outer >= inner or not _one_function(second[outer], now[outer]):
        return False
    return _in_order(first[inner], second[inner]) and first[inner].line < second[inner].line


def lines_of_one_function(*stacks: Stack) -> tuple[int, ...] | None:
    """The lines at which the stacks differ first from the first of them, where that is for all in one function."""
    first, *others = stacks
    depths = {_divergence_depth(first, other) for other in others}
    depth = depths.pop()
    if depths or depth is None or not all(_in_order(first[depth], other[depth]) for other in others):
        return None
    return tuple(stack[depth][2] for stack in stacks)


def was_there(case: Case, earlier: Iterable[int], place: int | None, depth: int) -> bool:
    """Whether one of the earlier calls was made from where `place` stands, as far in as `depth`."""
    wanted = stack_of(case, place)[: depth + 1]
    stacks = (stack_of(case, number)[: depth + 1] for number in earlier)
    return any(
        len(stack) == len(wanted) == depth + 1 and _divergence_depth(stack, wanted) is None
        for stack in stacks
    )


def depth_of_divergence(case: Case, one: int | None, other: int | None) -> int | None:
    """How many outer frames two stacks share before they differ; None: they are equal, or one runs inside the other."""
    return _divergence_depth(stack_of(case, one), stack_of(case, other))


def elsewhere(case: Case, place: int | None, calls: Iterable[int | None]) -> bool:
    """Whether who stands at `place` is in none of these calls: the way to each of them parts from its own somewhere."""
    return all(depth_of_divergence(case, place, call) is not None for call in calls)


def _by_line(previous: int, expected: int, came: int) -> Relation:
    """The body of the loop runs from `previous` to `expected`, round its end if `expected` is the smaller."""
    if previous < expected:
        return "before" if previous < came < expected else "after"
    if came > previous:
        return "end"
    return "before" if came < expected else "after"


def _inside(before: Stack, came: Stack) -> Relation:
    """Both are on one line of the loop's body: in what that calls, a later line than that of the last call is of that
    round, and an earlier one of the next."""
    at = _divergence_depth(before, came)
    if at is None or not _in_order(before[at], came[at]):
        return "unknown"
    return "before" if came[at][2] > before[at][2] else "after"


class DivergingLines(NamedTuple):
    """The function in which two stacks part, and its two lines."""

    function: str
    file: str
    lines: tuple[int, int]


def diverging_lines(case: Case, one: int | None, other: int | None) -> DivergingLines | None:
    """Where the ways to two calls part. None if they are the same, or no function is common to them."""
    ours, theirs = stack_of(case, one), stack_of(case, other)
    depth = _divergence_depth(ours, theirs)
    if depth is None or not _one_function(ours[depth], theirs[depth]):
        return None
    here = ours[depth]
    return DivergingLines(here.function, here.file, (here.line, theirs[depth].line))


def stack_of(case: Case, number: int | None) -> Stack:
    """The frames of a stack of the case that are not torch's own, outermost first."""
    if number is None:
        return []
    rows = case.stacks.filter(pl.col("stack") == number)
    if not rows.height:
        return []
    frames = rows["frames"][0].to_list()
    known: dict[int, Row] = {
        row["frame"]: row for row in case.frames.filter(pl.col("frame").is_in(frames)).iter_rows(named=True)
    }
    ordered = [known[f] for f in reversed(frames) if f in known]
    called = [str(row["function"]).rsplit(".", 1)[-1] for row in [*ordered[1:], {"function": ""}]]
    return [
        Frame(row["function"], row["file"], row["line"], inner in _LEAVES)
        for row, inner in zip(ordered, called, strict=False)
        if not row["is_torch"]
    ]
