"""The merged stacks as a tree of text: outermost frame first, each line with the ranks that are in it.

A line moves to the right only where ranks part, so that a deep stack stays on the screen.
"""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from rankandfile.model.pictures import StackNode, StackTree

from .words import UNICODE, Signs, base_name, place_text, plain, short

_TAKEN = {
    "stacks": "where each rank was when its stack was taken last",
    "watchdogs": "no stack was taken: where each rank made the call that its watchdog gave up on",
    "calls": "no stack was taken: where the oldest call of each rank that did not end was made",
    "nothing": "no stack was taken, and no call that did not end has one",
}
_MOST_RANKS = 24
_MOST_SAYINGS = 12


def stacks(tree: StackTree, signs: Signs = UNICODE, library: bool = False) -> RenderableType:
    """`library`: with the frames of torch and other libraries, which are left out otherwise."""
    parts: list[RenderableType] = [Text(_TAKEN[tree.taken_from], style="dim")]
    said = [group for group in tree.groups if group.says][:_MOST_SAYINGS]
    if said:
        words = _grid()
        for group in said:
            words.add_row(Text(short(group.ranks, signs, _MOST_RANKS)), Text(plain(group.says)))
        parts += [words, Text()]
    if tree.nodes:
        lines = _grid()
        before = ""
        for depth, node in _lines(tree.nodes, library):
            # Ranks and blame are said where they change.
            begins = node.ranks != before
            lines.add_row(Text(short(node.ranks, signs, _MOST_RANKS)), _frame(node, depth, signs, begins))
            before = node.ranks
        parts.append(lines)
    if tree.left_out:
        parts.append(Text(f"and {tree.left_out:,} more frames", style="dim"))
    return Group(*parts)


def _grid() -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold", ratio=1)
    return table


def _frame(node: StackNode, depth: int, signs: Signs, begins: bool) -> Text:
    name = node.file.rpartition("site-packages/")[2] if node.library else base_name(node.file)
    blamed = node.culprits == node.count > 0
    found = Text("  " * depth)
    found.append(plain(node.function), style="bold red" if blamed else "dim" if node.library else "")
    found.append(plain(f"  {place_text(name, node.line or None)}"), style="dim")
    if begins and blamed:
        found.append(f"  {signs.dot} {'culprits' if node.count > 1 else 'culprit'}")
    return found


def _lines(nodes: list[StackNode], library: bool) -> Iterator[tuple[int, StackNode]]:
    """Depth, which grows where ranks part, and node, in the order of a tree."""
    children: dict[int, list[int]] = {}
    for number, node in enumerate(nodes):
        children.setdefault(node.parent, []).append(number)
    waiting = [(0, number) for number in reversed(children.get(-1, []))]
    while waiting:
        depth, number = waiting.pop()
        below = children.get(number, [])
        if library or not nodes[number].library or not below:
            yield depth, nodes[number]
        deeper = depth + (len(below) > 1)
        waiting.extend((deeper, child) for child in reversed(below))
