"""Where the stages of a pipeline stand, and the loops that some of them are in and some have left."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from msgspec import Struct

from rankandfile.model.causes import LEFT_MESSAGE_OUT
from rankandfile.model.diagnosis import Verdict
from rankandfile.source.dependence.syntax import ancestors, outers_within, spans
from rankandfile.source.lines.call_paths import CallPath
from rankandfile.source.lines.divergence import ranks_of
from rankandfile.source.lines.found_line import Search
from rankandfile.source.program.modules import Function
from rankandfile.source.program.places import SourcePlace
from rankandfile.source.program.scopes import own_nodes

_OF_TORCH = "torch/distributed/"
_SCHEDULES = "torch/distributed/pipelining/schedules"
_TRANSFERS = {"send", "recv", "_wait_batch_p2p", "batch_isend_irecv"}
_MOST_RANKS = 256


class Stage(Struct, frozen=True):
    rank: int
    path: CallPath
    transfer: str
    """In which of torch's functions it waits for another rank; empty: it waits in a collective."""
    scheduled: bool = False
    """It waits in a step of torch's own schedules, which all stages must make equally often."""


def stages_of(search: Search, verdict: Verdict) -> list[Stage]:
    """Where each rank stands; none where one was not seen, moves, waits for no other rank, or where more is known."""
    known = verdict.cause != "undetermined" or bool(verdict.named)
    if verdict.hang is False or (known and left_message_out(verdict) is None):
        return []
    waiting = {rank for wait in verdict.waits for rank in ranks_of(wait.ranks)}
    waiting |= {*_open(search)}
    if left_message_out(verdict) is not None:
        # Who lacks the message waits for it; a wait for what was begun before leaves no frame of torch's.
        waiting |= {rank for wait in verdict.waits for rank in ranks_of(wait.waits_for)}
    return _stages(search, waiting)


def all_stages(search: Search) -> list[Stage]:
    """Where each rank stands by stacks alone; none where one was not seen in a call of torch's, or moves."""
    in_torch = {
        rank
        for rank in range(min(search.ranks, _MOST_RANKS))
        if (looks := search.paths.whole(rank, "main")) and _of_torch(looks[0])
    }
    return _stages(search, in_torch)


def _stages(search: Search, waiting: set[int]) -> list[Stage]:
    found: list[Stage] = []
    for rank in range(search.ranks):
        looks = search.paths.whole(rank, "main")
        path = search.paths.now(rank)
        frames = _of_torch(looks[0]) if looks else []
        transfer = _transfer(frames)
        scheduled = any(_SCHEDULES in file and name == "step" for name, file in frames)
        if not path or len(set(looks)) != 1 or len(found) > _MOST_RANKS or not (transfer or rank in waiting):
            return []
        found.append(Stage(rank, path, transfer, scheduled))
    return found


def _of_torch(path: CallPath) -> list[tuple[str, str]]:
    """Functions of torch's with their files, the innermost first."""
    frames = ((frame.function, frame.file.replace("\\", "/")) for frame in reversed(path))
    return [(function, file) for function, file in frames if _OF_TORCH in file]


def _transfer(frames: list[tuple[str, str]]) -> str:
    return next((name for name, _ in frames if name in _TRANSFERS), "")


def seen_in_transfer(search: Search, rank: int) -> bool:
    """Its stack shows it in a send or a receive, which its recorder may not keep."""
    return any(_transfer(_of_torch(look)) for look in search.paths.whole(rank, "main"))


def left_message_out(verdict: Verdict) -> int | None:
    """The rank that is named for a message that it left out."""
    named = [one.rank for one in verdict.named if (one.doing or "").startswith(LEFT_MESSAGE_OUT)]
    return named[0] if len(named) == len(verdict.named) == 1 else None


def _open(search: Search) -> Iterator[int]:
    """Ranks whose last recorded call is not over, and was made from where they are."""
    for rank in search.paths.seen():
        calls = search.paths.calls(rank)
        if calls and calls[-1].path == search.paths.now(rank):
            yield rank


def loops(
    search: Search, stages: list[Stage]
) -> Iterator[tuple[SourcePlace, ast.For, list[Stage], list[Stage]]]:
    """Loops that some are in and others behind, of all who wait in a transfer: in a function in which all of these
    stand, or in one that those inside have come to from there, and the others have come back from. One may stand
    elsewhere, as who serves all others does."""
    sending = {stage.rank for stage in stages if stage.transfer}
    deepest = max((len(stage.path) for stage in stages), default=0)
    for depth in range(deepest):
        for group in _together(stages, depth):
            place = search.places.find(group[0].path[depth])
            elsewhere = sending - {stage.rank for stage in group}
            if place is None or not place.known or len(elsewhere) > 1:
                continue
            lines = {stage.rank: stage.path[depth].line for stage in group}
            for loop in own_nodes(place.function):
                if not isinstance(loop, ast.For):
                    continue
                inside = [stage for stage in group if spans(loop, lines[stage.rank])]
                past = [stage for stage in group if _behind(search, place.function, loop, stage, depth)]
                if inside and past and len(inside) + len(past) == len(group):
                    yield place, loop, inside, past
            if elsewhere:
                continue
            for line in sorted({*lines.values()}):
                first = [stage for stage in group if lines[stage.rank] == line]
                step = _statement(place.function, line)
                past = [
                    stage for stage in group if step and _behind(search, place.function, step, stage, depth)
                ]
                # Who waits there for a call that the others are to make as well is in the same round of all around it.
                together = past and not any(stage.transfer for stage in past)
                # One may have another part, and serve them all.
                served = len(first) + len(past) + (len(first) > 1) >= len(group)
                if together and served:
                    yield from ((*found, first, past) for found in _further_in(search, first, depth + 1))


def _further_in(search: Search, inside: list[Stage], depth: int) -> Iterator[tuple[SourcePlace, ast.For]]:
    """Loops that all of them are in, of functions that they were called in from one place: whoever has come back from
    there has gone through these too."""
    while all(depth < len(stage.path) for stage in inside) and len(_together(inside, depth)) == 1:
        place = search.places.find(inside[0].path[depth])
        lines = [stage.path[depth].line for stage in inside]
        if place is None or not place.known:
            return
        around = (
            node
            for node in own_nodes(place.function)
            if isinstance(node, ast.For) and all(spans(node, line) for line in lines)
        )
        yield from ((place, loop) for loop in around if _always_come_to(place.function, loop))
        step = _statement(place.function, lines[0])
        if step is None or len({*lines}) > 1 or not _always_come_to(place.function, step):
            return
        depth += 1


def _together(stages: list[Stage], depth: int) -> list[list[Stage]]:
    """Those who stand in one function there, and came to it in one way."""
    found: dict[object, list[Stage]] = {}
    for stage in stages:
        if depth < len(stage.path):
            found.setdefault((stage.path[:depth], stage.path[depth][:2]), []).append(stage)
    return [*found.values()]


def _statement(function: Function, line: int) -> ast.stmt | None:
    """The innermost statement that the line is in."""
    found = [node for node in own_nodes(function) if isinstance(node, ast.stmt) and spans(node, line)]
    return max(found, key=lambda node: node.lineno, default=None)


def _always_come_to(function: Function, step: ast.stmt) -> bool:
    """Nobody comes back from the function without it, but by an error."""
    outers = [*outers_within(function, step)]
    returns = (
        node for node in own_nodes(function) if isinstance(node, (ast.Return, ast.Yield, ast.YieldFrom))
    )
    return all(isinstance(outer, ast.With) for outer in outers) and not any(
        node.lineno < step.lineno for node in returns
    )


def _behind(search: Search, function: Function, step: ast.stmt, stage: Stage, depth: int) -> bool:
    """Whether it has gone through the step: its line comes behind it in all that the step stands in, and of an `if` its
    number alone says that it took this way."""
    line = stage.path[depth].line
    if line <= (step.end_lineno or step.lineno):
        return False
    below: ast.AST = step
    for outer in ancestors(function.module, step):
        if outer is function.node:
            return True
        if isinstance(outer, ast.If) and not spans(outer, line):
            wanted = any(below is each for each in outer.body)
            if search.one_rank(stage.rank).outcomes(outer.test, function) != {wanted}:
                return False
        elif not isinstance(outer, (ast.For, ast.While, ast.With)) or not spans(outer, line):
            return False
        below = outer
    return True
