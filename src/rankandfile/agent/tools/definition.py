"""Where a function or class is defined."""

from __future__ import annotations

from collections.abc import Iterator

from rankandfile.agent.bench import Bench
from rankandfile.agent.result import Line, line
from rankandfile.agent.tool import Arguments, Tool, ToolError
from rankandfile.source.program.modules import Module

MOST_FILES = 2_000
_MOST_LINES = 60


class Name(Arguments, frozen=True):
    name: str
    """Of a function, method or class: fit, or Trainer.fit."""


def definition(bench: Bench, asked: Name) -> Iterator[Line]:
    """Where a function, method or class is defined, and its text."""
    last = asked.name.rsplit(".", 1)[-1]
    found = False
    for module in modules_with(bench, last):
        spans = [
            (f.qualname, f.first_line, f.last_line)
            for f in module.functions
            if asked.name in (f.name, f.qualname) or f.qualname.endswith(f".{asked.name}")
        ]
        owner = module.classes.get(asked.name)
        if owner is not None:
            spans.append((owner.name, owner.lineno, owner.end_lineno or owner.lineno))
        for name, first, end in spans:
            found = True
            yield line(f"{name} is at {module.path}:{first}-{end}")
            for number in range(first, min(end, first + _MOST_LINES - 1) + 1):
                yield line(f"{module.path}:{number}: {module.lines[number - 1]}")
    if not found:
        # Without the name: an answer that repeats the question would seem to say it.
        yield line("The source defines nothing of that name.")


def modules_with(bench: Bench, word: str) -> Iterator[Module]:
    """Modules whose text has the word: the others need no parsing."""
    if bench.program is None:
        raise ToolError("there is no source at hand: name it with --src")
    for path in bench.program.paths[:MOST_FILES]:
        text = bench.program.files.read(path)
        if text is not None and word in text:
            module = bench.program.module(path)
            if module is not None:
                yield module


ORDER = 120
TOOL = Tool(definition, Name)
