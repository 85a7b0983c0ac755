"""The arm or the handler in which a rank wrote what no other did: that it came there is what it did otherwise.

In: whom a verdict names. Out: the test, or the handler, around the call that wrote its last own line. What all ranks
decide alike, or by their numbers, is none: then others would have written it as well, or the one always.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from itertools import groupby
from typing import TypeAlias

from rankandfile.model.diagnosis import Verdict
from rankandfile.model.heuristics import heuristic
from rankandfile.source.dependence.syntax import ancestors
from rankandfile.source.lines.found_line import FoundLine, Search
from rankandfile.source.program.log_lines import Writer, written_by
from rankandfile.source.program.places import place_in

from .told_by_log import own_lines

Arm: TypeAlias = ast.If | ast.ExceptHandler
_ON_RANK = ("rank_api", "environment")


@heuristic("arm of its own line", "what a rank alone wrote was written in an arm that it alone came to")
def wrote_there(search: Search, verdict: Verdict) -> FoundLine | None:
    """Of those named, the last that one of them alone wrote, where that stands in an arm of its own."""
    named = {one.rank for one in verdict.named}
    rows = [row for row in own_lines(search) if row["rank"] in named]
    told = [
        (row, written_by(search.program, row["text"])) for row in sorted(rows, key=lambda row: -row["line"])
    ]
    for row, writer in told:
        if _again_and_again(writer, [one for other, one in told if other["rank"] == row["rank"]]):
            continue
        arm = _arm(search, writer) if writer is not None else None
        if writer is None or arm is None or writer.function.module.path in search.places.doubts:
            continue
        place = place_in(writer.function, arm.lineno)
        reason = search.why(writer.function, arm.test) if isinstance(arm, ast.If) else None
        return FoundLine(
            place,
            arm.lineno,
            writer.function.module.code_at(arm.lineno),
            reason,
            kind="wrote",
            singled=(row["rank"],),
            story=f'Rank {row["rank"]} alone wrote "{row["text"]}", at {place.at(writer.call.lineno)}.',
        )
    return None


def _again_and_again(writer: Writer | None, lines: Sequence[Writer | None]) -> bool:
    """Between two of its lines a rank has written another: it got on after the first of them."""
    turns = [call for call, _ in groupby(one and one.call for one in lines)]
    return writer is not None and turns.count(writer.call) > 1


def _arm(search: Search, writer: Writer) -> Arm | None:
    """The innermost around the call, where it may be its own rank's."""
    for outer in ancestors(writer.function.module, writer.call):
        if outer is writer.function.node:
            return None
        if isinstance(outer, ast.ExceptHandler):
            return outer
        if isinstance(outer, ast.If):
            reason = search.why(writer.function, outer.test)
            return outer if reason.level != "uniform" and reason.source not in _ON_RANK else None
    return None
