"""What logs say: lines that were recognised, alike ones as one; and the lines around one of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import polars as pl

from rankandfile.agent.bench import Bench
from rankandfile.agent.choose import ranks_of
from rankandfile.agent.result import Line, line, who
from rankandfile.agent.tool import Arguments, Tool, ToolError
from rankandfile.model.events import ROLES, event_id

_ID = re.compile(r"([LS])(\d+):(\d+)$")
_MOST_LINES = 200
_LONGEST = 2_000
_MOST_BYTES = 256 << 20


class Logs(Arguments, frozen=True):
    ranks: str | None = None
    """Only lines of these ranks: 3 or 0-6,8."""
    grep: str | None = None
    """Only lines with this text, in any case of letters; no pattern."""
    role: str | None = None
    """origin (a failure of its own), messenger (it waited), echo (it suffered) or fact."""
    around: str | None = None
    """The raw lines around this evidence, such as L2:88 or S5:12, where its file is at hand."""
    lines: int = 10
    """How many lines before and after."""


def logs(bench: Bench, asked: Logs) -> Iterator[Line]:
    """What logs say: recognised lines by ranks, text and role, alike ones as one; or the raw lines around a cited
    one. Who logs first only has the shortest timer: the role says what a line is worth."""
    if asked.around is not None:
        return _around(bench, asked.around, min(max(asked.lines, 0), _MOST_LINES))
    return _recognised(bench, asked)


def _recognised(bench: Bench, asked: Logs) -> Iterator[Line]:
    events = bench.case.events
    if asked.ranks is not None:
        events = events.filter(pl.col("rank").is_in(ranks_of(asked.ranks)))
    if asked.grep is not None:
        lowered = pl.col("text").str.to_lowercase()
        events = events.filter(lowered.str.contains(asked.grep.lower(), literal=True))
    if asked.role is not None:
        if asked.role not in ROLES.categories:
            raise ToolError(f"a role is one of {', '.join(ROLES.categories)}")
        events = events.filter(pl.col("role") == asked.role)
    else:
        # What accuses nobody comes last.
        events = events.sort(pl.col("role") == "fact", maintain_order=True)
    shape = pl.col("text").str.replace_all(r"\d+", "#")
    alike = events.group_by("kind", "role", shape.alias("shape"), maintain_order=True).agg(
        pl.col("rank").unique().drop_nulls().sort(),
        pl.len().alias("lines"),
        pl.col("text").first(),
        pl.col("log").first(),
        pl.col("line").first(),
    )
    if not alike.height:
        yield line("No recognised line of a log is like that.")
    for row in alike.iter_rows(named=True):
        writer = who(row["rank"]) if row["rank"] else "no known rank"
        words = f"{row['kind']} ({row['role']}), {row['lines']} lines of {writer}, the first: {row['text']}"
        yield line(words, event_id(row["log"], row["line"]))


def _around(bench: Bench, cited: str, most: int) -> Iterator[Line]:
    match = _ID.match(cited)
    if match is None:
        raise ToolError(f"'{cited}' is no line of a log or a stack file, such as L2:88")
    case, number, at = bench.case, int(match[2]), int(match[3])
    table, key = (case.logs, "log") if match[1] == "L" else (case.stack_files, "file")
    sources = table.filter(pl.col(key) == number)["source"].to_list()
    if not sources:
        raise ToolError(f"there is no evidence {cited} in this case")
    path = _allowed(bench, sources[0])
    if path is None:
        yield line(f"{sources[0]} is not at hand as a plain file; what was recognised in it is in the case.")
        return
    first = max(1, at - most)
    try:
        with path.open("rb") as file:
            # A line longer than is kept is read in pieces, and counts once.
            raw = [one[:_LONGEST] for one in islice(file, first - 1, at + most)]
    except OSError:
        raw = []
    for here, text in enumerate(raw, first):
        words = text.decode("utf-8", "replace").rstrip()
        yield line(f"{here:>6} {words}", *([cited] if here == at else []))


def _allowed(bench: Bench, source: str) -> Path | None:
    """The file, if it is one of those that the case was read from: a case can name any path of this machine."""
    try:
        path = Path(source).resolve(strict=True)
        roots = [root.resolve() for root in bench.evidence]
        fine = path.is_file() and path.stat().st_size <= _MOST_BYTES
    except (OSError, RuntimeError, ValueError):
        return None
    return path if fine and any(path == root or root in path.parents for root in roots) else None


ORDER = 90
TOOL = Tool(logs, Logs)
