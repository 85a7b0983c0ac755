"""The merged stacks as nested lists: what opens and what closes, in the order in which a page writes it."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from rankandfile.model.pictures import StackNode, StackTree

_DEEPEST = 150
"""Browsers stop nesting somewhere beyond."""


class Step(Struct, frozen=True):
    """A frame that opens, with whether others lie inside; or, without one, the end of the last that is open."""

    node: StackNode | None
    leaf: bool = False
    cut: bool = False
    """Frames lie deeper than a page can nest."""


def flame(tree: StackTree) -> list[Step]:
    inside: dict[int, list[int]] = {}
    for number, node in enumerate(tree.nodes):
        inside.setdefault(node.parent, []).append(number)
    return list(_steps(tree, inside))


def _steps(tree: StackTree, inside: dict[int, list[int]]) -> Iterator[Step]:
    waiting: list[tuple[int, int] | None] = [(root, 0) for root in reversed(inside.get(-1, []))]
    while waiting:
        at = waiting.pop()
        if at is None:
            yield Step(None)
            continue
        number, depth = at
        children = inside.get(number, [])
        cut = bool(children) and depth >= _DEEPEST
        leaf = not children or cut
        yield Step(tree.nodes[number], leaf, cut)
        if leaf:
            continue
        waiting.append(None)
        waiting.extend((child, depth + 1) for child in reversed(children))
