"""Whether control can come from one line of a function to another, and by which lines."""

from __future__ import annotations

from rankandfile.source.flow.build import graph_of
from rankandfile.source.flow.graph import Graph, Node
from rankandfile.source.flow.reach import between
from rankandfile.source.program.modules import Function


def reaches(function: Function, line: int, without: int) -> bool:
    """Whether control can come from the beginning of the function to the line without passing the other one."""
    graph = graph_of(function)
    goal = graph.on(line)
    walls = graph.on(without) - goal
    return not goal or not walls or bool(_reached([graph.entry], walls) & goal)


def passes(function: Function, after: int | None, via: int, to: int | None) -> bool:
    """Whether control coming from line `after` (None: the start) can pass `via` on its way to `to` (None: any end),
    without coming by `after` again."""
    graph = graph_of(function)
    middle, target = graph.on(via), graph.on(to) if to is not None else {graph.returns, graph.raises}
    again = graph.on(after) if after is not None else set()
    if not middle or not target or via in (after, to):
        return True
    first = _reached(_after(graph, after), again | target) & middle
    beyond = [follower for node in middle for follower in node.next()]
    return bool(first) and bool(_reached(beyond, again - target) & target)


def _after(graph: Graph, line: int | None) -> list[Node]:
    if line is None:
        return [graph.entry]
    nodes = graph.on(line)
    return [follower for node in nodes for follower in node.next() if follower not in nodes]


def _reached(starts: list[Node], walls: set[Node]) -> set[Node]:
    return set(between(starts, walls))
