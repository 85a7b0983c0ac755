"""Which decisions matter: those of which one outcome leads to a place that another outcome does not lead to.

With `here` and `there` as sets of steps, every step has a signature: which of the two can be reached first from it.
A decision matters if two of its outcomes have different signatures, one of them with `here` and the other with `there`.
A decision that leaves both open whatever it says does not.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from msgspec import Struct

from .graph import RAISED, Graph, Node, predecessors

HERE, THERE = 1, 2
"""Bits of a signature."""


class Signatures(Struct, frozen=True):
    """For every step what can be reached first from it, and how far `here` is."""

    of: dict[Node, int]
    distance: dict[Node, int]
    here: set[Node]
    there: set[Node]

    def outcomes(self, node: Node) -> dict[str, int]:
        """Outcome of a decision -> what can be reached first after it."""
        found: dict[str, int] = {}
        for outcome, follower in node.edges:
            found[outcome] = found.get(outcome, 0) | self.of.get(follower, 0)
        return found


def signatures(graph: Graph, here: set[Node], there: set[Node]) -> Signatures:
    before = predecessors(graph)
    near = _backwards(before, here, there)
    far = _backwards(before, there, here)
    of = {node: (HERE if node in near else 0) | (THERE if node in far else 0) for node in graph.nodes}
    return Signatures(of, near, here, there)


def _backwards(before: dict[Node, list[Node]], goal: set[Node], wall: set[Node]) -> dict[Node, int]:
    """Steps from which the goal can be reached without passing the wall or the goal before, with their distance."""
    distance = dict.fromkeys(goal, 0)
    queue = deque(goal)
    while queue:
        node = queue.popleft()
        for earlier in before[node]:
            if earlier not in distance and earlier not in wall:
                distance[earlier] = distance[node] + 1
                queue.append(earlier)
    return distance


def between(starts: Iterable[Node], walls: set[Node]) -> list[Node]:
    """Steps that control can be at before it reaches a wall."""
    stack = [node for node in starts if node not in walls]
    seen = set(stack)
    order: list[Node] = []
    while stack:
        node = stack.pop()
        order.append(node)
        for follower in node.next():
            if follower not in seen and follower not in walls:
                seen.add(follower)
                stack.append(follower)
    return order


def differ(one: int, other: int) -> bool:
    """Whether two signatures send control apart: `here` by one of them, `there` by the other."""
    splits = (one & HERE and other & THERE) or (one & THERE and other & HERE)
    return one != other and bool(splits)


def normal(outcomes: dict[str, int]) -> int:
    """What can be reached first where no exception is raised."""
    joined = 0
    for outcome, signature in outcomes.items():
        joined |= 0 if outcome == RAISED else signature
    return joined
