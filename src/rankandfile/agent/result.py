"""What a tool answers: lines with their evidence, a page of them at a time."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple

import msgspec

from rankandfile.model.ranks import format_ranks
from rankandfile.render.words import plain

PAGE_CHARACTERS = 6_000
LONGEST_LINE = 4_000
MOST_IDS = 4
"""Evidence ids beside one line; more say no more."""
_LONGEST_RANKS = 200
NO_SUCH = "there is no such evidence in this case"
"""Said of an id: the line repeats the question, and supports nothing."""
_UNSUPPORTED = ("refuted: ", "undecided: ", "not accepted: ")


class Line(NamedTuple):
    text: str
    ids: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.text}  [{', '.join(self.ids)}]" if self.ids else self.text


class Result(msgspec.Struct, frozen=True, kw_only=True):
    text: str
    evidence: list[str] = []
    more: int | None = None
    """The `cursor` with which to ask for what did not fit; null: this is all."""

    @property
    def supporting(self) -> list[str]:
        """The lines that a sentence can rest on. The answer to a refuted question repeats it, and supports nothing."""
        lines = [] if self.text.startswith(_UNSUPPORTED) else self.text.splitlines()
        return [one for one in lines if not one.endswith(NO_SUCH)]


class Page(NamedTuple):
    lines: tuple[Line, ...]
    more: int | None

    @property
    def result(self) -> Result:
        ids = dict.fromkeys(one for shown in self.lines for one in shown.ids)
        text = "\n".join(map(str, self.lines)) or "nothing"
        return Result(text=text, evidence=list(ids), more=self.more)


def line(text: str, *ids: str) -> Line:
    return Line(text, ids)


def who(ranks: Iterable[int]) -> str:
    """`rank 3`, `ranks 0-62`; of a long list of spans, its beginning and its size."""
    listed = list(ranks)
    text = format_ranks(listed)
    if len(text) > _LONGEST_RANKS:
        text = f"{text[:_LONGEST_RANKS].rsplit(',', 1)[0]} and more, {len(listed)} in all"
    return f"rank {text}" if len(listed) == 1 else f"ranks {text}"


def page(lines: Iterable[Line], cursor: int = 0) -> Page:
    """The lines from `cursor` on that fit on one page."""
    shown: list[Line] = []
    room = PAGE_CHARACTERS
    for number, one in enumerate(islice(lines, cursor, None), cursor):
        words = Line(_bounded(one.text), one.ids[:MOST_IDS])
        room -= len(str(words)) + 1
        if shown and room < 0:
            return Page(tuple(shown), number)
        shown.append(words)
    return Page(tuple(shown), None)


def _bounded(text: str) -> str:
    words = plain(text)
    return words if len(words) <= LONGEST_LINE else f"{words[:LONGEST_LINE]} ..."
