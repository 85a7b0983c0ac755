"""The last commits of a file."""

from __future__ import annotations

from collections.abc import Iterator

from rankandfile.agent.bench import Bench
from rankandfile.agent.repository import tracked
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
    file = tracked(bench, path)
    count = min(max(asked.count, 1), _MOST)
    form = "--format=%h %ad %an: %s"
    printed = file.ask(
        "log", "--no-show-signature", "--date=short", form, f"-n{count}", file.revision, "--", file.name
    )
    if printed is None:
        raise ToolError(f"git has no history of {path}")
    for one in printed.splitlines():
        yield line(one)


ORDER = 170
TOOL = Tool(git_log, Log)
