"""Ranks that wait for each other in a circle: a line each, who waits for whom and in what."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from rich.console import RenderableType

from rankandfile.model.diagnosis import Verdict, Wait
from rankandfile.model.ranks import format_ranks, parse_ranks
from rankandfile.render.long_lists import foldable, said_group, said_ranks
from rankandfile.render.words import base_name, place_text, waiters

from . import strip
from .sheet import Sheet

#: A sentence that lists the waits, which are short sentences that none begins with a capital letter.
_LISTS = re.compile(
    r"(?P<what>wait for each other in a circle|each wait for a message that has not been sent): .*?\.(?= [A-Z`]|$)"
)


class Edge(NamedTuple):
    ranks: str
    waits_for: str
    call: str


def rows(verdict: Verdict, sheet: Sheet) -> list[RenderableType]:
    """Nothing where no circle is told of."""
    found, world = _line_by_line(verdict), sheet.diagnosis.job.world_size
    if not found:
        return []
    shown = sheet.who_did_what()
    few, told = found[: sheet.room.cohorts], set[int]()
    for one in few:
        whom = said_ranks(one.waits_for, world, sheet.signs)
        waits = "waits" if one.ranks.isdigit() else "wait"
        ranks = parse_ranks(one.ranks)
        said = strip.the_others(ranks, told, world) or said_ranks(one.ranks, world, sheet.signs)
        told |= {*ranks}
        who = sheet.text(foldable(said, sheet.left))
        shown.add_row(who, sheet.signs.then, sheet.text(f"{waits} for {whom}: {one.call}"))
    return [shown, *sheet.more(len(found) - len(few), "wait", where=": -v")]


def without_its_waits(verdict: Verdict) -> str:
    """The sentence less the waits, where they are shown line by line."""
    if not _line_by_line(verdict):
        return verdict.sentence
    return _LISTS.sub(lambda found: f"{found['what']}.", verdict.sentence, count=1)


def _line_by_line(verdict: Verdict) -> list[Edge]:
    """The waits that the sentence lists; none where the card has no line for each."""
    if not _LISTS.search(verdict.sentence) or strip.tells(verdict):
        return []
    found = list(_edges(verdict))
    return found if len(found) > 1 else []


def _edges(verdict: Verdict) -> Iterator[Edge]:
    """Of those who wait for somebody who waits as well, and not for one that came late."""
    waits = [(set(parse_ranks(waiters(one))), set(parse_ranks(one.waits_for)), one) for one in verdict.waits]
    inside = {rank for who, whom, _ in waits if whom for rank in who}
    while True:
        left = set[int]().union(*(who & inside for who, whom, _ in waits if not whom.isdisjoint(inside)))
        if left == inside:
            break
        inside = left
    for who, whom, one in waits:
        if not (who.isdisjoint(inside) or whom.isdisjoint(inside)):
            yield Edge(format_ranks(sorted(who)), format_ranks(sorted(whom)), _call(verdict, one, who))


def _call(verdict: Verdict, wait: Wait, who: set[int]) -> str:
    number = "" if wait.seq is None else f" #{wait.seq}"
    place = ""
    for cohort in verdict.divergence.cohorts if verdict.divergence else ():
        call = cohort.call
        same = call is not None and (call.op, call.seq) == (wait.op, wait.seq)
        if call is not None and call.file and same and who & set(parse_ranks(cohort.ranks)):
            place = f", {place_text(base_name(call.file), call.line)}"
    return f"{wait.op or 'call'}{number} of {said_group(wait.group)}{place}"
