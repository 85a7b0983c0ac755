"""Where the nodes and arrows of the wait graph lie: layers from left to right, what all wait for at the right end.

A circle of waits is laid out as a ring. The numbers are those of an SVG; nothing is measured, so widths are guessed
from the number of letters.
"""

from __future__ import annotations

import math

from msgspec import Struct, field

from rankandfile.model.pictures import WaitGraph, WaitNode

WIDTH, LINE, PADDING = 346, 17, 10
_GAP_X, _GAP_Y, _MARGIN = 56, 20, 14
_BOW = 34
_LETTERS = 44
_LETTERS_OF_A_TITLE = 40


class Box(Struct):
    node: WaitNode
    x: float
    y: float
    height: float
    title: str
    lines: list[str]
    cycle: bool = False
    width: int = WIDTH

    @property
    def full(self) -> str:
        head = self.node.call or f"{_title(self.node)} {self.node.ranks}"
        return ": ".join(filter(None, (head, "; ".join(self.node.says))))


class Arrow(Struct):
    path: str
    known: bool
    cycle: bool
    culprit: bool


class Drawing(Struct):
    boxes: list[Box] = field(default_factory=list)
    arrows: list[Arrow] = field(default_factory=list)
    width: float = 0
    height: float = 0
    left_out: int = 0


def drawn(graph: WaitGraph) -> Drawing:
    boxes = [_box(node) for node in graph.nodes]
    ring = _ring(graph)
    for number in ring:
        boxes[number].cycle = True
    layers = _layers(graph, ring)
    _place(boxes, layers, ring, graph)
    ends = {(e.source, e.target) for e in graph.edges}
    arrows = [
        Arrow(
            _ring_path(boxes[e.source], boxes[e.target], _BOW if (e.target, e.source) in ends else 0)
            if e.cycle
            else _path(boxes[e.source], boxes[e.target]),
            e.known,
            e.cycle,
            boxes[e.target].node.role == "culprit",
        )
        for e in graph.edges
        if e.source != e.target
    ]
    width = max(box.x + WIDTH for box in boxes) + _MARGIN
    height = max(box.y + box.height for box in boxes) + _MARGIN
    return Drawing(boxes, arrows, round(width), round(height), graph.left_out)


def _ring(graph: WaitGraph) -> list[int]:
    """The nodes of circles, each followed by one that it waits for as far as possible."""
    after: dict[int, list[int]] = {}
    for edge in graph.edges:
        if edge.cycle:
            after.setdefault(edge.source, []).append(edge.target)
    ring: list[int] = []
    for start in after:
        at: int | None = start
        while at is not None and at not in ring:
            ring.append(at)
            at = next((n for n in after.get(at, []) if n not in ring), None)
    return ring


def _box(node: WaitNode) -> Box:
    title = _short(node.call or f"{_title(node)} {node.ranks}", _LETTERS_OF_A_TITLE)
    lines = [_short(line, _LETTERS) for line in node.says]
    return Box(node, 0, 0, PADDING * 2 + LINE * (1 + len(lines)), title, lines)


def _title(node: WaitNode) -> str:
    return "rank" if node.count == 1 else f"{node.count:,} ranks:"


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _layers(graph: WaitGraph, ring: list[int]) -> dict[int, int]:
    """How many arrows lie between each node and the end of the waits."""
    leaving = {e.source for e in graph.edges}
    layer = {n: 0 for n in range(len(graph.nodes)) if n in ring or n not in leaving}
    queue = list(layer)
    for node in queue:
        for edge in graph.edges:
            if edge.target == node and edge.source not in layer:
                layer[edge.source] = layer[node] + 1
                queue.append(edge.source)
    return {n: layer.get(n, 0) for n in range(len(graph.nodes))}


def _place(boxes: list[Box], layers: dict[int, int], ring: list[int], graph: WaitGraph) -> None:
    deepest = max(layers.values())
    outside = [n for n in layers if n not in ring]
    columns = [[n for n in outside if layers[n] == depth] for depth in range(deepest + 1)]
    ring_height = _place_ring(boxes, ring)
    tall = [sum(boxes[n].height + _GAP_Y for n in column) - _GAP_Y if column else 0 for column in columns]
    tallest = max([*tall, ring_height])
    right = deepest * (WIDTH + _GAP_X)
    order: dict[int, float] = {n: boxes[n].y for n in ring}
    for depth, column in enumerate(columns):
        column.sort(key=lambda n: _middle_of_targets(n, graph, order))
        y = _MARGIN + (tallest - tall[depth]) / 2
        for n in column:
            boxes[n].x = _MARGIN + right - depth * (WIDTH + _GAP_X)
            boxes[n].y = y
            order[n] = y
            y += boxes[n].height + _GAP_Y
    for n in ring:
        # Whatever ends elsewhere than in the ring stands in its own column, so the ring goes right of it.
        boxes[n].x += _MARGIN + right + (WIDTH + _GAP_X if columns[0] else 0)
        boxes[n].y += _MARGIN + (tallest - ring_height) / 2


def _middle_of_targets(node: int, graph: WaitGraph, order: dict[int, float]) -> float:
    ends = [order[e.target] for e in graph.edges if e.source == node and e.target in order]
    return sum(ends) / len(ends) if ends else 0


def _place_ring(boxes: list[Box], ring: list[int]) -> float:
    """How tall it is. Two stand above each other; more on an ellipse, each before one that it waits for."""
    if not ring:
        return 0
    tall = max(boxes[n].height for n in ring)
    if len(ring) == 2:
        radius_x, radius_y = 0.0, tall / 2 + 36
    else:
        radius_y = max(tall + 44, len(ring) * (tall + _GAP_Y) / 3.4)
        radius_x = WIDTH * 0.7
    for position, n in enumerate(ring):
        angle = 2 * math.pi * position / len(ring) - math.pi / 2
        boxes[n].x = radius_x + radius_x * math.cos(angle)
        boxes[n].y = radius_y + radius_y * math.sin(angle) + (tall - boxes[n].height) / 2
    return 2 * radius_y + tall


def _path(source: Box, target: Box) -> str:
    """From the right side of one to the left side of the other."""
    x1, y1 = source.x + WIDTH, source.y + source.height / 2
    x2, y2 = target.x - 7, target.y + target.height / 2
    if x2 <= x1:
        # Back, or in the same column: around below.
        below = max(source.y + source.height, target.y + target.height) + 14
        return f"M{x1:.1f},{y1:.1f} C{x1 + 40:.1f},{below:.1f} {x2 - 40:.1f},{below:.1f} {x2:.1f},{y2:.1f}"
    bend = (x2 - x1) / 2
    return f"M{x1:.1f},{y1:.1f} C{x1 + bend:.1f},{y1:.1f} {x2 - bend:.1f},{y2:.1f} {x2:.1f},{y2:.1f}"


def _ring_path(source: Box, target: Box, bow: float) -> str:
    """From edge to edge; in a bow where another arrow leads back."""
    x1, y1 = source.x + WIDTH / 2, source.y + source.height / 2
    x2, y2 = target.x + WIDTH / 2, target.y + target.height / 2
    length = math.hypot(x2 - x1, y2 - y1) or 1
    mx = (x1 + x2) / 2 + (y2 - y1) / length * bow
    my = (y1 + y2) / 2 - (x2 - x1) / length * bow
    ax, ay = _edge(source, mx, my, 0)
    bx, by = _edge(target, mx, my, 7)
    return f"M{ax:.1f},{ay:.1f} Q{mx:.1f},{my:.1f} {bx:.1f},{by:.1f}"


def _edge(box: Box, x: float, y: float, away: float) -> tuple[float, float]:
    """Where the line from the middle of the box to that point leaves the box, and a little further."""
    cx, cy = box.x + WIDTH / 2, box.y + box.height / 2
    dx, dy = x - cx, y - cy
    half_x, half_y = WIDTH / 2 + away, box.height / 2 + away
    scale = min(half_x / abs(dx) if dx else math.inf, half_y / abs(dy) if dy else math.inf)
    return cx + dx * scale, cy + dy * scale
