"""The skeleton of a function: its decisions, loops, handlers and exits; and what decides whether a line is reached."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rankandfile.agent.bench import Bench
from rankandfile.agent.result import Line, line
from rankandfile.agent.tool import Arguments, Tool, ToolError
from rankandfile.source.flow import Exit, deciding
from rankandfile.source.program.modules import Function
from rankandfile.source.program.scopes import own_nodes

from .source import file_of

_STEERING = (
    ast.If,
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.Try,
    ast.ExceptHandler,
    ast.With,
    ast.AsyncWith,
    ast.Match,
    ast.Return,
    ast.Raise,
    ast.Break,
    ast.Continue,
    ast.Assert,
)


class Flow(Arguments, frozen=True):
    file: str
    line: int
    """A line of the function that is meant."""
    other: int | None = None
    """Another line of it: what decides whether the one or the other is reached first? Default: the function's end."""


def control_flow(bench: Bench, asked: Flow) -> Iterator[Line]:
    """The skeleton of the function at a line (decisions, loops, handlers, exits), and the conditions that decide
    whether that line or another is reached."""
    function = function_at(bench, asked.file, asked.line)
    module = function.module
    yield line(f"{function.qualname} is at {module.path}:{function.first_line}-{function.last_line}")
    steering = {n.lineno for n in own_nodes(function) if isinstance(n, _STEERING)} | {asked.line}
    for number in sorted(steering | ({asked.other} if asked.other else set())):
        if 1 <= number <= len(module.lines):
            yield line(f"{module.path}:{number}: {module.lines[number - 1]}")
    if asked.other is not None and not function.first_line <= asked.other <= function.last_line:
        raise ToolError(f"line {asked.other} is not in {function.qualname}")
    there: int | Exit = asked.other if asked.other is not None else "end"
    named = f"line {asked.other}" if asked.other is not None else "the end of the function"
    for condition in deciding(function, asked.line, there):
        yield line(
            f"Line {asked.line} or {named} is decided at {module.path}:{condition.line} by `{condition.text}`: "
            f"{condition.here} leads to the line, {condition.there} to the other"
        )


def function_at(bench: Bench, file: str, number: int) -> Function:
    path, lines = file_of(bench, file)
    module = bench.program.module(path) if bench.program is not None else None
    if module is None:
        raise ToolError(f"{path} cannot be parsed")
    function = module.function_at(number)
    if function is None:
        raise ToolError(f"{path} has {len(lines)} lines")
    return function


ORDER = 140
TOOL = Tool(control_flow, Flow)
