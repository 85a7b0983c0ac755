"""The first lines of the card: the answer, how sure it is, and the sentence that says it all."""

from __future__ import annotations

from collections.abc import Iterator

from rich.text import Text

from rankandfile.render.words import (
    base_name,
    culprit_ranks,
    headline,
    job_size,
    place_text,
    plain,
    ranks_named,
)

from .sheet import Sheet

_STYLE = {"established": "bold red", "supported": "bold yellow", "hypothesis": "bold yellow"}
_MEANS = {
    "established": "it follows from the records",
    "supported": "the evidence agrees, another cause remains possible",
    "hypothesis": "it fits the evidence, and is not proved",
}


def head(sheet: Sheet) -> Iterator[Text]:
    verdict = sheet.verdict
    style = "bold green" if verdict.cause == "no_hang" else _STYLE[verdict.confidence]
    yield Text.assemble(
        (headline(verdict, sheet.signs), style), *((part, "bold") for part in _who_and_where(sheet))
    )
    sure = f"{verdict.confidence}: {_MEANS[verdict.confidence]} {sheet.signs.dot} {job_size(sheet.diagnosis)}"
    yield sheet.text(sure, style="dim")
    yield sheet.text(verdict.sentence)


def _who_and_where(sheet: Sheet) -> Iterator[str]:
    verdict, dot = sheet.verdict, f" {sheet.signs.dot} "
    if verdict.culprits and verdict.cause != "undetermined":
        yield dot + ranks_named(culprit_ranks(verdict), sheet.signs)
    where = verdict.location
    if where is not None and verdict.hang:
        yield dot + plain(place_text(base_name(where.file), where.condition_line or where.line))
