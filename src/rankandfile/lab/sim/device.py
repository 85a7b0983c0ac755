"""What is enqueued on devices, and when it may run.

A `Node` is one item on one rank's device: a kernel, or the rank's part of a collective. It becomes ready when all
it waits for on its own device is done; what happens then is its `launch`. Every time only ever grows with the
times it depends on, so the order in which nodes are looked at cannot change the outcome.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable

Launch = Callable[["Node"], None]


class Node:
    """One item on a device. Times are nanoseconds; `done` stays None for what never finishes."""

    __slots__ = ("done", "launch", "pending", "rank", "ready", "ready_at", "then")

    def __init__(self, rank: int, created: int, launch: Launch) -> None:
        self.rank = rank
        self.ready_at = created
        self.ready = False  # all it waits for on its own device is done: a start event would have fired
        self.done: int | None = None
        self.pending = 0
        self.then: list[Node | Callable[[int], None]] = []
        self.launch = launch


class Clockwork:
    """The event queue: what happens next, on any rank."""

    def __init__(self) -> None:
        self._queue: list[tuple[int, int, Callable[[int], None]]] = []
        self._count = 0

    def at(self, time: int, action: Callable[[int], None]) -> None:
        self._count += 1
        heapq.heappush(self._queue, (time, self._count, action))

    def run(self) -> None:
        queue = self._queue
        while queue:
            time, _, action = heapq.heappop(queue)
            action(time)

    def finish(self, node: Node, time: int) -> None:
        """The node is done at that time; whatever waited for it is told then."""
        self.at(time, lambda now: self._finished(node, now))

    def _finished(self, node: Node, now: int) -> None:
        if node.done is not None:
            return
        node.done = now
        for other in node.then:
            if isinstance(other, Node):
                self.release(other, now)
            else:
                other(now)
        node.then.clear()

    def release(self, node: Node, now: int) -> None:
        """One of the things the node waits for is done."""
        node.pending -= 1
        if now > node.ready_at:
            node.ready_at = now
        if node.pending == 0:
            node.ready = True
            node.launch(node)

    def enqueue(self, node: Node, after: tuple[Node | None, ...]) -> None:
        """Put the node behind others; if they are all done, it is ready at once."""
        node.pending = 1
        for other in after:
            if other is None:
                continue
            if other.done is None:
                node.pending += 1
                other.then.append(node)
            elif other.done > node.ready_at:
                node.ready_at = other.done
        self.release(node, node.ready_at)
