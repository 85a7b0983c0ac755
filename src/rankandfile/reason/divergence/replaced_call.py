"""What a call in place of another is, by where the two stand in the program."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl
from msgspec.structs import replace

from rankandfile.model.heuristics import heuristic
from rankandfile.reason.calls.rounds import find_loop, predict
from rankandfile.reason.waits.facts import WaitFacts

from .code_paths import relation
from .divergence_point import DivergencePoint, calls_before
from .track_difference import Kind

_LONGEST_ROUND = 4096
_TIMES = 2


def placed(facts: WaitFacts, found: DivergencePoint) -> DivergencePoint:
    """Tell what a call in place of another is, by where the two stand in the program."""
    if found.expected is None or found.came is None:
        return found
    before = calls_before(facts, found.expected)
    stacks = list(dict.fromkeys(before["stack"].drop_nulls().reverse().head(256).to_list()))
    how = relation(facts.case, stacks, found.expected["stack"], found.came["stack"])
    known = found.came["path"] in set(before["path"].drop_nulls().to_list())
    if how == "unknown" and known and (short := _broke_off(facts, found)) is not None:
        # By the lines nothing shows how the two lie to each other; by its own rounds, the one always ended the other.
        if short.rounds > 1:
            return replace(found, how="left")
        return replace(found, how="after", kind="skipped", length=short.calls)
    if how in ("after", "left", "behind") and known:
        # The loop makes this call after the expected one, and has made it before: the expected one was left out.
        return replace(found, how="after", kind="skipped", length=_left_out(facts, found))
    if (
        how == "before"
        or (how == "end" and known)
        or (how in ("unknown", "after") and not known and found.came["group"] != found.expected["group"])
    ):
        kind: Kind = "extra" if how in ("before", "end") else found.kind
        return replace(found, how=how, kind=kind, group=int(found.came["group"]), slot=found.came["slot"])
    return replace(found, how=how)


class _Short(NamedTuple):
    """What a row of like calls lacks."""

    calls: int
    rounds: int


@heuristic(
    "broken-off row", "who comes to what ended each row of like calls, after fewer of them, broke it off"
)
def _broke_off(facts: WaitFacts, found: DivergencePoint) -> _Short | None:
    """None, if what it came to did not end a row, of one length each time, of the calls that the others go on with.

    One round of the row may have been left out in its middle, and the row gone on to its end: several seldom are.
    """
    due, came = found.expected, found.came
    if due is None or came is None or due["path"] is None or due["path"] == came["path"]:
        return None
    calls = calls_before(facts, came).sort("record")
    tokens, paths = calls["token"].to_numpy(), calls["path"].to_list()
    ends = [place for place, path in enumerate(paths) if path == came["path"]]
    rows = [_row(paths, end, due["path"]) for end in (*ends, len(paths))]
    # The first one may have begun before what is kept.
    *before, now = rows[1:] if rows[0] and rows[0] == ends[0] else rows
    if len(before) < _TIMES or len({*before}) > 1 or not 0 < now < before[0]:
        return None
    last = tokens[ends[-1] - before[-1] : ends[-1]]
    loop = find_loop(last)
    missing = before[-1] - now
    return _Short(missing, missing // (loop.period if loop is not None else len(last)))


def _row(paths: list[int | None], end: int, like: int) -> int:
    """How many calls by this path stand together right before the place."""
    begin = end
    while begin and paths[begin - 1] == like:
        begin -= 1
    return end - begin


def _left_out(facts: WaitFacts, found: DivergencePoint) -> int:
    """How many calls of its round lie between the expected call and the one that came, by the rounds before."""
    assert found.expected is not None and found.came is not None
    before = calls_before(facts, found.expected).filter(pl.col("group") == found.group)["token"].to_numpy()
    due = predict(before, _LONGEST_ROUND)
    places = np.flatnonzero(due == np.uint64(found.came["token"]))
    return int(places[0]) if places.size and places[0] else 1
