"""Where everybody is, as far as the card does not say it elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rankandfile.model.diagnosis import Standing
from rankandfile.model.ranks import parse_ranks
from rankandfile.render.long_lists import foldable, said_ranks
from rankandfile.render.words import standing_text

from .sheet import Part, Sheet

_PLACE = re.compile(r"[\w-]+\.\w+:\d+")
_CALL = re.compile(
    r"in (?:the )?(?P<op>\w+)(?: \(group (?P<its>[^,]+?)(?: \[[^]]*\])?, seq | #)(?P<seq>\d+)(?: of (?P<group>\S+))?"
)
_RANKS = re.compile(r"\b[Rr]anks? (?P<ranks>\d[\d-]*(?:(?:, | and |,)\d[\d-]*)*)")
#: As a sentence says it.
_LONG_CALL = re.compile(r"in the (?P<op>\w+)(?: at(?P<place> \S+))? \(group [^()]*, seq (?P<seq>\d+)\)")


def parts(sheet: Sheet) -> Iterator[Part]:
    """Where everybody is, the odd ones first, as far as the sentence does not say it: what there is to go on with where
    nobody is to blame for sure."""
    world = sheet.diagnosis.job.world_size
    where = [one for one in sheet.diagnosis.standings if not _said(one, sheet.verdict.sentence)]
    few = where[: sheet.room.standings]
    rows = sheet.who_did_what()
    names = [_who(one.ranks, world, sheet) for one in few]
    right = sheet.width - min(sheet.left, max(map(len, names), default=0)) - 3
    for name, one in zip(names, few, strict=True):
        did = sheet.cut(_shorter(sheet.spoken(standing_text(one)), sheet), 2, width=right)
        rows.add_row(sheet.text(foldable(name, sheet.left)), sheet.signs.then, did)
    if few:
        yield "stands", [rows, *sheet.more(len(where) - len(few), "place", where=": -v")]


def _shorter(did: str, sheet: Sheet) -> str:
    """``wait in all_reduce #12 train.py:3``, where lines are scarce: which group that is of, -v tells."""
    return _LONG_CALL.sub(r"in \g<op> #\g<seq>\g<place>", did) if sheet.room.narrow else did


def _said(one: Standing, sentence: str) -> bool:
    """Whether the sentence names its place or its call, and its ranks."""
    ranks = set(parse_ranks(one.ranks)) if one.ranks[:1].isdigit() else set()
    if not ranks or not ranks <= _ranks_in(sentence):
        return False
    if places := _PLACE.findall(one.what):
        return places[0] in _PLACE.findall(sentence)
    call = _CALL.search(one.what)
    if call is None:
        return False
    group = call["group"] or ""
    return f" {call['op']} " in f"{sentence} " and f"seq {call['seq']})" in sentence and group in sentence


def _ranks_in(sentence: str) -> set[int]:
    """``Ranks 0-2 and 4``: whoever is named in it."""
    lists = (ranks.replace(" and ", ",").replace(" ", "") for ranks in _RANKS.findall(sentence))
    return {rank for ranks in lists for rank in parse_ranks(ranks.rstrip("-"))}


def _who(ranks: str, world: int | None, sheet: Sheet) -> str:
    return said_ranks(ranks, world, sheet.signs) if ranks[:1].isdigit() else ranks
