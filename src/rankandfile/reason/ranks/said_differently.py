"""What one rank's log says, and the others' do not: no proof, and often what decides between two stories."""

from __future__ import annotations

import re
from typing import NamedTuple

import polars as pl

from rankandfile.model.case import Case
from rankandfile.model.events import event_id
from rankandfile.reason.words import counted

from .accounts import fields_of

KINDS = ("value_differs", "line_alone", "progress_differs")

#: What a line that one rank alone wrote says that it did.
_CAUSES = (
    ("skipped_collective", re.compile(r"(?i)\b(?:skip\w*|drop\w*|ignor\w*)\b")),
    ("uneven_inputs", re.compile(r"(?i)\b(?:exhaust\w*|no more (?:data|batch\w*|samples)|empty)\b")),
    (
        "early_exit",
        re.compile(
            r"(?i)\b(?:stop\w*|early|leaving|signal|sig(?:term|int|usr)\w*|preempt\w*|interrupt\w*)\b"
        ),
    ),
)


class Said(NamedTuple):
    rank: int
    words: str
    """`wrote, alone of 4 ranks: "got signal 15"`."""
    cause: str
    evidence: str


def said_differently(case: Case) -> list[Said]:
    rows = case.events.filter(pl.col("kind").cast(pl.String).is_in(KINDS) & pl.col("rank").is_not_null())
    return [_said(row) for row in rows.sort("log", "line").iter_rows(named=True)]


def _said(row: dict[str, object]) -> Said:
    fields = fields_of(row)
    text, others, other = str(row["text"]), fields.get("others", 0), fields.get("other", "")
    if row["kind"] == "line_alone":
        words = f'wrote, as the only one of {others + 1} ranks: "{text}"'
        cause = next((cause for cause, pattern in _CAUSES if pattern.search(text)), "undetermined")
    elif row["kind"] == "value_differs":
        words, cause = f'wrote "{text}", where {counted(others, "other")} wrote "{other}"', "uneven_inputs"
    else:
        words, cause = (
            f'came to "{text}" in its log, and {counted(others, "other")} to "{other}"',
            "undetermined",
        )
    return Said(int(str(row["rank"])), words, cause, event_id(int(str(row["log"])), int(str(row["line"]))))
