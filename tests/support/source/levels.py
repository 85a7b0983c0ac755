"""How a test of a program's text comes out on its ranks."""

from __future__ import annotations

from rankandfile.source.dependence import why
from rankandfile.source.flow import conditions_at
from rankandfile.source.program.modules import Program
from support.source.toy_runs import tree


def level(text: str) -> str:
    """Of the condition right above the collective."""
    program = Program(tree({"p.py": text}))
    module = program.module("p.py")
    line = next(i for i, words in enumerate(text.splitlines()) if "dist.barrier()" in words)
    function = module.function_at(line) if module is not None else None
    assert function is not None
    levels = {why(program, function, condition).level for condition in conditions_at(function, line)}
    return levels.pop() if len(levels) == 1 else str(levels)
