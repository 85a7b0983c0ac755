"""Who changed lines of a file last, and with which commit."""

from __future__ import annotations

from collections.abc import Iterator

from rankandfile.agent.bench import Bench
from rankandfile.agent.repository import history
from rankandfile.agent.result import Line, line
from rankandfile.agent.tool import Arguments, Tool, ToolError

from .source import file_of

_MOST_LINES = 200


class Blame(Arguments, frozen=True):
    file: str
    first: int
    last: int | None = None


def git_blame(bench: Bench, asked: Blame) -> Iterator[Line]:
    """Who changed these lines last, and when, as the repository of the source has it."""
    path, _ = file_of(bench, asked.file)
    last = asked.last if asked.last is not None else asked.first
    if not 1 <= asked.first <= last:
        raise ToolError("first and last are lines of the file, from 1")
    last = min(last, asked.first + _MOST_LINES - 1)
    question = ("--no-textconv", "--no-ignore-revs-file", "--date=short", "-L", f"{asked.first},{last}")
    lines = history(bench, path, "blame", *question)
    if lines is None:
        raise ToolError(f"git has no answer for lines {asked.first}-{last} of {path}")
    yield from map(line, lines)


ORDER = 160
TOOL = Tool(git_blame, Blame)
