"""Tests upon which a rank goes through a part of the program without a message that comes in it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rankandfile.source.dependence import Reason
from rankandfile.source.dependence.syntax import ancestors, outers_within, spans
from rankandfile.source.lines.found_line import Search
from rankandfile.source.program.called import called_name
from rankandfile.source.program.modules import Function
from rankandfile.source.program.scopes import own_nodes

from .pipeline import Stage
from .rounds import quiet

_JUMPS = (ast.Continue, ast.Return, ast.Break)
_SENDS = {"send", "isend", "batch_isend_irecv", "P2POp", "send_object_list"}


def skips(
    search: Search, function: Function, loop: ast.For, owing: Stage, waiter: Stage
) -> list[tuple[ast.If, Reason]]:
    """Tests in the loop upon which a round goes by without all that comes in it, by data that may be a rank's own."""
    found = []
    for node in ast.walk(loop):
        if not isinstance(node, ast.If) or node.orelse or _in_another(function, node, loop):
            continue
        if all(quiet(function, step) for step in node.body):
            continue
        # A jump leaves out what comes behind the test; without one, it is what stands inside that may be left out.
        reason = _can_go(search, function, node, isinstance(node.body[-1], _JUMPS), owing, waiter)
        if reason is not None:
            found.append((node, reason))
    return found


def ways_around(
    search: Search, function: Function, line: int, owing: Stage, waiter: Stage
) -> list[tuple[ast.If, Reason]]:
    """Tests upon which the function comes back without what is done at the line."""
    found = []
    for node in own_nodes(function):
        if not isinstance(node, ast.If):
            continue
        for arm in arms_without(function, node, line):
            reason = _can_go(search, function, node, arm, owing, waiter)
            if reason is not None:
                found.append((node, reason))
    return found


def arms_without(function: Function, node: ast.If, line: int) -> Iterator[bool]:
    """How the test comes out for who never comes to the line."""
    for arm, other, outcome in ((node.body, node.orelse, True), (node.orelse, node.body, False)):
        if any(spans(step, line) for step in arm):
            if _sends_too(arm, line) and not {*_steps(arm, line)} & {*_steps(other)}:
                yield not outcome
        elif arm and isinstance(arm[-1], ast.Return) and arm[-1].lineno < line:
            around = outers_within(function, node)
            if all(isinstance(o, (ast.For, ast.While, ast.With)) and spans(o, line) for o in around):
                yield outcome


def _steps(arm: list[ast.stmt], line: int | None = None) -> Iterator[str]:
    """What the statements of the arm call, at that line or at any; not what they call for their arguments."""
    for step in (node for each in arm for node in ast.walk(each)):
        made = getattr(step, "value", None) if isinstance(step, (ast.Expr, ast.Assign, ast.Return)) else None
        if isinstance(step, ast.stmt) and isinstance(made, ast.Call) and (line is None or spans(step, line)):
            yield called_name(made)


def _sends_too(arm: list[ast.stmt], line: int) -> bool:
    """What is done at the line is more than to receive: whoever goes without it sends nothing there either."""
    calls = [call for step in arm for call in ast.walk(step) if isinstance(call, ast.Call)]
    at_line = {called_name(call) for call in calls if spans(call, line)}
    return bool({called_name(call) for call in calls} & _SENDS) or not any("recv" in name for name in at_line)


def _can_go(
    search: Search, function: Function, node: ast.If, outcome: bool, owing: Stage, waiter: Stage
) -> Reason | None:
    """Why the test may come out so on the one and not on the other, by no number of a rank; None: it may not."""
    reason = search.why(function, node.test)
    if reason.level == "uniform" or reason.source == "rank_api":
        return None
    if outcome not in search.one_rank(owing.rank).outcomes(node.test, function):
        return None
    return reason if reason.level != "axes" or _along_it(search, reason, owing, waiter) else None


def _along_it(search: Search, reason: Reason, one: Stage, other: Stage) -> bool:
    """The two lie along an axis along which it differs."""
    lines = (search.job.line(axis, one.rank) for axis in reason.axes)
    return any(line is not None and other.rank in line for line in lines)


def _in_another(function: Function, node: ast.AST, loop: ast.For) -> bool:
    """A loop further in: to leave one of its rounds is not to leave one of this."""
    for outer in ancestors(function.module, node):
        if outer is loop:
            return False
        if isinstance(outer, (ast.For, ast.While)):
            return True
    return True
