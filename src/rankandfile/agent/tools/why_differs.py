"""Why a condition or an expression can come out differently on two ranks."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rankandfile.agent.bench import Bench
from rankandfile.agent.result import Line, line
from rankandfile.agent.tool import Arguments, Tool, ToolError
from rankandfile.source.dependence import Reason, why
from rankandfile.source.flow import conditions_at
from rankandfile.source.program.modules import Function, Program

from .control_flow import function_at

_LEVELS = {
    "uniform": "is the same on all ranks, as far as the source tells",
    "axes": "can differ along {} only",
    "varying": "can differ between ranks",
    "unknown": "is undecided: the source does not show where it comes from",
}
_LONGEST = 500


class Differs(Arguments, frozen=True):
    file: str
    line: int
    expression: str | None = None
    """An expression as it would stand at that line; default: the conditions that are written there."""


def why_differs(bench: Bench, asked: Differs) -> Iterator[Line]:
    """Whether the condition at a line, or an expression there, can come out differently on two ranks, and the chain
    back to what makes it differ. `undecided` is not `the same`."""
    function = function_at(bench, asked.file, asked.line)
    assert bench.program is not None
    found = 0
    for words, reason in _asked(bench.program, function, asked):
        found += 1
        level = _LEVELS[reason.level].format(", ".join(sorted(reason.axes)))
        yield line(f"{function.module.path}:{asked.line}: `{words}` {level}.")
        if reason.sentence:
            yield line(f"Why: {reason.sentence}.")
        for step in reason.chain:
            yield line(f"{step.file}:{step.line}: {step.words}")
    if not found:
        yield line(f"No condition is written at {function.module.path}:{asked.line}.")


def _asked(program: Program, function: Function, asked: Differs) -> Iterator[tuple[str, Reason]]:
    if asked.expression is None:
        for condition in conditions_at(function, asked.line):
            yield condition.text, why(program, function, condition)
        return
    try:
        if len(asked.expression) > _LONGEST:
            raise ValueError
        expression = ast.parse(asked.expression, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ToolError("that is no Python expression") from None
    # An answer about words that nobody wrote would seem to say them.
    lines = function.module.lines[function.first_line - 1 : function.last_line]
    if " ".join(asked.expression.split()) not in " ".join(" ".join(lines).split()):
        raise ToolError(f"{function.qualname} has no such expression")
    yield asked.expression, why(program, function, expression)


ORDER = 150
TOOL = Tool(why_differs, Differs)
