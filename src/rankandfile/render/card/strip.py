"""Who did what where the ranks went different ways: a line for each cohort, the odd one first."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rankandfile.model.diagnosis import Cohort, Verdict
from rankandfile.model.ranks import format_ranks, parse_ranks
from rankandfile.render.long_lists import LISTED, said_ranks
from rankandfile.render.places import seen_to_take
from rankandfile.render.words import (
    Signs,
    alike_culprits,
    base_name,
    call_text,
    came_to,
    place_text,
    plain,
)

_TESTS = ("if ", "elif ", "while ")
_BRANCHES = (
    *_TESTS,
    "for ",
    "async for ",
    "with ",
    "async with ",
    "try:",
    "except",
    "match ",
    "case ",
    "assert ",
)
#: A line that goes two ways within itself.
_INSIDE = re.compile(r"\b(?:and|or|if)\b|\s(?:[=!]=|[<>]=?|is|in)\s")


class Line(NamedTuple):
    who: str
    did: str
    host: str = ""
    odd: bool = False
    """It is about those who are to blame."""


def tells(verdict: Verdict) -> bool:
    """Whether the lines say what happened, as where somebody is to blame for another way; else the sentence does."""
    divergence, named = verdict.divergence, _named(verdict)
    return bool(
        divergence is not None
        and any(
            one.call is not None and not named & set(parse_ranks(one.ranks)) for one in divergence.cohorts
        )
        and verdict.culprits
        and verdict.hang
        and verdict.confidence != "hypothesis"
        and divergence.kind != "cycle"
        and verdict.family not in ("not_a_fault", "start_and_end", "fabric")
    )


def lines(verdict: Verdict, world: int | None, signs: Signs) -> Iterator[Line]:
    assert verdict.divergence is not None
    named = _named(verdict)
    cohorts = [(set(parse_ranks(one.ranks)), one) for one in verdict.divergence.cohorts]
    told = set(named)
    for ranks, host, doing in alike_culprits(verdict):
        first = parse_ranks(ranks)[0]
        own = next((one for members, one in cohorts if first in members), None)
        yield Line(
            said_ranks(ranks, world, signs),
            _odd(verdict, own, doing),
            f" on {host}" if host else "",
            odd=True,
        )
    for members, one in cohorts:
        if left := sorted(members - named):
            told |= members
            yield Line(said_ranks(format_ranks(left), world, signs), _came(verdict, one, set(left)))
    yield from _of_the_rest(verdict, told, world, signs)


def _of_the_rest(verdict: Verdict, told: set[int], world: int | None, signs: Signs) -> Iterator[Line]:
    """Those of whom no cohort tells, by the waits alone: whoever else waits, and whoever is waited for."""
    waiting, awaited = set[int](), dict[int, str]()
    for one in verdict.waits:
        waiting |= set(parse_ranks(one.ranks))
        number = "it" if one.seq is None else f"#{one.seq}"
        for rank in () if one.unseen else parse_ranks(one.waits_for):
            awaited.setdefault(rank, number)
    if rest := sorted((set(parse_ranks(verdict.victims)) | waiting) - told):
        who = the_others(rest, told, world) or said_ranks(format_ranks(rest), world, signs)
        yield Line(who, f"{'waits' if len(rest) == 1 else 'wait'} as well")
    for number in dict.fromkeys(awaited.values()):
        if left := sorted({rank for rank in awaited if awaited[rank] == number} - told - waiting):
            yield Line(said_ranks(format_ranks(left), world, signs), f"never came to {number}")


def the_others(rest: Sequence[int], told: set[int], world: int | None) -> str:
    """Of a long list that is all who are left, so much; else empty."""
    if len(format_ranks(rest)) <= LISTED or {*rest, *told} != {*range(world or 0)}:
        return ""
    return f"the other {len(rest):,} ranks"


def _came(verdict: Verdict, cohort: Cohort, ranks: set[int]) -> str:
    """Its call, and whether all of them wait in it."""
    came, call = came_to(verdict, cohort), cohort.call
    divergence = verdict.divergence
    if call is None or divergence is None:
        return came
    waits = any(
        (one.group, one.seq, one.op) == (call.group or divergence.group, call.seq, call.op)
        and ranks <= set(parse_ranks(one.ranks))
        for one in verdict.waits
    )
    by = f" ({call.implied_by.removesuffix(' here')})" if call.implied_by else ""
    return f"{'waits' if len(ranks) == 1 else 'wait'} in {came}{by}" if waits else f"{came}{by}"


def _odd(verdict: Verdict, cohort: Cohort | None, doing: str) -> str:
    if cohort is None or not doing:
        return doing if cohort is None else came_to(verdict, cohort)
    call = cohort.call
    if call is None:
        return doing
    if call.file is not None and place_text(base_name(call.file), call.line) in doing:
        return doing
    if call.file is None and f"the {call.op}" in doing:
        # "went on to the barrier": which it is, where it is named.
        number = f" #{call.seq}" if call.seq is not None else ""
        return doing.replace(f"the {call.op}", f"the {call.op}{number}", 1)
    said = call_text(call, verdict.divergence.group if verdict.divergence else None)
    return said if call.detail and call.detail in doing else f"{said}: {doing}"


def branch(verdict: Verdict, signs: Signs) -> str:
    """The condition, and who went which way at it, as far as that was seen; who is to blame went another way."""
    where = verdict.location
    if where is None or not where.condition:
        return ""
    condition = " ".join(plain(where.condition).split())
    seen = seen_to_take(verdict)
    if not seen or not is_test(condition):
        return condition
    # "Not taken by all ranks but 3" could be read in two ways.
    ways = {one.truth: said_ranks(one.ranks, signs=signs) for one in seen}
    others = _named(verdict).difference(*(parse_ranks(one.ranks) for one in seen))
    apart = said_ranks(format_ranks(others), signs=signs) if others and len(ways) == 1 else ""
    apart = f"; {apart} went another way" if apart else ""
    part = next((one.part for one in seen if one.part), None)
    if part is not None:
        told = [f"{str(truth).lower()} on {ways[truth]}" for truth in sorted(ways, reverse=True)]
        return f"{condition}  {plain(part)} is {', '.join(told)}{apart}"
    told = [f"{'' if truth else 'not '}taken by {ways[truth]}" for truth in sorted(ways, reverse=True)]
    return f"{condition}  {', '.join(told)}{apart}"


def kind_of_line(verdict: Verdict) -> str:
    """What the line is that decides: only where something branches, ways part."""
    condition = (verdict.location.condition or "") if verdict.location else ""
    if condition.startswith(_BRANCHES) or _INSIDE.search(condition):
        return "branch"
    return "value" if verdict.family == "arguments" else "line"


def is_test(condition: str) -> bool:
    return condition.startswith(_TESTS)


def _named(verdict: Verdict) -> set[int]:
    return {one.rank for one in verdict.named}
