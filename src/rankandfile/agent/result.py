"""What a tool answers: lines with their evidence, a page of them at a time."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Literal, NamedTuple, TypeAlias

import msgspec

from rankandfile.model.ranks import format_ranks
from rankandfile.render.words import plain

PAGE_CHARACTERS = 6_000
LONGEST_LINE = 4_000
MOST_IDS = 4
"""Evidence ids beside one line; more say no more."""
_LONGEST_RANKS = 200
Answer: TypeAlias = Literal[
    "", "holds", "refuted", "undecided", "accepted", "not accepted", "no such evidence"
]
_UNSUPPORTED: tuple[Answer, ...] = ("refuted", "undecided", "not accepted")


class Line(NamedTuple):
    text: str
    ids: tuple[str, ...] = ()
    answer: Answer = ""
    """To a question that can be decided, or of an id that was asked for; empty: the line is no such answer."""

    def __str__(self) -> str:
        return f"{self.text}  [{', '.join(self.ids)}]" if self.ids else self.text


class Result(msgspec.Struct, frozen=True, kw_only=True):
    text: str
    evidence: list[str] = []
    more: int | None = None
    """The `cursor` with which to ask for what did not fit; null: this is all."""

    answer: Answer = ""
    """Of its first line."""
    supporting: list[str] = []
    """The lines that a sentence can rest on. What answers a refuted question repeats it, and supports nothing; nor does
    what repeats an id that there is none of."""


class Page(NamedTuple):
    lines: tuple[Line, ...]
    more: int | None

    @property
    def result(self) -> Result:
        ids = dict.fromkeys(one for shown in self.lines for one in shown.ids)
        lines = self.lines or (Line("nothing"),)
        answer = lines[0].answer
        return Result(
            text="\n".join(map(str, lines)),
            evidence=list(ids),
            more=self.more,
            answer=answer,
            supporting=[]
            if answer in _UNSUPPORTED
            else [str(one) for one in lines if one.answer != "no such evidence"],
        )


def line(text: str, *ids: str, answer: Answer = "") -> Line:
    return Line(text, ids, answer)


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
        words = Line(_bounded(one.text), one.ids[:MOST_IDS], one.answer)
        room -= len(str(words)) + 1
        if shown and room < 0:
            return Page(tuple(shown), number)
        shown.append(words)
    return Page(tuple(shown), None)


def _bounded(text: str) -> str:
    words = plain(text)
    return words if len(words) <= LONGEST_LINE else f"{words[:LONGEST_LINE]} ..."
