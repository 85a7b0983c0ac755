"""Where the stages of a pipeline stand, and the loops that some of them are in and some have left."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from msgspec import Struct

from rankandfile.model.diagnosis import Verdict
from rankandfile.source.dependence.syntax import ancestors, spans
from rankandfile.source.lines.call_paths import CallPath
from rankandfile.source.lines.divergence import ranks_of
from rankandfile.source.lines.found_line import Search
from rankandfile.source.program.modules import Function
from rankandfile.source.program.places import SourcePlace
from rankandfile.source.program.scopes import own_nodes

_OF_TORCH = "torch/distributed/"
_TRANSFERS = {"send", "recv", "_wait_batch_p2p", "batch_isend_irecv"}
_MOST_RANKS = 256


class Stage(Struct, frozen=True):
    rank: int
    path: CallPath
    transfer: str
    """In which of torch's functions it waits for another rank; empty: it waits in a collective."""


def stages_of(search: Search, verdict: Verdict) -> list[Stage]:
    """Where each rank stands; none where one was not seen, moves, or waits for no other rank."""
    waiting = {rank for wait in verdict.waits for rank in ranks_of(wait.ranks)}
    waiting |= {*_open(search)}
    found: list[Stage] = []
    for rank in range(search.case.world_size or 0):
        looks = search.paths.whole(rank, "main")
        path = search.paths.now(rank)
        torchs = (
            (frame for frame in reversed(looks[0]) if _OF_TORCH in frame.file.replace("\\", "/"))
            if looks
            else ()
        )
        frames = [frame.function for frame in torchs]
        transfer = next((name for name in frames if name in _TRANSFERS), "")
        if not path or len(set(looks)) != 1 or len(found) > _MOST_RANKS or not (transfer or rank in waiting):
            return []
        found.append(Stage(rank, path, transfer))
    return found


def _open(search: Search) -> Iterator[int]:
    """Ranks whose last recorded call is not over, and was made from where they are."""
    for rank in search.paths.seen():
        calls = search.paths.calls(rank)
        if calls and calls[-1].path == search.paths.now(rank):
            yield rank


def loops(
    search: Search, stages: list[Stage]
) -> Iterator[tuple[SourcePlace, ast.For, list[Stage], list[Stage]]]:
    """Loops of a function in which all stand who wait in a transfer, and others, some in it and some behind it."""
    sending = {stage.rank for stage in stages if stage.transfer}
    deepest = max((len(stage.path) for stage in stages), default=0)
    for depth in range(deepest):
        together: dict[object, list[Stage]] = {}
        for stage in stages:
            if depth < len(stage.path):
                together.setdefault((stage.path[:depth], stage.path[depth][:2]), []).append(stage)
        for group in together.values():
            place = search.places.find(group[0].path[depth])
            if place is None or not place.known or not sending <= {stage.rank for stage in group}:
                continue
            for loop in own_nodes(place.function):
                if not isinstance(loop, ast.For):
                    continue
                lines = {stage.rank: stage.path[depth].line for stage in group}
                inside = [stage for stage in group if spans(loop, lines[stage.rank])]
                past = [stage for stage in group if _behind(place.function, loop, lines[stage.rank])]
                if inside and past and len(inside) + len(past) == len(group):
                    yield place, loop, inside, past


def _behind(function: Function, loop: ast.For, line: int) -> bool:
    """Whoever is at the line has gone through the loop: it comes behind it in all that the loop stands in."""
    if line <= (loop.end_lineno or loop.lineno):
        return False
    for outer in ancestors(function.module, loop):
        if outer is function.node:
            return True
        if not isinstance(outer, (ast.For, ast.While, ast.With)) or not spans(outer, line):
            return False
    return True
