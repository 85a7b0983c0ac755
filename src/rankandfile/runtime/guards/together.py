"""Guards around work that one rank does alone, and around work that one rank may fail in."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from rankandfile.runtime import watchers
from rankandfile.runtime.guards import arrival, place
from rankandfile.runtime.guards.guard import next_use
from rankandfile.runtime.guards.meeting import hear, meet, publish


@contextmanager
def solo(
    rank: int = 0, *, timeout: float | None = None, name: str | None = None, group: Any = None
) -> Iterator[bool]:
    """Long work that one rank does while the others wait: on the store, not in a collective, with a timeout of its own.

        with guard.solo(timeout=3600) as mine:
            if mine:
                preprocess()

    The context is true on `rank` (a global rank) only. The others wait at the end of the block. What the work raises is
    raised there too, as `PeerFailed`; so is the end of the working process, where it can be seen (same host).

    Off, or without a group: true on `rank` (everywhere without a group), and nobody waits.
    """
    if (guard := next_use("solo", name, group, timeout)) is None:
        yield _is_rank(rank)
        return
    if guard.members.me != rank:
        yield False
        hear(guard, rank)
        return
    arrival.arrive(guard.members, replace(guard.at, how="working"))
    try:
        yield True
    except BaseException as error:
        guard.fail(error)
        raise
    finally:
        arrival.gone_on()
    publish(guard, "")
    watchers.decided("solo", guard.at.name, "done")


def _is_rank(rank: int) -> bool:
    """Whether this process is that rank; true where there are no ranks."""
    import sys

    c10d = sys.modules.get("torch.distributed.distributed_c10d")
    if c10d is None or c10d.GroupMember.WORLD is None:
        return True
    return bool(c10d.get_rank() == rank)


@contextmanager
def collective_finally(
    name: str | None = None, *, group: Any = None, timeout: float | None = None
) -> Iterator[None]:
    """A block after which collectives are safe: they are only reached if every rank came through it.

        with guard.collective_finally():
            train_one_epoch()
        dist.barrier()

    A rank that raises in the block tells the others and goes on with its own exception at once. The others raise
    `PeerFailed` at the end of the block, or at the next guard inside it, instead of waiting in a collective for a rank
    that will never come. A rank that already waits in a collective of the block is not freed by this: no Python can.

    Off, or without a group: does nothing.
    """
    if (guard := next_use("collective_finally", name, group, timeout)) is None:
        yield
        return
    key = guard.at.key
    place.enter_block(key)
    try:
        yield
    except BaseException as error:
        guard.fail(error)
        watchers.decided(guard.at.kind, guard.at.name, type(error).__name__)
        raise
    else:
        meet(guard, 0)
        watchers.decided(guard.at.kind, guard.at.name, "all came through")
    finally:
        place.leave_block(key)
