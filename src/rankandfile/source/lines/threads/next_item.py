"""A rank that waits for an item of a queue which a thread of its own fills: where that thread is, at work on the next.

class Player(Thread):
    def run(self):
        for path in self.levels:
            self.ready.put(self.episode(read(path)))  # the main thread stands in self.ready.get()
"""

from __future__ import annotations

import ast

from rankandfile.source.dependence.syntax import text
from rankandfile.source.lines.found_line import FoundLine, Search
from rankandfile.source.lines.held_line import around, ended_from_outside
from rankandfile.source.program.places import SourcePlace

_WAITS = ("put", "get", "acquire", "wait", "join", "recv", "result")


def next_item(search: Search, rank: int, waits: SourcePlace) -> FoundLine | None:
    """Where the one thread is held that makes what the rank waits for at this place."""
    asked = {_last(queue) for queue in _called(waits, "get", here=True)} - {""}
    found: dict[tuple[str, int], tuple[ast.expr, list[SourcePlace]]] = {}
    for path in search.paths.others(rank) if asked else ():
        way = [place for frame in path if (place := search.places.find(frame)) is not None and place.known]
        if not way or any(_called(way[-1], method, here=True) for method in _WAITS):
            # It has an item, and is about to hand it over; or it waits for something itself, and is at work on nothing.
            continue
        for depth, puts in enumerate(way):
            queue = next((one for one in _called(puts, "put") if _last(one) in asked), None)
            if queue is not None and not _of_another_object(waits, puts, queue):
                found[way[-1].path, way[-1].line] = (queue, way[depth:])
    if len(found) != 1:
        return None
    queue, way = next(iter(found.values()))
    loops = (
        (place, node)
        for place in reversed(way)
        for node in reversed(around(place))
        if ended_from_outside(node)
    )
    made, loop = next(loops, (way[-1], None))
    line = loop.lineno if loop is not None else made.line
    shown = made.module.line_at(line)
    story = (
        f"It waits for what a thread of its own puts into `{text(queue)}` ({way[0].at(queue.lineno)}); that thread "
        f"was in `{shown}` ({made.at(line)}), at work on the next."
    )
    return FoundLine(made, line, shown if loop is not None else None, kind="next_item", story=story)


def _of_another_object(waits: SourcePlace, puts: SourcePlace, queue: ast.expr) -> bool:
    """Both say `self.queue`, each of its own class."""
    asked = [one for one in _called(waits, "get", here=True) if _last(one) == _last(queue)]
    own = all(isinstance(one, ast.Attribute) and ast.unparse(one.value) == "self" for one in (queue, *asked))
    classes = [place.function.owner for place in (waits, puts)]
    return own and classes[0] is not classes[1]


def _called(place: SourcePlace, method: str, here: bool = False) -> list[ast.expr]:
    """What this method is called on in the function of the place; with `here`, on its line."""
    return [
        node.func.value
        for node in place.function.nodes
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == method
        if not here or node.lineno <= place.line <= (node.end_lineno or node.lineno)
    ]


def _last(queue: ast.expr) -> str:
    """The name of a queue as it is told in every method: `ready` of `self.ready`, and of `player.ready`."""
    if isinstance(queue, ast.Attribute):
        return queue.attr
    return queue.id if isinstance(queue, ast.Name) else ""
