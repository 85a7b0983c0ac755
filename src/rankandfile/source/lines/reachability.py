"""Which lines a rank can have come by, as the source of the functions on its call path has them.

A rank that was at `train.py:12` and is at `train.py:20` of one function can have passed line 15 if control can go from
12 over 15 to 20. What a function is not known of, can be: only the source rules a line out.
"""

from __future__ import annotations

import ast

from rankandfile.source.dependence import objects_of
from rankandfile.source.dependence.frame import Frame as Inside
from rankandfile.source.dependence.index import index_of
from rankandfile.source.dependence.syntax import LOOPS, spans
from rankandfile.source.flow.build import graph_of
from rankandfile.source.flow.graph import Graph, Node
from rankandfile.source.flow.reach import between
from rankandfile.source.program.called import called_name
from rankandfile.source.program.kept import kept
from rankandfile.source.program.modules import Function, Program
from rankandfile.source.program.names import method, resolve
from rankandfile.source.program.places import SourcePlace, SourcePlaces, in_loop
from rankandfile.source.program.scopes import binding_scope

from .arguments import calls_on
from .call_paths import OPAQUE, Frame, Stop

#: Python 3.10 knows no `try` of groups.
_TRIES = (ast.Try, getattr(ast, "TryStar", ast.Try))


class Reachability:
    """Answers for the frames of call paths, by the functions of the program that they stand in."""

    def __init__(self, places: SourcePlaces) -> None:
        self._places = places

    def loops(self, frame: Frame, called: str | None) -> bool:
        """Whether a loop goes over the frame's line: its own, or a library's that calls `called` from there."""
        if frame.function.startswith(OPAQUE):
            return True
        place = self._known(frame)
        if place is None:
            return False
        if in_loop(place) or (called is not None and called.startswith(OPAQUE)):
            # What a framework does over and over is told by its own frame.
            return in_loop(place)
        # A function that the line does not name is called by a library in between, as often as that likes.
        calls = calls_on(place, Stop(frame.line))
        names = {called_name(call) for call in calls}
        if called is None or not names or names & {called, "apply"}:
            return False
        if called == "forward" and any(self._is_module(place.function, call) for call in calls):
            # Torch calls a module's `forward` once.
            return False
        return not any(self._may_stand_for(place.function, call, called) for call in calls)

    def goes_on(self, frame: Frame, line: int) -> bool:
        """Whether control can come from the frame's line to the other one without leaving the function."""
        place = self._known(frame)
        if place is None:
            return True
        graph = graph_of(place.function)
        here, goal = graph.on(frame.line), graph.on(line)
        return not here or not goal or bool(_reached(_after(graph, frame.line), set()) & goal)

    def only_loop(self, frame: Frame) -> bool:
        """Whether one loop of the function goes over the frame's line, and no other around that."""
        place = self._known(frame)
        if place is None:
            return False
        return sum(isinstance(n, LOOPS) and spans(n, frame.line) for n in place.function.nodes) == 1

    def _is_module(self, function: Function, call: ast.Call) -> bool:
        """What is called is an object with a `forward` of the program's own."""
        classes = objects_of(self._places.program).classes(call.func, Inside(function))
        return any(method(cls, "forward") is not None for cls in classes)

    def _may_stand_for(self, function: Function, call: ast.Call, called: str) -> bool:
        """The call itself runs what goes by another name: a function that was handed in, or one with a wrapper of the
        program around it."""
        if isinstance(call.func, ast.Name):
            scope = binding_scope(function, call.func.id)
            if scope is not None:
                return call.func.id in scope.parameters
        return called in _wrappers(self._places.program).get(called_name(call), ())

    def avoids(self, frame: Frame, line: int) -> bool:
        """Whether control can come from the beginning of the function to the frame's line without passing `line`."""
        place = self._known(frame)
        return place is None or _reaches(place.function, frame.line, line)

    def leaves_without(self, frame: Frame, line: int) -> bool:
        """Whether control can come from the beginning of the frame's function to a return without passing `line`."""
        place = self._known(frame)
        if place is None:
            return True
        graph = graph_of(place.function)
        walls = graph.on(line)
        return not walls or graph.returns in _reached([graph.entry], walls)

    def swallows(self, frame: Frame) -> bool:
        """Whether an exception that comes to the frame's line may end there, in a handler of the same function."""
        place = self._known(frame)
        return place is not None and any(
            isinstance(node, _TRIES)
            and any(spans(statement, frame.line) for statement in node.body)
            and not all(any(isinstance(s, ast.Raise) for s in handler.body) for handler in node.handlers)
            for node in place.function.nodes
        )

    def comes_round(self, frame: Frame, without: int) -> bool:
        """Whether control can come from the frame's line to the same line again without passing `without`."""
        place = self._known(frame)
        if place is None:
            return True
        graph = graph_of(place.function)
        here, walls = graph.on(frame.line), graph.on(without)
        left = _reached(_after(graph, frame.line), here | walls)
        elsewhere = [node for node in left if node.lines]
        return not here or bool(_reached(elsewhere, walls - here) & here)

    def over_items(self, frame: Frame, inside: Frame) -> bool:
        """Whether `inside` is in the body of a loop of the same function, and the frame's line makes its items."""
        place = self._known(frame) if frame[:2] == inside[:2] else None
        return place is not None and any(
            isinstance(node, (ast.For, ast.AsyncFor))
            and spans(node.iter, frame.line)
            and any(spans(statement, inside.line) for statement in node.body)
            for node in place.function.nodes
        )

    def passes(self, frame: Frame, after: int | None, via: int, to: int | None) -> bool:
        """Whether control coming from line `after` of the frame's function (None: its start) can pass `via` on its way
        to `to` (None: any end), without coming by `after` again."""
        place = self._known(frame)
        return place is None or _passes(place.function, after, via, to)

    def must_pass(
        self, frame: Frame, after: int | None, via: int, to: int | None, anew: bool = False
    ) -> bool:
        """Whether control that came from `after` to `to` must have passed `via`; `anew`: it left the innermost loop on
        its way, and came to it again."""
        place = self._known(frame)
        return place is not None and _must_pass(place.function, after, via, to, anew)

    def _known(self, frame: Frame) -> SourcePlace | None:
        place = self._places.find(frame)
        return place if place is not None and place.known else None


@kept
def _wrappers(program: Program) -> dict[str, set[str]]:
    """Name of a decorated function -> the functions inside of its decorators, which are the program's own."""
    found: dict[str, set[str]] = {}
    for function in (function for module in index_of(program).modules for function in module.functions):
        for decorator in getattr(function.node, "decorator_list", ()):
            target = resolve(function, decorator.func if isinstance(decorator, ast.Call) else decorator)
            if isinstance(target, Function):
                inside = f"{target.qualname}.<"
                names = {each.name for each in target.module.functions if each.qualname.startswith(inside)}
                found.setdefault(function.name, set()).update(names)
    return found


def _reaches(function: Function, line: int, without: int) -> bool:
    graph = graph_of(function)
    goal = graph.on(line)
    walls = graph.on(without) - goal
    return not goal or not walls or bool(_reached([graph.entry], walls) & goal)


def _passes(function: Function, after: int | None, via: int, to: int | None) -> bool:
    graph = graph_of(function)
    middle, target = graph.on(via), graph.on(to) if to is not None else {graph.returns, graph.raises}
    again = graph.on(after) if after is not None else set()
    if not middle or not target or via in (after, to):
        return True
    first = _reached(_after(graph, after), again | target) & middle
    beyond = [follower for node in middle for follower in node.next()]
    return bool(first) and bool(_reached(beyond, again - target) & target)


def _must_pass(function: Function, after: int | None, via: int, to: int | None, anew: bool) -> bool:
    graph = graph_of(function)
    middle, target = graph.on(via), graph.on(to) if to is not None else {graph.returns}
    if not middle or not target or via in (after, to):
        return False
    starts = _behind_loop(function, graph, after) if anew and after is not None else _after(graph, after)
    return not _reached(starts, middle) & target


def _behind_loop(function: Function, graph: Graph, line: int) -> list[Node]:
    """The first steps behind the innermost loop around the line."""
    around = [n for n in function.nodes if isinstance(n, LOOPS) and spans(n, line)]
    queue, seen, found = _after(graph, line), set[Node](), list[Node]()
    while queue:
        node = queue.pop()
        if around and node.lines and not all(spans(around[-1], one) for one in node.lines):
            found.append(node)
        elif node not in seen:
            seen.add(node)
            queue += node.next()
    return found


def _after(graph: Graph, line: int | None) -> list[Node]:
    if line is None:
        return [graph.entry]
    nodes = graph.on(line)
    return [follower for node in nodes for follower in node.next() if follower not in nodes]


def _reached(starts: list[Node], walls: set[Node]) -> set[Node]:
    return set(between(starts, walls))
