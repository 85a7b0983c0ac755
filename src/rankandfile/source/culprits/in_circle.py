"""Two ranks that each wait for a message of the other: by the code, one is still in a loop that the other has left.

No recorder tells whom a rank receives from. The code does, where the sender is arithmetic on the rank's own number. Of
two that wait for each other, one has run the loop too often or too rarely; where what the loop goes over depends on a
test that can only be true on one of them, it is that one.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from rankandfile.model.diagnosis import Verdict
from rankandfile.model.findings import NamedByCode
from rankandfile.model.heuristics import heuristic
from rankandfile.source.dependence import why
from rankandfile.source.dependence.syntax import dotted
from rankandfile.source.files.text import without_comment
from rankandfile.source.flow import Condition
from rankandfile.source.lines.call_paths import CallPath
from rankandfile.source.lines.found_line import FoundLine, Search
from rankandfile.source.lines.held_line import innermost
from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import enclosing_class, method, resolve
from rankandfile.source.program.places import SourcePlace
from rankandfile.source.program.scopes import own_nodes

from .unsent_message import peers_of, transfers

_KIND = "loop"
_MOST_RANKS = 256


@dataclass(frozen=True)
class Circle:
    place: SourcePlace
    loop: ast.For | ast.AsyncFor
    stays: int
    left: int
    """The rank that has left the loop."""
    odd: int
    """The one of both on which the test can be true."""


def by_circle(verdict: Verdict, found: FoundLine, search: Search) -> NamedByCode | None:
    """The rank of the circle that goes round too often or too rarely, where the line of the loop was found."""
    pair = _circle(search, verdict) if found.kind == _KIND else None
    if pair is None:
        return None
    line = f"{found.place.path.rsplit('/', 1)[-1]}:{found.line}"
    return NamedByCode(
        ranks=(pair.odd,),
        doing=f"goes round another number of times than its peers at {line}",
        sentence=f"By the code, rank {pair.left} waits for a message of rank {pair.stays} and rank {pair.stays} for "
        f"one of rank {pair.left}, which has left the loop at {line} (`{found.condition}`) that rank {pair.stays} is "
        "still in; "
        f"what the loop goes over depends on a test that of these two can only be true on rank {pair.odd}.",
    )


@heuristic("left the loop", "of two that wait for each other's message, one has left the loop too soon")
def _circle(search: Search, verdict: Verdict) -> Circle | None:
    if verdict.culprits or verdict.divergence is not None or verdict.cause != "skipped_collective":
        return None
    pair = _pair(search)
    for left, stays in (pair, pair[::-1]) if pair else ():
        between = _loop_between(search, left, stays)
        if between is None:
            continue
        place, loop = between
        odd = _singled_out(search, place.function, loop, (left, stays))
        if odd is not None:
            return Circle(place, loop, stays, left, odd)
    return None


def in_circle(search: Search, verdict: Verdict) -> FoundLine | None:
    """The line of the loop that one of the two is still in, and the other has left."""
    found = _circle(search, verdict)
    if found is None:
        return None
    line = found.loop.lineno
    text = found.place.module.lines[line - 1].strip()
    reason = why(
        search.program,
        found.place.function,
        Condition(line, text, "for", "another item", "no more items", found.loop.iter),
    )
    return FoundLine(found.place, line, without_comment(text), reason, kind=_KIND)


def _pair(search: Search) -> tuple[int, int] | None:
    """The only two that wait for each other, if it is known of all ranks whom they wait for."""
    world, ranks = search.case.world_size or 0, search.paths.seen()
    if not 2 <= world <= _MOST_RANKS or ranks != list(range(world)):
        return None
    awaited: dict[int, int] = {}
    for rank in ranks:
        place = innermost(search.places, search.paths.now(rank))
        receives = (
            [t for t in transfers(place.function) if not t.sends and _on(t.call, place)] if place else []
        )
        peers = (
            peers_of(search.one_rank(rank), receives, place.function) if place and receives else frozenset()
        )
        if len(peers) != 1:
            return None
        (awaited[rank],) = peers
    pairs = [(a, b) for a, b in awaited.items() if a < b and awaited[b] == a]
    return pairs[0] if len(pairs) == 1 else None


def _on(call: ast.Call, place: SourcePlace) -> bool:
    return call.lineno <= place.line <= (call.end_lineno or call.lineno)


def _loop_between(search: Search, left: int, stays: int) -> tuple[SourcePlace, ast.For | ast.AsyncFor] | None:
    """The function in which the two stand at different lines, and the loop that only one of them is in."""
    one, other = search.paths.now(left), search.paths.now(stays)
    depth = _shared(one, other)
    if depth is None:
        return None
    here, there = search.places.find(one[depth]), search.places.find(other[depth])
    if here is None or there is None or not here.known or here.function is not there.function:
        return None
    for node in own_nodes(here.function):
        last = getattr(node, "end_lineno", None) or 0
        if isinstance(node, (ast.For, ast.AsyncFor)) and node.lineno < there.line <= last < here.line:
            return there, node
    return None


def _shared(one: CallPath, other: CallPath) -> int | None:
    """The depth of the first frame that differs; the functions around it are on the same lines."""
    for depth, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return depth if (a.file, a.function) == (b.file, b.function) else None
    return None


def _singled_out(
    search: Search, function: Function, loop: ast.For | ast.AsyncFor, ranks: tuple[int, int]
) -> int | None:
    """The one rank of both on which a test can be true, of those that decide what the loop goes over."""
    found: set[int] = set()
    for test, where in _tests(function, loop.iter):
        can = {rank for rank in ranks if search.one_rank(rank).can_be_true(test, where)}
        if len(can) == 1:
            found |= can
    return found.pop() if len(found) == 1 else None


def _tests(function: Function, items: ast.expr) -> list[tuple[ast.expr, Function]]:
    """The tests in what the loop goes over, and in the functions that it calls."""
    found = [(node.test, function) for node in ast.walk(items) if isinstance(node, ast.IfExp)]
    for node in ast.walk(items):
        target = _called(function, node) if isinstance(node, ast.Call) else None
        if target is not None:
            found += [(n.test, target) for n in own_nodes(target) if isinstance(n, (ast.If, ast.IfExp))]
    return found


def _called(function: Function, call: ast.Call) -> Function | None:
    owner = enclosing_class(function)
    if owner is not None and isinstance(call.func, ast.Attribute) and dotted(call.func.value) == "self":
        return method(owner, call.func.attr)
    target = resolve(function, call.func)
    return target if isinstance(target, Function) else None
