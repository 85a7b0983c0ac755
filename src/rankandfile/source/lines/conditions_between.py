"""The conditions between the two places to which the ranks went: what came out otherwise on one side than on the other.

In: a function, and where each side went on in it. Out: the tests, loops and handlers that lie between.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rankandfile.source.dependence.syntax import spans
from rankandfile.source.flow import Condition, Exit, Point, deciding
from rankandfile.source.program.modules import Function
from rankandfile.source.program.scopes import own_nodes

from .branchings import Branching
from .call_paths import Stop
from .exception_origin import raises_on
from .program_exit import exits_in


def conditions_of(
    function: Function, branching: Branching, raising: bool = False, returned: bool = False
) -> Iterator[Condition]:
    """`returned`: the side that is not seen in the function any more came out of it by no exception."""
    here, there = branching.normal, branching.culprit
    if here == "end":
        here, there = there, here
    if not isinstance(here, Stop) or not _inside(function, here):
        return
    if isinstance(there, Stop) and not _inside(function, there):
        return
    if branching.after is not None and not _inside(function, branching.after):
        return
    if branching.handed_out and (between := _between_yields(function, _point(here))):
        yield from between
        return
    after = _point(branching.after) if branching.after is not None else None
    ends: list[int | Point | Exit] = (
        [_point(there)] if isinstance(there, Stop) else ["return" if returned else "end"]
    )
    if not isinstance(there, Stop) and not returned:
        # To end the process is to leave the function too.
        ends += [statement.lineno for statement, _ in exits_in(function)]
    seen: set[int] = set()
    for end in ends:
        for condition in deciding(function, _point(here), end, after):
            # That any call may raise is true everywhere; a handler for it, from which the program goes on, is
            # another matter.
            if (
                (condition.kind == "call") is raising
                and not _ends(condition)
                and id(condition.node) not in seen
            ):
                seen.add(id(condition.node))
                yield condition
    if branching.after is not None and branching.after.call is not None and not isinstance(there, Stop):
        # What the last call in common was made from can still have raised, on its way back.
        for condition in deciding(function, _point(here), "end"):
            inside = condition.kind == "except" and _covers(function, condition.node, branching.after.line)
            if inside and not _ends(condition):
                yield condition
        yield from _tried_again(function, branching.after.line, here.line)


def _between_yields(function: Function, here: int | Point) -> list[Condition]:
    """What decides, from one `yield` on, whether the line is reached before the next: both sides are still in it."""
    yields = [node.lineno for node in own_nodes(function) if isinstance(node, (ast.Yield, ast.YieldFrom))]
    found = [c for line in yields for to in yields for c in deciding(function, here, to, line)]
    return [c for c in {id(c.node): c for c in found}.values() if c.kind != "call" and not _ends(c)]


def _tried_again(function: Function, after: int, here: int) -> Iterator[Condition]:
    """Handlers inside a loop around both: what was called raised on its way back, and was called once more."""
    for loop in function.nodes:
        if not isinstance(loop, (ast.For, ast.While)) or not spans(loop, after) or not spans(loop, here):
            continue
        for handler in ast.walk(loop):
            if isinstance(handler, ast.ExceptHandler) and _covers(function, handler, after):
                text = function.module.line_at(handler.lineno)
                condition = Condition(handler.lineno, text, "except", "raised", "not raised", handler)
                if not _ends(condition):
                    yield condition


def _ends(condition: Condition) -> bool:
    return isinstance(condition.node, ast.ExceptHandler) and raises_on(condition.node)


def _covers(function: Function, handler: ast.AST, line: int) -> bool:
    """Whether the handler's `try` holds the line."""
    return any(
        isinstance(node, ast.Try)
        and handler in node.handlers
        and node.body[0].lineno <= line <= (node.body[-1].end_lineno or 0)
        for node in function.nodes
    )


def _inside(function: Function, stop: Stop) -> bool:
    return function.first_line <= stop.line <= function.last_line


def _point(stop: Stop) -> int | Point:
    """Which of the calls on its line it is, where that is known."""
    return Point(stop.line, stop.call) if stop.call is not None else stop.line


def by_raising_alone(function: Function, branching: Branching, condition: Condition) -> bool:
    """Whether both ways of a test lead to where one side went, unless a call on one of them raises."""
    here, there = branching.normal, branching.culprit
    if here == "end":
        here, there = there, here
    if isinstance(there, Stop) or not isinstance(here, Stop):
        return False
    if condition.kind not in ("if", "while", "for", "ifexp", "boolop", "comprehension") or any(
        exits_in(function)
    ):
        return False
    after = _point(branching.after) if branching.after is not None else None
    calm = deciding(function, _point(here), "own", after)
    return all(one.node is not condition.node for one in calm)
