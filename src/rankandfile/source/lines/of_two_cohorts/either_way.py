"""Whether a side can have come to where it was seen whichever way a test came out.

`if due: evaluate()` says nothing of who was seen behind it, where `evaluate` may return without the call that others
made in it: it may have been entered there and left in silence. In: a decision, the two sides' call paths, which lines
can be reached from which. Out: whether the flow of the functions allows for one outcome alone.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from types import MappingProxyType

from rankandfile.source.dependence import why
from rankandfile.source.dependence.syntax import spans
from rankandfile.source.flow import Point, conditions_at, deciding
from rankandfile.source.flow.build import graph_of
from rankandfile.source.flow.graph import RAISED, Graph, Node
from rankandfile.source.lines.branchings import End
from rankandfile.source.lines.call_paths import CallPath, Stop
from rankandfile.source.lines.decision import Decision
from rankandfile.source.lines.exception_origin import handlers_around
from rankandfile.source.lines.reachability import Reachability
from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import External, resolve
from rankandfile.source.program.places import SourcePlace, SourcePlaces

_TESTS = ("if", "while", "for", "ifexp", "boolop", "match", "comprehension", "assert")
_MOST_TESTS = 12


def shown(
    decision: Decision,
    outcome: str,
    stop: Stop | End,
    others: tuple[tuple[Stop | End | None, CallPath], ...],
    places: SourcePlaces,
) -> bool:
    """Whether the outcome follows from where the side was seen. `others`: the places in the function that it has not
    come by, or that led to a call which it did not make, each with the whole path of that call."""
    condition = decision.condition
    if condition.kind not in _TESTS:
        return True
    graph = graph_of(decision.place.function)
    decides = {node for node in graph.nodes if _is_of(node, condition.kind, condition.node)}
    otherwise = {node for each in decides for node in _after(each, condition.kind, outcome)}
    if not otherwise:
        return True
    # Its own calls are behind it: there it has made one, or was seen in it.
    goals = _at(graph, stop) if isinstance(stop, Stop) else _ends(graph, decision.branching.handed_out)
    depth = decision.branching.depth
    stops = [(place, path) for place, path in others if isinstance(place, Stop)]
    passed = [place for place, path in stops if _must_call(path, depth, places)]
    walls = {node for place in passed for node in _at(graph, place)} | decides
    if isinstance(stop, Stop) and _cleans_up(decision.place, stop.line):
        # An exception leads there as well.
        return not goals & _reached(otherwise, walls - goals, raising=True)
    if not goals & _reached(otherwise, walls - goals):
        return True
    # Where both went that way, what is the same on all ranks led both on alike.
    theirs = {node for place, _ in stops[-1:] for node in _at(graph, place)}
    alike = _alike(decision.place, otherwise, theirs, decides, places) if theirs else {}
    return bool(alike) and not goals & _reached(otherwise, walls - goals, alike)


def _cleans_up(place: SourcePlace, line: int) -> bool:
    """Whether the line is passed on the way out of a block, however it ends: in a `finally`, or at a `with`."""
    return any(
        (isinstance(node, ast.Try) and any(spans(statement, line) for statement in node.finalbody))
        or (
            isinstance(node, (ast.With, ast.AsyncWith))
            and any(spans(i.context_expr, line) for i in node.items)
        )
        for node in place.function.nodes
    )


def _alike(
    place: SourcePlace, starts: set[Node], theirs: set[Node], walls: set[Node], places: SourcePlaces
) -> dict[Node, set[Node]]:
    """Of the tests that come out alike on all ranks, and that the others cannot have come by without, what they led
    the others to."""
    found: dict[Node, set[Node]] = {}
    met = [node for node in _reached(starts, walls) if node.decision is not None and node not in walls]
    for node in met[:_MOST_TESTS]:
        if theirs & _reached(starts, walls | {node}) - {node} or not _uniform(place, node, places):
            continue
        onwards = {f for outcome, f in node.edges if outcome != RAISED}
        found[node] = {f for f in onwards if theirs & _reached({f}, walls | {node})}
    return found


def _uniform(place: SourcePlace, node: Node, places: SourcePlaces) -> bool:
    test = node.decision
    assert test is not None
    at = conditions_at(place.function, test.line)
    own = next((condition for condition in at if condition.node is test.test), None)
    return own is not None and why(places.program, place.function, own).level == "uniform"


def _is_of(node: Node, kind: str, test: ast.AST) -> bool:
    decides = node.decision
    return decides is not None and (node.what is test if kind == "boolop" else decides.test is test)


def _after(node: Node, kind: str, outcome: str) -> list[Node]:
    """Where control goes upon any other outcome."""
    if kind == "boolop":
        return [follower for word, follower in node.edges if word not in (outcome, RAISED)]
    decides = node.decision
    assert decides is not None
    other = decides.other if outcome == decides.words[0] else decides.then
    return [] if other is None else [other]


def _at(graph: Graph, stop: Stop) -> set[Node]:
    return (graph.calls(stop.line, stop.call) if stop.call else set()) or graph.on(stop.line)


def _ends(graph: Graph, handed_out: bool) -> set[Node]:
    yields = {node for node in graph.nodes if isinstance(node.what, (ast.Yield, ast.YieldFrom))}
    return {graph.returns, *(yields if handed_out else ())}


def _must_call(path: CallPath, depth: int, places: SourcePlaces) -> bool:
    """Whether who comes by the path's line at this depth must come to its end: none of the functions below can be left
    before, unless upon what is the same on all ranks; and on one it led there. What a library does behind the
    program's last line is its own business."""
    known = [place is not None and place.known for place in map(places.find, path)]
    last = max((n for n, one in enumerate(known) if one), default=-1)
    return last >= depth and all(_leads_on(path, below, places) for below in range(depth + 1, last + 1))


def _leads_on(path: CallPath, depth: int, places: SourcePlaces) -> bool:
    frame = path[depth]
    place = places.find(frame)
    if place is not None and place.known and _may_be_thrown_out(place):
        return False
    if not Reachability(places).leaves_without(frame, frame.line):
        return True
    if place is None or not place.known:
        return False
    called = path[depth + 1].function.rsplit(".", 1)[-1] if depth + 1 < len(path) else None
    tests = [c for c in deciding(place.function, Point(frame.line, called), "own") if c.kind != "call"]
    return bool(tests) and all(why(places.program, place.function, c).level == "uniform" for c in tests)


def _may_be_thrown_out(place: SourcePlace) -> bool:
    """Whether a handler around the line keeps to itself what may be raised up to it: by any call but one of a plain
    collective, which has been made when it raises."""
    keepers = {id(handler) for handler in handlers_around(place)}
    tries = (n for n in place.function.nodes if isinstance(n, ast.Try))
    blocks = [n.body for n in tries if keepers & {id(handler) for handler in n.handlers}]
    calls = (n for body in blocks for one in body for n in ast.walk(one) if isinstance(n, ast.Call))
    return any(call.lineno <= place.line and not _is_plain(place.function, call) for call in calls)


def _is_plain(function: Function, call: ast.Call) -> bool:
    target = resolve(function, call.func)
    name = target.dotted if isinstance(target, External) else ""
    return name.startswith("torch.distributed.") and name.count(".") == 2 and "object" not in name


def _reached(
    starts: set[Node],
    walls: set[Node],
    only: Mapping[Node, set[Node]] = MappingProxyType({}),
    raising: bool = False,
) -> set[Node]:
    """Without an exception, unless `raising`: any call may raise, and that is told of where it is meant. `only`: where
    tests lead to."""
    stack, seen = [*starts], {*starts}
    while stack:
        node = stack.pop()
        if node in walls:
            continue
        for outcome, follower in node.edges:
            allowed = (raising or outcome != RAISED) and (node not in only or follower in only[node])
            if allowed and follower not in seen:
                seen.add(follower)
                stack.append(follower)
    return seen
