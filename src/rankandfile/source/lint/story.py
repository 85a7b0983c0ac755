"""A divergence as a person reads it: the guard, why it can differ, what is skipped, what others do, what to change."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from rankandfile.model.lint import Flagged, Severity, Told
from rankandfile.source.dependence.syntax import text
from rankandfile.source.effects.divergence import SWALLOWS, PossibleDivergence
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


def of_divergence(divergence: PossibleDivergence, rule: str, severity: Severity, fix: str) -> Flagged:
    function, condition, event = divergence.function, divergence.condition, divergence.event
    path = function.module.path
    outcome = _outcome(divergence)
    what, place = f"`{event.op}`", _place(divergence)
    if isinstance(divergence.owner, SWALLOWS) and not divergence.when:
        message = f"a rank that comes to `{condition.text}` calls {what} once more than the others: {place}"
    elif divergence.leaving in ("return", "break", "continue", "raise", "exit", "caught"):
        message = f"a rank that comes to `{condition.text}` {_LEAVES[divergence.leaving]}: {what} at {place}"
    elif divergence.leaving == "loop" and rule in _ORDERED:
        message = f"{what} is called in each round of `{condition.text}`, in an order of each rank's own"
    elif divergence.leaving == "loop":
        message = (
            f"{what} is called in every round of `{condition.text}`, which ranks can leave at different times"
        )
    elif (asked := _asked_before(divergence)) is not None:
        message = f"{what} is called only by ranks for which `{asked}` is {outcome}"
    else:
        message = f"{what} is called only by ranks for which `{condition.text}` is {outcome}"
    story = [
        Told(
            file=path,
            line=condition.line,
            words=f"this can differ between ranks: {divergence.reason.sentence}",
        )
    ]
    chain = ((step.file, step.line, step.words) for step in divergence.reason.chain)
    story.extend(_on_the_way(chain, (path, condition.line)))
    for caller, _step, _number, call in divergence.calls:
        story.append(Told(file=caller.module.path, line=call.lineno, words=f"calls `{text(call, 60)}`"))
    issued = Told(
        file=event.function.module.path,
        line=event.line,
        words=f"`{text(event.site, 60)}`: {event.words}{_on(divergence)}",
    )
    story.append(issued)
    others = _LEAVES[divergence.leaving]
    if divergence.instead is not None and divergence.instead.op != event.op:
        instead = divergence.instead
        others += f", to `{instead.op}` at {instead.function.module.path}:{instead.line}"
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


def _asked_before(divergence: PossibleDivergence) -> str | None:
    """The part of a test that is asked before the part that makes the call; None where the test makes none."""
    test = getattr(divergence.owner, "test", None)
    if not isinstance(test, ast.BoolOp) or not _is_in(divergence, test):
        return None
    return text(divergence.condition.node)


def _is_in(divergence: PossibleDivergence, outer: ast.AST) -> bool:
    return any(divergence.event.site is node or _calls(divergence, node) for node in ast.walk(outer))


def _outcome(divergence: PossibleDivergence) -> str:
    owner = divergence.owner
    if isinstance(owner, ast.If) and not _is_in(divergence, owner.test):
        return "true" if any(_is_in(divergence, s) for s in owner.body) else "false"
    return "true" if divergence.when else "false"


def _calls(divergence: PossibleDivergence, node: ast.AST) -> bool:
    """By its place: a call that a thread makes is made up where the thread is given the function."""
    if not divergence.calls or not isinstance(node, ast.expr):
        return False
    call = divergence.calls[0][3]
    return call is node or (
        isinstance(node, ast.Call) and (call.lineno, call.col_offset) == (node.lineno, node.col_offset)
    )


def _place(divergence: PossibleDivergence) -> str:
    place: tuple[Function, int] = (divergence.event.function, divergence.event.line)
    if divergence.calls:
        place = (divergence.calls[0][0], divergence.calls[0][3].lineno)
    return f"{place[0].module.path}:{place[1]}"


def _on(divergence: PossibleDivergence) -> str:
    return f" (`{divergence.group}`)" if divergence.group else ""
