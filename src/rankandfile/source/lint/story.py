"""A parting as a person reads it: the guard, why it can differ, what is skipped, what the others do, what to change."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from rankandfile.model.lint import Flagged, Severity, Told
from rankandfile.source.dependence.syntax import text
from rankandfile.source.effects.parting import SWALLOWS, Parting
from rankandfile.source.program.modules import Function

from .rule import Found

_LEAVES = {
    "": "goes on without it",
    "return": "returns before it",
    "break": "leaves the loop before it",
    "continue": "goes to the next round before it",
    "raise": "raises before it",
    "exit": "ends its process before it",
    "loop": "has left the loop",
    "caught": "handles the exception and goes on without it",
}


_ORDERED = ("collective-in-own-order", "collective-in-set-iteration")


def of_parting(parting: Parting, rule: str, severity: Severity, fix: str) -> Flagged:
    function, condition, event = parting.function, parting.condition, parting.event
    path = function.module.path
    outcome = _outcome(parting)
    what = f"`{event.op}`"
    if isinstance(parting.owner, SWALLOWS) and not parting.when:
        message = f"a rank that comes to `{condition.text}` calls {what} once more than the others: {_place(parting)}"
    elif parting.leaving in ("return", "break", "continue", "raise", "exit", "caught"):
        message = (
            f"a rank that comes to `{condition.text}` {_LEAVES[parting.leaving]}: {what} at {_place(parting)}"
        )
    elif parting.leaving == "loop" and rule in _ORDERED:
        message = f"{what} is called in each round of `{condition.text}`, in an order of each rank's own"
    elif parting.leaving == "loop":
        message = (
            f"{what} is called in every round of `{condition.text}`, which ranks can leave at different times"
        )
    elif (asked := _asked_before(parting)) is not None:
        message = f"{what} is called only by ranks for which `{asked}` is {outcome}"
    else:
        message = f"{what} is called only by ranks for which `{condition.text}` is {outcome}"
    story = [
        Told(
            file=path, line=condition.line, words=f"this can differ between ranks: {parting.reason.sentence}"
        )
    ]
    chain = ((step.file, step.line, step.words) for step in parting.reason.chain)
    story.extend(_on_the_way(chain, (path, condition.line)))
    for caller, _step, _number, call in parting.calls:
        story.append(Told(file=caller.module.path, line=call.lineno, words=f"calls `{text(call, 60)}`"))
    issued = Told(
        file=event.function.module.path,
        line=event.line,
        words=f"`{text(event.site, 60)}`: {event.words}{_on(parting)}",
    )
    story.append(issued)
    others = _LEAVES[parting.leaving]
    if parting.instead is not None and parting.instead.op != event.op:
        others += (
            f", to `{parting.instead.op}` at {parting.instead.function.module.path}:{parting.instead.line}"
        )
    story.append(
        Told(
            file=path, line=condition.line, words=f"whoever decides otherwise {others}; the rest waits for it"
        )
    )
    return Flagged(
        rule=rule,
        severity=severity,
        file=path,
        line=condition.line,
        code=condition.text,
        message=message,
        story=tuple(story),
        fix=fix,
        function=function.qualname,
    )


def of_found(found: Found, rule: str) -> Flagged:
    function = found.function
    line = getattr(found.node, "lineno", function.first_line)
    lines = function.module.lines
    return Flagged(
        rule=rule,
        severity=found.severity,
        file=function.module.path,
        line=line,
        code=lines[line - 1].strip() if 0 < line <= len(lines) else "",
        message=found.message,
        story=(
            *(Told(file=f.module.path, line=at, words=words) for f, at, words in found.story[:1]),
            *_on_the_way(found.steps, (function.module.path, line)),
            *(Told(file=f.module.path, line=at, words=words) for f, at, words in found.story[1:]),
        ),
        fix=found.fix,
        function=function.qualname,
    )


def _on_the_way(chain: Iterable[tuple[str, int, str]], start: tuple[str, int]) -> Iterator[Told]:
    """How it comes to differ, step by step; what is said of the finding's own line is said already."""
    for file, line, words in chain:
        if (file, line) != start:
            yield Told(file=file, line=line, words=words)


def _asked_before(parting: Parting) -> str | None:
    """The part of a test that is asked before the part that makes the call; None where the test makes none."""
    test = getattr(parting.owner, "test", None)
    if not isinstance(test, ast.BoolOp) or not _is_in(parting, test):
        return None
    return text(parting.condition.node)


def _is_in(parting: Parting, outer: ast.AST) -> bool:
    return any(parting.event.site is node or _calls(parting, node) for node in ast.walk(outer))


def _outcome(parting: Parting) -> str:
    owner = parting.owner
    if isinstance(owner, ast.If) and not _is_in(parting, owner.test):
        return "true" if any(_is_in(parting, s) for s in owner.body) else "false"
    return "true" if parting.when else "false"


def _calls(parting: Parting, node: ast.AST) -> bool:
    """By its place: a call that a thread makes is made up where the thread is given the function."""
    if not parting.calls or not isinstance(node, ast.expr):
        return False
    call = parting.calls[0][3]
    return call is node or (
        isinstance(node, ast.Call) and (call.lineno, call.col_offset) == (node.lineno, node.col_offset)
    )


def _place(parting: Parting) -> str:
    place: tuple[Function, int] = (parting.event.function, parting.event.line)
    if parting.calls:
        place = (parting.calls[0][0], parting.calls[0][3].lineno)
    return f"{place[0].module.path}:{place[1]}"


def _on(parting: Parting) -> str:
    return f" (`{parting.group}`)" if parting.group else ""
