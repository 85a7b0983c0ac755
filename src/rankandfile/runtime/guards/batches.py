"""A guard around a loader whose ranks do not have equally many batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, Literal, TypeVar

from rankandfile.runtime import watchers
from rankandfile.runtime.guards import arrival, place
from rankandfile.runtime.guards.guard import Guard, next_use
from rankandfile.runtime.guards.meeting import meet

T = TypeVar("T")
_END = object()


def uneven(
    loader: Iterable[T],
    end: Literal["any", "all"] = "any",
    *,
    fill: Callable[[T | None], T] | None = None,
    name: str | None = None,
    group: Any = None,
    timeout: float | None = None,
) -> Iterator[T]:
    """The loader's batches, ending on all ranks together.

        for batch in guard.uneven(loader):

    `end="any"` (default): all ranks stop when the first one has run out; what others had left is dropped.
    `end="all"`: all go on until the last one has run out; a rank without batches gets `fill(last)`, where `last` is
    its last batch, or None if it had none. Without `fill` its last batch is repeated, and a rank that never had one
    raises ValueError. What you do with a batch that does not count is for you to decide (weight its loss with 0).

    A loader that raises does so on its rank, and as `PeerFailed` on the others; a rank that leaves the loop early
    (break, return, an exception) is named to those that wait for it. Costs one agreement per batch.

    Off, or without a group: the loader's batches.
    """
    if end not in ("any", "all"):
        raise ValueError(f"end must be 'any' or 'all', not {end!r}")
    # Made here, not at the first batch: the line that calls `uneven` gives it its name.
    loop = next_use(f"uneven {end}", name, group, timeout)
    return iter(loader) if loop is None else _rounds(loader, end, fill, loop)


def _rounds(loader: Iterable[T], end: str, fill: Callable[[T | None], T] | None, loop: Guard) -> Iterator[T]:
    number, last, ended = 0, None, False
    place.enter_block(loop.at.key)
    try:
        batches: Iterator[Any] = iter(())
        while True:
            this = replace(loop, at=replace(loop.at, key=f"{loop.at.key}/{number}"))
            try:
                if number == 0:
                    batches = iter(loader)
                batch: Any = next(batches, _END)
            except BaseException as error:
                ended = True
                this.fail(error)
                raise
            out = int(meet(this, int(batch is _END)))
            if out == len(loop.members.ranks) or (out and end == "any"):
                ended = True
                watchers.decided(loop.at.kind, loop.at.name, f"ended after {number}")
                return
            if batch is _END:
                batch = _filled(fill, last, number, this)
            last = batch
            number += 1
            yield batch
    finally:
        place.leave_block(loop.at.key)
        if not ended:
            _tell_left(loop, number)


def _filled(fill: Callable[[T | None], T] | None, last: T | None, number: int, guard: Guard) -> T:
    if fill is not None:
        return fill(last)
    if number == 0:
        raise ValueError(f"{guard.at.words()}: this rank has no batch at all, and nothing to fill in for it")
    return last  # type: ignore[return-value]


def _tell_left(loop: Guard, number: int) -> None:
    try:
        arrival.tell_end(loop.members, replace(loop.at, how=f"left the loop after batch {number}"))
    except Exception:
        # The store may be gone, as at the end of a job; leaving a loop is no reason to raise.
        return
