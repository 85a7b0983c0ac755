"""Which thread of a rank made a call, by the outermost frame of its stack: two threads come in any order."""

from __future__ import annotations

import re

import polars as pl

from rankandfile.model.diagnosis import Location
from rankandfile.reason import lookup
from rankandfile.reason.waits.facts import WaitFacts

from .code_paths import stack_of

_BEGINS = re.compile(
    r"(?:^|[/\\])(?:threading|concurrent[/\\]futures[/\\]thread|multiprocessing[/\\]pool)\.py$"
)


def begun_at(facts: WaitFacts, row: lookup.Row | None) -> Location | None:
    """The program's own outermost line in the thread that made the call; None where it is none that Python began."""
    number = row["stack"] if row is not None else None
    if number is None:
        return None
    stacks = facts.case.stacks.filter(pl.col("stack") == number)
    own = stack_of(facts.case, number)
    if stacks.is_empty() or not own:
        return None
    outermost = stacks["frames"][0].to_list()[-1]
    at = lookup.frame(facts.case, outermost)
    if at is None or not _BEGINS.search(str(at["file"])):
        return None
    function, file, line = own[0]
    return Location(file=file, line=line, function=function)


def of_another_thread(facts: WaitFacts, *rows: lookup.Row | None) -> Location | None:
    """Where a thread begins that made one of the calls, and another thread the other; None where one made them all."""
    begun = [begun_at(facts, row) for row in rows]
    first = next((at for at in begun if at is not None), None)
    return first if len({at and (at.file, at.function) for at in begun}) > 1 else None


def in_words(at: Location | None) -> str:
    if at is None:
        return ""
    place = f"{lookup.short_file(at.file or '')}:{at.line}"
    return f" Two threads of a rank make them, and which comes first is chance: one begins in {at.function}, {place}."
