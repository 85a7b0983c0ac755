"""Lines of a source file."""

from __future__ import annotations

from collections.abc import Iterator

from rankandfile.agent.bench import Bench
from rankandfile.agent.result import Line, line
from rankandfile.agent.tool import Arguments, Tool, ToolError


class Source(Arguments, frozen=True):
    file: str
    """Its path in the tree, or the path that ran."""
    first: int = 1
    last: int | None = None


def source(bench: Bench, asked: Source) -> Iterator[Line]:
    """Lines of a source file of the job, by its path in the tree or the path that a stack shows."""
    path, lines = file_of(bench, asked.file)
    first = max(1, asked.first)
    last = min(len(lines), asked.last if asked.last is not None else len(lines))
    if first > last:
        raise ToolError(f"{path} has {len(lines)} lines")
    for number in range(first, last + 1):
        yield line(f"{path}:{number}: {lines[number - 1]}")


def file_of(bench: Bench, file: str) -> tuple[str, list[str]]:
    """The path in the tree, and its lines."""
    if bench.tree is None:
        raise ToolError("there is no source at hand: name it with --src")
    path, lines = bench.source_path(file), bench.source_lines(file)
    if path is None or lines is None:
        several = bench.tree.named(file.replace("\\", "/").rsplit("/", 1)[-1])
        which = f"; which of {', '.join(several[:6])}?" if several else ""
        raise ToolError(f"the source has no readable file '{file[:200]}'{which}")
    return path, lines


ORDER = 110
TOOL = Tool(source, Source)
