"""Of two lines of one function at which ranks stand: the calls that are made once between these, and nowhere else.

What a test may leave out, here or in what is called, is not made between them each time.

Where records carry no frames, this tells where a rank's last call came from: who has made it, and stands at the first
of the two lines, has come there anew.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise, permutations
from typing import NamedTuple

from rankandfile.source.dependence.syntax import COMPREHENSIONS, JUMPS, LOOPS, ancestors, outers_within, spans
from rankandfile.source.effects.event import Event
from rankandfile.source.effects.loud import Opaque, Runs, effects_of
from rankandfile.source.lines.call_paths import CallPath, Frame, first_unlike
from rankandfile.source.lines.found_line import Search
from rankandfile.source.program.kept import kept
from rankandfile.source.program.modules import Function
from rankandfile.source.program.places import SourcePlace
from rankandfile.source.program.scopes import own_nodes

_NAMED_AS_MADE = frozenset(
    {"all_reduce", "all_gather", "broadcast", "reduce", "reduce_scatter", "gather", "scatter", "barrier"}
)
"""Which make one call, of their own name: so the name in a record tells of them."""
_MAY_BE_LEFT_OUT = (ast.If, ast.IfExp, ast.BoolOp, *LOOPS, ast.Try, ast.Match)
_MOST_PATHS = 16
_MOST_RANKS = 64

Pair = tuple[str, int, int]
"""A file as the process saw it, and two lines of one function of it, the earlier first."""


@kept
def calls_between(search: Search) -> dict[Pair, Mapping[str, Frame]]:
    """By where two ranks stand: the kinds of calls that only what lies between makes, with the line that makes them,
    of the function in which both stand or of one that the first has come to from there."""
    paths = dict.fromkeys(path for rank in search.paths.seen() if (path := search.paths.now(rank)))
    found: dict[Pair, Mapping[str, Frame]] = {}
    if len(paths) > _MOST_PATHS:
        return found
    for one, other in permutations(paths, 2):
        depth = first_unlike(one, other)
        if depth is None or one[depth][:2] != other[depth][:2] or one[depth].line >= other[depth].line:
            continue
        if between := _between(search, one, other, depth):
            found[one[depth].file, one[depth].line, other[depth].line] = between
    return found


class _Ways(NamedTuple):
    search: Search
    due: SourcePlace
    """Of the call that the others wait in."""
    gone_into: frozenset[Function]
    """What the first has come to: of these the statements are told apart."""
    led_to: Mapping[tuple[Function, int], Function]
    """By a function and a line of it at which a rank stands, which function it has called there."""


def _between(search: Search, one: CallPath, other: CallPath, depth: int) -> dict[str, Frame]:
    """The statements between are those of the function after the first line and before the other one, and, of what the
    first has led to, all that comes when the rank goes on there."""
    mine, theirs = (_places(search, path[depth:]) for path in (one, other))
    if not mine or not theirs:
        return {}
    at, *further = mine
    block, first, last = _diverging(at.function.node, at.line, theirs[0].line)
    around = [*block[: first + 1], *block[last:]]
    made = [(one[depth], at.function, statement) for statement in block[first + 1 : last]]
    for frame, place in zip(one[depth + 1 :], further, strict=True):
        body = getattr(place.function.node, "body", [])
        here = next((n for n, s in enumerate(body) if spans(s, place.line)), len(body))
        around += body[: here + 1]
        made = [*((frame, place.function, statement) for statement in body[here + 1 :]), *made]
    led_to = {(a.function, a.line): b.function for path in (mine, theirs) for a, b in pairwise(path)}
    ways = _Ways(search, theirs[-1], frozenset(place.function for place in further), led_to)
    elsewhere = _made(at.function, around, ways)
    found: dict[str, Frame] = {}
    for frame, function, statement in made:
        ops = _made(function, [statement], ways)
        if ops is None or elsewhere is None:
            return {}
        once = {op for op, is_once in ops.items() if is_once and op not in elsewhere}
        found.update({op: frame._replace(line=statement.lineno) for op in once})
    return found


def _places(search: Search, path: CallPath) -> list[SourcePlace]:
    """None of them where one is not known."""
    found = [place for frame in path if (place := search.places.find(frame)) is not None and place.known]
    return found if len(found) == len(path) else []


def _diverging(outer: ast.AST, here: int, there: int) -> tuple[Sequence[ast.stmt], int, int]:
    """The innermost row of statements in which the two lines are in two of them, and which; an empty one if none."""
    for block in (getattr(outer, name, None) for name in ("body", "orelse", "finalbody")):
        at = [next((n for n, s in enumerate(block or ()) if spans(s, line)), None) for line in (here, there)]
        if block and at[0] is not None and at[1] is not None:
            return (block, at[0], at[1]) if at[0] != at[1] else _diverging(block[at[0]], here, there)
    return (), 0, 0


def _made(at: Function, statements: Sequence[ast.stmt], ways: _Ways) -> dict[str, bool] | None:
    """The kinds of calls that the statements may make, themselves or in what they run, without the one that is due, and
    whether once each time; None: that cannot be told."""
    found: dict[str, bool] = {}
    for event, is_once in _events(at, statements, ways):
        if event is None or event.op not in _NAMED_AS_MADE:
            return None
        if event.function is not ways.due.function or event.line != ways.due.line:
            found[event.op] = is_once and found.get(event.op, True)
    return found


def _events(at: Function, statements: Sequence[ast.stmt], ways: _Ways) -> Iterator[tuple[Event | None, bool]]:
    effects = effects_of(at.module.program)
    nodes = [
        (at, node, _is_once(at, node, ways, upto=statement))
        for statement in statements
        for node in ast.walk(statement)
    ]
    seen = {*ways.gone_into}
    while nodes:
        function, node, is_once = nodes.pop()
        for effect in effects.of.get(node, ()):
            if isinstance(effect, Event):
                yield effect, is_once
                continue
            # What the code leaves open, a rank that was seen there may show.
            led_to = ways.led_to.get((function, effect.call.lineno)) if isinstance(effect, Opaque) else None
            target = effect.target if isinstance(effect, Runs) else led_to
            if target is None and isinstance(effect, Opaque):
                yield None, is_once
            elif target is not None and target not in seen:
                seen.add(target)
                nodes += [
                    (target, each, is_once and _is_once(target, each, ways)) for each in own_nodes(target)
                ]


def _is_once(at: Function, node: ast.AST, ways: _Ways, upto: ast.stmt | None = None) -> bool:
    """Whether the function comes to it once each time; `upto`: whoever comes to that statement."""
    below = node
    for outer in (node, *ancestors(at.module, node)):
        if outer is at.node:
            break
        decided = isinstance(outer, ast.If) and _goes(at, outer, below, ways)
        if isinstance(outer, (*_MAY_BE_LEFT_OUT, *COMPREHENSIONS)) and not decided:
            return False
        if outer is upto:
            return True
        below = outer
    line = getattr(node, "lineno", 0)
    jumps = (each for each in own_nodes(at) if isinstance(each, JUMPS) and each.lineno < line)
    return all(_never(at, jump, ways) for jump in jumps)


def _goes(at: Function, test: ast.If, below: ast.AST, ways: _Ways) -> bool:
    """Whether each rank that was seen comes by the test to what is below it, whatever the round."""
    if below in (test, test.test):
        return below is test.test
    return _outcomes(at, test, ways) == {any(below is each for each in test.body)}


def _never(at: Function, jump: ast.AST, ways: _Ways) -> bool:
    return any(
        isinstance(outer, ast.If)
        and _outcomes(at, outer, ways) == {not any(below is each for each in outer.body)}
        for below, outer in pairwise((jump, *outers_within(at, jump)))
    )


def _outcomes(at: Function, test: ast.If, ways: _Ways) -> set[bool]:
    ranks = sorted(ways.search.paths.seen())[:_MOST_RANKS]
    return {way for rank in ranks for way in ways.search.one_rank(rank).outcomes(test.test, at)}
