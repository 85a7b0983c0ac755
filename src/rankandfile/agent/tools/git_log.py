"""The last commits of a file."""

from __future__ import annotations

from collections.abc import Iterator

from rankandfile.agent.bench import Bench
from rankandfile.agent.repository import history
from rankandfile.agent.result import Line, line
from rankandfile.agent.tool import Arguments, Tool, ToolError

from .source import file_of

_MOST = 100


class Log(Arguments, frozen=True):
    file: str
    count: int = 10


def git_log(bench: Bench, asked: Log) -> Iterator[Line]:
    """The last commits of a file, as the repository of the source has it."""
    path, _ = file_of(bench, asked.file)
    count = min(max(asked.count, 1), _MOST)
    form = "--format=%h %ad %an: %s"
    lines = history(bench, path, "log", "--no-show-signature", "--date=short", form, f"-n{count}")
    if lines is None:
        raise ToolError(f"git has no history of {path}")
    yield from map(line, lines)


ORDER = 170
TOOL = Tool(git_log, Log)
