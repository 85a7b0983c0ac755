"""Where an exception of a step can end inside the same function: handlers, and context managers that swallow it."""

from __future__ import annotations

import ast

from msgspec import Struct

from rankandfile.source.flow.condition import Condition, written
from rankandfile.source.flow.graph import RAISED, Node
from rankandfile.source.program.modules import Function


class Handler(Struct, frozen=True, eq=False):
    entry: Node
    """The step that control comes to."""
    owner: ast.ExceptHandler | ast.With | ast.AsyncWith
    caught: ast.expr | None
    """The types that it takes; None: any, or it is not known."""

    @property
    def body(self) -> list[ast.stmt]:
        return self.owner.body if isinstance(self.owner, ast.ExceptHandler) else []

    def condition(self, function: Function, raising: ast.AST) -> Condition:
        line = self.owner.lineno
        text = written(function.module.lines, self.owner, line)
        return Condition(line, text, "call", "raised", "returned", raising)


def handlers(node: Node) -> list[Handler]:
    """Those that an exception of this step can come to first."""
    stack = [follower for outcome, follower in node.edges if outcome == RAISED]
    found: list[Handler] = []
    seen = set(stack)
    while stack:
        step = stack.pop()
        if isinstance(step.what, ast.ExceptHandler) and step.binds:
            found.append(Handler(step, step.what, step.what.type))
            continue
        decides = step.decision is not None and step.decision.kind == "with"
        if (
            decides
            and step.decision is not None
            and isinstance(step.decision.owner, (ast.With, ast.AsyncWith))
        ):
            entry = step.decision.then
            if entry is not None:
                found.append(Handler(entry, step.decision.owner, _types(step.what)))
        elif step.what is not None and not isinstance(step.what, ast.ExceptHandler):
            continue
        for outcome, follower in step.edges:
            onwards = ("false", "") if decides else ("true", "false", "")
            if outcome in onwards and follower not in seen:
                seen.add(follower)
                stack.append(follower)
    return found


def _types(manager: ast.AST | None) -> ast.expr | None:
    """`suppress(OSError)`: what is given, if that is nothing but names."""
    given = manager.args if isinstance(manager, ast.Call) and not manager.keywords else []
    if not given or not all(isinstance(each, (ast.Name, ast.Attribute)) for each in given):
        return None
    return ast.copy_location(ast.Tuple(list(given), ast.Load()), given[0])
