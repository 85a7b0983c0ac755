"""Where control comes to whatever was decided: the step behind a decision that all its outcomes lead to."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from .graph import RAISED, Graph, Node


def joins(graph: Graph, leaves: Callable[[Node], bool]) -> dict[Node, Node]:
    """Step -> the next step that control comes to whatever is decided in between (immediate postdominator).

    Exceptions that a step may raise do not count, and neither does what only ends in one. A step that leaves the
    program is an end.
    """
    after = {node: [graph.returns] if leaves(node) else _quiet(node) for node in graph.nodes}
    before: dict[Node, list[Node]] = {node: [] for node in graph.nodes}
    for node, followers in after.items():
        for follower in followers:
            before[follower].append(node)
    order, position = _postorder(graph.returns, before)
    parent: dict[Node, Node] = {graph.returns: graph.returns}
    changed = True
    while changed:
        changed = False
        for node in reversed(order):
            if node is graph.returns:
                continue
            known = [follower for follower in after[node] if follower in parent]
            if not known:
                continue
            best = known[0]
            for other in known[1:]:
                best = _meet(parent, position, best, other)
            if parent.get(node) is not best:
                parent[node] = best
                changed = True
    return parent


def _meet(parent: dict[Node, Node], position: dict[Node, int], one: Node, other: Node) -> Node:
    while one is not other:
        while position[one] < position[other]:
            one = parent[one]
        while position[other] < position[one]:
            other = parent[other]
    return one


def common(parent: dict[Node, Node], nodes: Iterable[Node]) -> Node | None:
    """The first step behind all of these, whatever is decided in between; None where there is none."""
    ways: list[list[Node]] = []
    for node in nodes:
        if node not in parent:
            continue
        way = [node]
        while parent[way[-1]] is not way[-1]:
            way.append(parent[way[-1]])
        ways.append(way)
    if not ways:
        return None
    rest = [set(way) for way in ways[1:]]
    return next((node for node in ways[0] if all(node in other for other in rest)), None)


def _quiet(node: Node) -> list[Node]:
    return [
        follower for outcome, follower in node.edges if outcome != RAISED or isinstance(node.what, ast.Raise)
    ]


def _postorder(root: Node, before: dict[Node, list[Node]]) -> tuple[list[Node], dict[Node, int]]:
    order: list[Node] = []
    seen = {root}
    stack = [(root, iter(before[root]))]
    while stack:
        node, rest = stack[-1]
        for earlier in rest:
            if earlier not in seen:
                seen.add(earlier)
                stack.append((earlier, iter(before[earlier])))
                break
        else:
            stack.pop()
            order.append(node)
    return order, {node: index for index, node in enumerate(order)}
