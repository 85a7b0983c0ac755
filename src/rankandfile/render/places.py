"""Where in the code a verdict points: one list of places for every format that opens files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from rankandfile.model.claims import TookBranch
from rankandfile.model.diagnosis import Verdict
from rankandfile.model.ranks import parse_ranks

from .words import base_name, call_text, ranks_named

#: The path of a file in the reader's own tree, for a path as the process saw it; None where it is not there.
InTree = Callable[[str], "str | None"]


def nowhere(_path: str) -> str | None:
    return None


class Spot(NamedTuple):
    file: str
    line: int | None
    says: str


def seen_to_take(verdict: Verdict) -> list[TookBranch]:
    """Who was seen to go which way at the condition that is named; nothing where the ranks parted at another line, the
    outcome of which need not be that of this one."""
    where = verdict.location
    if where is None or where.parted_line is not None:
        return []
    return [
        one
        for one in verdict.claims
        if isinstance(one, TookBranch)
        and one.line == where.condition_line
        and base_name(one.file) == base_name(where.file)
    ]


def main_spot(verdict: Verdict) -> Spot | None:
    """The place to open first: where the ranks diverged, or what a culprit did."""
    where = verdict.location
    if where is not None:
        return Spot(where.file, where.condition_line or where.line, verdict.sentence)
    blamed = {culprit.rank for culprit in verdict.culprits}
    others: Spot | None = None
    for cohort in verdict.divergence.cohorts if verdict.divergence else []:
        if cohort.call is None or cohort.call.file is None:
            continue
        spot = Spot(cohort.call.file, cohort.call.line, verdict.sentence)
        if blamed & set(parse_ranks(cohort.ranks)):
            return spot
        others = others or spot
    return others


def cohort_spots(verdict: Verdict, most: int = 8) -> Iterator[Spot]:
    """What each cohort called at the divergence."""
    for cohort in verdict.divergence.cohorts[:most] if verdict.divergence else []:
        if cohort.call is not None and cohort.call.file is not None:
            says = f"{ranks_named(cohort.ranks)}: {call_text(cohort.call)}"
            yield Spot(cohort.call.file, cohort.call.line, says)
