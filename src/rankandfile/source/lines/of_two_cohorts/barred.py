"""Two ways of which one leads through code that the ranks of the other side cannot come to: a test on the rank bars it.

Hooks, callbacks and handlers are called from one line, and ranks that are in two of them parted at no test that both
came to. But where one of them is behind a test that is for its own rank only, the others never make the call that it
makes there. A test in a decorator's wrapper is right by itself: the line that puts the function behind it is the one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import takewhile

from rankandfile.model.heuristics import heuristic
from rankandfile.source.dependence import Reason
from rankandfile.source.dependence.returned import main_only
from rankandfile.source.dependence.syntax import spans
from rankandfile.source.lines.call_paths import first_unlike
from rankandfile.source.lines.divergence import CodeDivergence, Side, ranks_in_words
from rankandfile.source.lines.found_line import FoundLine, Search
from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import resolve
from rankandfile.source.program.places import SourcePlace, place_in
from rankandfile.source.program.scopes import own_nodes

from .two_ways import sides_of


@heuristic(
    "barred to the others", "a call behind a test on the rank, which keeps all others from it, is made alone"
)
def barred(search: Search, divergence: CodeDivergence) -> FoundLine | None:
    """The line that keeps the ranks of one side from the other's call; None where each is kept from the other's."""
    able = sides_of(search, divergence)
    if {*able.normal} & {*able.culprit}:
        return None
    ways = (divergence.normal, able.normal, able.culprit), (divergence.culprit, able.culprit, able.normal)
    found = [line for way in ways if (line := _bar(search, divergence, *way)) is not None]
    return found[0] if len(found) == 1 else None


def _bar(
    search: Search, divergence: CodeDivergence, side: Side, mine: tuple[int, ...], others: tuple[int, ...]
) -> FoundLine | None:
    depth = first_unlike(divergence.normal.path, divergence.culprit.path)
    if not depth or side.call is None or _met_before(search, side):
        return None
    places = [search.places.find(frame) for frame in side.path]
    for at in range(depth, len(places)):
        place = places[at]
        if place is None or not place.known:
            continue
        only = main_only(place.function)
        if only is not None and 0 in mine and 0 not in others:
            return _behind(divergence, side, place, only)
        for test, wanted in _tests_around(place):
            if (
                _comes_out(search, mine, test, place)
                == {wanted}
                == {not way for way in _comes_out(search, others, test, place)}
            ):
                return _line(search, divergence, side, place, test, places[at + 1 :])
    return None


def _met_before(search: Search, side: Side) -> bool:
    """A call was made from there before, and the others met it: they need not come to it by this way."""
    before = takewhile(lambda made: made is not side.call, search.paths.calls(side.rank))
    return any(made.path == side.path for made in before)


def _comes_out(search: Search, ranks: tuple[int, ...], test: ast.If, place: SourcePlace) -> set[bool]:
    return {way for rank in ranks for way in search.one_rank(rank).outcomes(test.test, place.function)}


def _tests_around(place: SourcePlace) -> Iterator[tuple[ast.If, bool]]:
    """The tests in one arm of which the line stands, where the other calls nothing; and how they must come out."""
    tests = [node for node in own_nodes(place.function) if isinstance(node, ast.If)]
    for node in sorted(tests, key=lambda one: one.lineno):
        for arm, other, wanted in ((node.body, node.orelse, True), (node.orelse, node.body, False)):
            calls = any(isinstance(n, ast.Call) for statement in other for n in ast.walk(statement))
            if not calls and any(spans(statement, place.line) for statement in arm):
                yield node, wanted


def _line(
    search: Search,
    divergence: CodeDivergence,
    side: Side,
    place: SourcePlace,
    test: ast.If,
    further: list[SourcePlace | None],
) -> FoundLine:
    text, at = place.module.code_at(test.lineno), place.at(test.lineno)
    reason = search.why(place.function, test.test)
    inside = next((each for each in further if each is not None and each.known), None)
    put = _decorator(place.function, inside.function) if inside is not None else None
    if inside is not None and put is not None:
        place, line = inside, put.lineno
    else:
        line = test.lineno
    named = place_in(place.function, line)
    return _of_side(divergence, side, named, reason, f"`{text}` ({at})")


def _behind(divergence: CodeDivergence, side: Side, place: SourcePlace, decorator: ast.expr) -> FoundLine:
    """A library's decorator, which lets the first rank alone into the function."""
    line, file = decorator.lineno, place.path.rsplit("/", 1)[-1]
    text = place.module.code_at(line)
    words = f"`{text}` lets the main process alone into {place.function.name}() ({file}:{line})"
    named = place_in(place.function, line)
    reason = Reason(level="varying", source="rank_api", sentence=words)
    return _of_side(divergence, side, named, reason, f"`{text}` ({place.at(line)})")


def _of_side(
    divergence: CodeDivergence, side: Side, place: SourcePlace, reason: Reason, through: str
) -> FoundLine:
    return FoundLine(
        place,
        place.line,
        place.module.code_at(place.line),
        reason,
        divergence,
        kind="barred",
        singled=side.members,
        story=f"Of these, only {ranks_in_words(side)} can come through {through} to that call.",
    )


def _decorator(wrapper: Function, wrapped: Function) -> ast.expr | None:
    """The decorator of the one function that the other is the wrapper of."""
    node, makers = wrapped.node, {wrapper.parent, wrapper.parent.parent if wrapper.parent else None}
    for decorator in () if isinstance(node, (ast.Module, ast.Lambda)) else node.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        target = resolve(wrapped, called)
        if isinstance(target, Function) and target in makers:
            return decorator
    return None
