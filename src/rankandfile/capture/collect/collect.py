"""All machines visited, so many at a time; one that fails or is slow keeps no other from its turn."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from pathlib import Path

from msgspec import Struct

from . import folder
from .folder import Manifest, Visited
from .process import Running
from .target import Target
from .visit import Came, Visit

_NO_NAME = re.compile(r"[^\w.@+=-]")


class Wishes(Struct, frozen=True, kw_only=True):
    at_once: int = 32
    timeout: float = 300.0
    """Longest that one machine may take, in seconds."""
    deadline: float = 3600.0
    """Longest that all may take together."""
    full: bool = False
    """The files as they are, also where they could be made small over there."""


def collect(
    targets: Sequence[Target], into: Path, wishes: Wishes, on_came: Callable[[Came], None]
) -> list[Came]:
    """`on_came` hears of each machine when it is done. Raises OSError where the folder cannot be written.

    What was begun is ended when this is, by whatever: what has come until then is kept.
    """
    folder.begin(into)
    manifest = folder.read(into)
    running, until = Running(), time.monotonic() + wishes.deadline
    names = folder_names([one.name for one in targets])
    done: list[Came] = []

    def visit(target: Target) -> Came:
        before = manifest.machines.get(target.name, Visited())
        left = until - time.monotonic()
        if left <= 0:
            late = f"not asked: all {wishes.deadline:.0f} s are over (--deadline)"
            return Came(
                target=target, visited=Visited(said=late, condensed=before.condensed, stacks=before.stacks)
            )
        one = Visit(target, into / names[target.name], before, running, full=wishes.full)
        return one.go(wishes.timeout) if wishes.timeout <= left else one.go(left, "--deadline")

    pool = ThreadPoolExecutor(max(1, min(wishes.at_once, len(targets))))
    try:
        futures: list[Future[Came]] = [pool.submit(visit, target) for target in targets]
        for future in as_completed(futures):
            came = future.result()
            done.append(came)
            _note(manifest, came, into)
            on_came(came)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        running.end()
        pool.shutdown()
        folder.tidy(into)
    return done


def _note(manifest: Manifest, came: Came, into: Path) -> None:
    manifest.machines[came.target.name] = came.visited
    folder.write(into, manifest)


def folder_names(names: Sequence[str]) -> dict[str, str]:
    """Machines -> the names of their folders: of letters that any system takes, and no two alike.

    >>> folder_names(["node-1", "me@node;2", "me@node 2", "/mnt/x"])
    {'node-1': 'node-1', 'me@node;2': 'me@node_2', 'me@node 2': 'me@node_2-2', '/mnt/x': 'mnt_x'}
    """
    found: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        plain = _NO_NAME.sub("_", name).lstrip("._")[:100] or "machine"
        free, number = plain, 1
        while free.lower() in taken:
            number += 1
            free = f"{plain}-{number}"
        taken.add(free.lower())
        found[name] = free
    return found
