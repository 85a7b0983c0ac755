"""What a few ranks alone say that they did as they left the others' way: out of data, done early, told to stop.

Every rank may say such a thing; then it tells nothing. Rank 0 says much for all of them: of it alone it tells nothing
either, unless it is known by something else that the others wait for it.
"""

from __future__ import annotations

import re
from collections import defaultdict

import polars as pl
from msgspec import Struct

from rankandfile.model.column import Row
from rankandfile.model.diagnosis import Location
from rankandfile.model.events import event_id
from rankandfile.reason.facts import Facts
from rankandfile.reason.words import shortened

from .accounts import fields_of

_CAUSES = {
    "said_no_data": "uneven_inputs",
    "said_leaving": "early_exit",
    "left_out": "skipped_collective",
    "nan": "skipped_collective",
}
#: The surest sign of several: who is out of data leaves its loop as well.
_ORDER = ("said_no_data", "said_leaving", "left_out", "nan")
_SKIPS = re.compile(r"(?i)skip|non-finite|drop|ignor")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_AN_EXCEPTION = re.compile(
    r"(?i)\b\w+(?:Error|Exception)\b|\b(?:swallowed|exceptions?|raised|raising|threw|failed)\b"
)
_NOT_OF_PROGRAMS = re.compile(r"torch\.distributed|torchelastic|srun|slurmstepd|Process group|NCCL")
#: `trainer.py:222`, as programs write it before their words.
_PLACE = re.compile(
    r"(?<![\w/.-])((?:[\w.-]{1,80}/){0,12}[\w-]{1,80}\.(?:py|cc|cpp|cxx|c|cu|h|hpp|jl|f90|rs)):(\d{1,6})\b"
)
_LONGEST = 200


class LoggedDivergence(Struct, frozen=True):
    rank: int
    cause: str
    words: str
    evidence: str
    place: Location | None


def logged_divergences(facts: Facts) -> dict[int, LoggedDivergence]:
    """By rank, for as many as are fewer than the others."""
    events = facts.case.events
    rows = events.filter(
        pl.col("kind").cast(pl.String).is_in(list(_CAUSES)) & pl.col("rank").is_not_null()
    ).sort("log", "line")
    by_words: dict[str, set[int]] = defaultdict(set)
    for row in rows.iter_rows(named=True):
        by_words[_NUMBER.sub("#", row["text"])].add(row["rank"])
    everyone = {*facts.accounts.last_lines, *facts.accounts.logged, *facts.accounts.of_rank}
    found: dict[int, Row] = {}
    for row in rows.iter_rows(named=True):
        alike = by_words[_NUMBER.sub("#", row["text"])]
        told = row["kind"] != "nan" or _SKIPS.search(row["text"])
        if 2 * len(alike) >= len(everyone) or not told or _NOT_OF_PROGRAMS.search(row["text"]):
            continue
        known = found.get(row["rank"])
        if known is None or _ORDER.index(str(row["kind"])) <= _ORDER.index(str(known["kind"])):
            found[row["rank"]] = row
    return (
        {rank: _logged_divergence(facts, row) for rank, row in found.items()}
        if 2 * len(found) < len(everyone)
        else {}
    )


def _logged_divergence(facts: Facts, row: Row) -> LoggedDivergence:
    cause = _CAUSES[str(row["kind"])]
    if cause == "skipped_collective" and (
        row["rank"] in facts.accounts.caught or _AN_EXCEPTION.search(row["text"])
    ):
        cause = "swallowed_exception"
    text = " ".join(str(row["text"]).split())
    return LoggedDivergence(
        row["rank"],
        cause,
        shortened(text, _LONGEST),
        event_id(row["log"], row["line"]),
        place_in(text) or place_in(str(fields_of(row).get("said_at", ""))),
    )


def place_in(text: str) -> Location | None:
    """The line of the program that a line of a log says to come from."""
    match = _PLACE.search(text)
    return Location(file=match[1], line=int(match[2]), function=None) if match else None


def elsewhere(facts: Facts) -> dict[int, LoggedDivergence]:
    """Those of them whose last line is none that any of the others, of whom there are two or more, has for its last."""
    said = logged_divergences(facts)
    last = {rank: _NUMBER.sub("#", line) for rank, line in facts.accounts.last_lines.items()}
    others = {shape for rank, shape in last.items() if rank not in said}
    if 0 in said or len(last.keys() - said.keys()) < 2:
        return {}
    if not all(rank in last and last[rank] not in others for rank in said):
        return {}
    return said
