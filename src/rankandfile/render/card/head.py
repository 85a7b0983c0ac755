"""The first lines of the card: the answer with its place, how sure it is, and what else it may be."""

from __future__ import annotations

from collections.abc import Iterator

from rich.text import Text

from rankandfile.model.diagnosis import SURE, Alternative, Verdict
from rankandfile.render.headline import cause_beside, headline, place, sure
from rankandfile.render.words import cause_words, job_size

from .sheet import Sheet

_STYLE = {"established": "bold red", "supported": "bold yellow", "hypothesis": "bold yellow"}
_MOST_NAMES = 3


def head(sheet: Sheet, width: int) -> Iterator[Text]:
    """The answer with its place, how sure it is, and what is taken for true."""
    verdict = sheet.verdict
    style = "bold green" if verdict.hang is False else _STYLE[verdict.confidence]
    said, where = headline(verdict, sheet.diagnosis.job.world_size, sheet.signs), place(verdict)
    if width - len(said) - len(where) < 2:
        where = where.partition(" in ")[0]
    gap = width - len(said) - len(where)
    room = " " * gap if gap >= 2 else "  " if where else ""
    yield Text.assemble((sheet.text(said).plain, style), (sheet.text(f"{room}{where}").plain, "bold"))
    yield from (sheet.text(line, style="dim") for line in _sure(sheet, width))
    if verdict.assumed:
        yield sheet.text(f"if {verdict.assumed}", style="dim")


def _sure(sheet: Sheet, width: int) -> list[str]:
    """``likely (not excluded: uneven inputs) · early exit · 4 ranks``: no alternative is left out unseen. Where that is
    too long for a line, they have their own."""
    verdict = sheet.verdict
    others = list(dict.fromkeys(_alternative(one, verdict.cause) for one in verdict.alternatives))
    more = f" and {len(others) - _MOST_NAMES} more: -v" if len(others) > _MOST_NAMES else ""
    beside = [one for one in (cause_beside(verdict), job_size(sheet.diagnosis)) if one]
    open_, word = _open(verdict), sure(verdict)
    named = f"{open_}: {', '.join(others[:_MOST_NAMES])}{more}" if others else ""
    dot = f" {sheet.signs.dot} "
    if others and word == open_:
        line = dot.join([named, *beside])
        return [line] if len(line) <= width else [dot.join(beside), named]
    line = dot.join([f"{word} ({named})" if others else word, *beside])
    return [line] if len(line) <= width or not others else [dot.join([word, *beside]), named]


def _open(verdict: Verdict) -> str:
    """What the alternatives are: of a cause that is open, all that it can be."""
    if verdict.cause == "undetermined":
        return SURE["hypothesis"] if not verdict.culprits else "may be"
    return "possible as well" if verdict.confidence == "established" else "not excluded"


def _alternative(one: Alternative, cause: str) -> str:
    """In as few words as there are; what has no cause yet, or the very cause of the verdict, by its sentence."""
    if one.cause not in ("undetermined", cause) or not one.sentence:
        return cause_words(one.cause)
    return one.sentence[:1].lower() + one.sentence[1:].rstrip(".")
