"""Exceptions that the program caught itself: what logs of them is no sign that the rank failed.

An interpreter that ends of an exception prints its traceback from the outermost frame on; one that is printed by
whoever caught it begins in the function that did. And a log that goes on after a traceback is of a process that did.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import polars as pl

from rankandfile.model.case import Case
from rankandfile.reason.ranks.activity import is_library

from .accounts import End, fields_of
from .watchdog_reports import frames

_KINDS = ("traceback", "oom", "loader_raised")
_FAILED = ("exited", "killed")
#: Of so many frames on, the outermost ones of a traceback are not kept.
_KEPT = 100
#: Lines behind it after which a log went on, and after which it did whatever the last of them says.
_FEWEST_AFTER, _MANY_AFTER = 3, 20
#: What an interpreter, a library or a launcher still says of a process that an exception has ended.
_AFTERWARDS = re.compile(
    r"(?i)warn|error|exception|terminat|abort|signal|exit|fail|destroy|leaked|resource_tracker|\[rank ?\d+\]:|srun|"
    r"slurm|torchrun|wandb|dump|traceback|^\s*file \"|^\s|[\^~]{3,}"
)


def caught(case: Case, ends: dict[int, End]) -> frozenset[int]:
    """Ranks that raised, and all of whose exceptions the program caught, as far as their logs tell."""
    rows = case.events.filter(
        pl.col("kind").cast(pl.String).is_in(list(_KINDS)) & pl.col("rank").is_not_null()
    )
    went_on = _went_on(case, rows)
    out: dict[int, bool] = {}
    # That it lost a peer or waited in vain at its end is no doubt that it had dealt with what it raised before.
    own = pl.col("role").cast(pl.String) == "origin"
    for row in rows.filter(own | ~own.any().over("rank")).iter_rows(named=True):
        rank = row["rank"]
        one = row["log"] in went_on or by_a_function(row)
        out[rank] = out.get(rank, True) and one
    return frozenset(
        rank for rank, all_of_them in out.items() if all_of_them and not _ended_badly(ends.get(rank))
    )


def _ended_badly(end: End | None) -> bool:
    return end is not None and end.kind in _FAILED


def by_a_function(row: dict[str, object]) -> bool:
    """The outermost frame is an ordinary function of the program's: it caught what was raised below it."""
    fields = fields_of(row)
    found = frames(fields)
    if not found or len(found) >= _KEPT or fields.get("fatal"):
        return False
    outermost = found[-1]
    return not outermost.function.startswith("<") and not is_library(outermost)


def dealt_with(case: Case, row: dict[str, object]) -> bool:
    """An exception that is told of no rank, and that a function caught in a log that went on for some lines."""
    end = case.logs.filter(pl.col("log") == row["log"]).select("lines", "last_line").rows()
    if not end or not by_a_function(row):
        return False
    (lines, last), line = end[0], row["line"]
    after = (lines or 0) - line if isinstance(line, int) else 0
    return after >= _MANY_AFTER or (after >= _FEWEST_AFTER and not _AFTERWARDS.search(last or "error"))


#: Files whose frames begin a thread or a process: an exception that went up to them has ended that.
_BEGINNINGS = ("threading.py", "process.py", "spawn.py", "popen_fork.py", "thread.py", "runpy.py", "run.py")


def _by_a_library(row: dict[str, object]) -> bool:
    """All of its frames are a library's: one that tries again, or does without."""
    found = frames(fields_of(row))
    if not found or len(found) >= _KEPT or not all(is_library(frame) for frame in found):
        return False
    return not found[-1].function.startswith("<") and not found[-1].file.endswith(_BEGINNINGS)


def survivors(case: Case) -> Callable[[dict[str, object]], bool]:
    """Asked of an exception: whether a function caught it, and the same log counted on for long behind it."""
    counts_to = dict(_counted(case).group_by("log").agg(pl.col("line").max()).iter_rows())

    def counted_on(row: dict[str, object]) -> bool:
        last, line = counts_to.get(row["log"]), row["line"]
        if not isinstance(last, int) or not isinstance(line, int) or last - line < _MANY_AFTER:
            return False
        return dealt_with(case, row) or _by_a_library(row)

    return counted_on


def survived(case: Case, rows: pl.DataFrame) -> pl.Series:
    """Of each row whether it is an exception that was caught, behind which the same log counted on for long."""
    if not _counted(case).height:
        return pl.repeat(False, rows.height, eager=True)
    return pl.Series(list(map(survivors(case), rows.iter_rows(named=True))), dtype=pl.Boolean)


def _counted(case: Case) -> pl.DataFrame:
    return case.events.filter(pl.col("kind").cast(pl.String).is_in(["progress", "work_goes_on"]))


def _went_on(case: Case, rows: pl.DataFrame) -> set[int]:
    """Logs of one rank each that end with a line of the program's own, not with the exception."""
    own = case.logs.filter(pl.col("rank").is_not_null() & pl.col("last_line").is_not_null())
    said = rows.group_by("log").agg(pl.col("text").drop_nulls())
    out = set()
    for log, last, texts in own.join(said, on="log").select(pl.col("log"), "last_line", "text").iter_rows():
        of_it = any(last in text or text in last for text in texts)
        if last.strip() and not of_it and not _AFTERWARDS.search(last):
            out.add(log)
    return out


def without_handled(mine: pl.DataFrame) -> pl.DataFrame:
    """Where a rank raised more than once, and one exception went up to where the program begins, that one ended it:
    those that a function of the program had caught before did not."""
    rows = mine.filter((pl.col("kind") == "traceback") & (pl.col("role") == "origin"))
    several = rows.filter(pl.len().over("rank") > 1).sort("log", "line")
    handled: set[tuple[int, int]] = set()
    for _, of_rank in several.group_by("rank", maintain_order=True):
        by = [(row["log"], row["line"], by_a_function(row)) for row in of_rank.iter_rows(named=True)]
        if not all(caught_it for *_, caught_it in by):
            handled.update((log, line) for log, line, caught_it in by if caught_it)
    if not handled:
        return mine
    at = pl.concat_list(pl.col("log").cast(pl.Int64), pl.col("line").cast(pl.Int64))
    return mine.filter(~at.is_in([list(one) for one in handled]))
