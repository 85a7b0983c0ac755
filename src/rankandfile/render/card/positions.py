"""Where everybody is, as far as the card does not say it elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from rankandfile.model.diagnosis import Standing
from rankandfile.model.ranks import format_ranks, parse_ranks
from rankandfile.render.long_lists import foldable, said_ranks
from rankandfile.render.words import standing_text

from .sheet import Part, Sheet

_PLACE = re.compile(r"[\w-]+\.\w+:\d+")
_CALL = re.compile(
    r"in (?:the )?(?P<op>\w+)(?: \(group (?P<its>[^,]+?)(?: \[[^]]*\])?, seq | #)(?P<seq>\d+)(?: of (?P<group>\S+))?"
)
_RANKS = re.compile(r"\b[Rr]anks? (?P<ranks>\d[\d-]*(?:(?:, | and |,)\d[\d-]*)*)")
#: As a sentence says it.
_LONG_CALL = re.compile(
    r"in the (?P<op>\w+)(?: at(?P<place> \S+))? \(group (?P<name>[^()\[]*)(?P<members> \[[^()]*\])?, seq (?P<seq>\d+)\)"
)


def parts(sheet: Sheet, sentence: str) -> Iterator[Part]:
    """Where everybody is, the odd ones first, as far as the sentence that is shown does not say it: what there is to go
    on with where nobody is to blame for sure."""
    world = sheet.diagnosis.job.world_size
    where = _together([one for one in sheet.diagnosis.standings if not _said(one, sentence)])
    few = where[: sheet.room.standings]
    rows = sheet.who_did_what()
    names = [_who(one.ranks, world, sheet) for one in few]
    right = sheet.width - min(sheet.left, max(map(len, names), default=0)) - 3
    for name, one in zip(names, few, strict=True):
        did = sheet.cut(_shorter(sheet.spoken(standing_text(one)), sheet), 2, width=right)
        rows.add_row(sheet.text(foldable(name, sheet.left)), sheet.signs.then, did)
    if few:
        yield "stands", [rows, *sheet.more(len(where) - len(few), "place", where=": -v")]


def _together(standings: Sequence[Standing]) -> list[Standing]:
    """Those who wait in one call, each in its own group of one name, are one line with all these groups."""
    alike: dict[tuple[str, ...], list[Standing]] = {}
    for number, one in enumerate(standings):
        call = _LONG_CALL.fullmatch(one.what) if one.ranks[:1].isdigit() else None
        key = (call["op"], call["place"] or "", call["name"], call["seq"]) if call else (str(number),)
        alike.setdefault((one.state, *key), []).append(one)
    return [_of_groups(several) if len(several) > 1 else several[0] for several in alike.values()]


def _of_groups(several: Sequence[Standing]) -> Standing:
    members = [call["members"] or "" for one in several if (call := _LONG_CALL.fullmatch(one.what))]
    ranks = format_ranks(sorted({rank for one in several for rank in parse_ranks(one.ranks)}))
    what = several[0].what.replace(members[0], ",".join(dict.fromkeys(members)), 1)
    return replace(several[0], ranks=ranks, what=what)


def _shorter(did: str, sheet: Sheet) -> str:
    """``wait in all_reduce #12 train.py:3 of dp [0,2]``; where lines are scarce, which group that is of, -v tells."""
    group = "" if sheet.room.narrow else r" of \g<name>\g<members>"
    return _LONG_CALL.sub(rf"in \g<op> #\g<seq>\g<place>{group}", did)


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
