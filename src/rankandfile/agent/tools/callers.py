"""Who calls a function, by its name."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rankandfile.agent.bench import Bench
from rankandfile.agent.result import Line, line
from rankandfile.agent.tool import Tool
from rankandfile.source.program.called import called_name

from .definition import Name, modules_with


def callers(bench: Bench, asked: Name) -> Iterator[Line]:
    """Every line of the source that calls something of this name. A name is no proof: look at the definition."""
    last = asked.name.rsplit(".", 1)[-1]
    found = False
    for module in modules_with(bench, last):
        lines = {
            node.lineno
            for node in ast.walk(module.tree)
            if isinstance(node, ast.Call) and called_name(node) == last
        }
        for number in sorted(lines):
            found = True
            function = module.function_at(number)
            inside = function.qualname if function is not None else "<module>"
            yield line(f"{module.path}:{number}: {module.lines[number - 1].strip()}  (in {inside})")
    if not found:
        yield line("Nothing in the source calls anything by that name.")


ORDER = 130
TOOL = Tool(callers, Name)
