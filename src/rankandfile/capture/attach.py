"""`raf attach`: a job that is stuck already, watched by nobody: from its processes to a case."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from rankandfile.capture.case import Case, Wishes
from rankandfile.capture.places import home
from rankandfile.capture.processes import descendants, status
from rankandfile.capture.rings import Seen, look

_NO_RING = Path("/nonexistent/none.ring")


def attach(pids: Sequence[int], wishes: Wishes, say: Callable[[str], None]) -> bool | None:
    """Whether it is a hang, None for undetermined: of the ranks among these processes and everything below them."""
    ranks = find_ranks(pids)
    rings = sum(one.path != _NO_RING for one in ranks)
    say(f"{len(ranks)} processes, {rings} with rings of the recorder")
    env = next(filter(None, (_environment(one.pid) for one in ranks)), {})
    return Case(wishes, say, [], Path(os.devnull), env).of_stall(lambda: (ranks, {}), True, lambda: True)


def find_ranks(pids: Sequence[int]) -> list[Seen]:
    """Processes that record, and the uppermost ones that have a RANK; where there are none, the given ones."""
    # Parents come before children.
    below = list(dict.fromkeys(pid for root in pids for pid in (root, *descendants(root))))
    environments = {pid: _environment(pid) for pid in below}
    folders = {home(environment) for environment in environments.values()}
    everything = [one for folder in sorted(folders) for one in look(folder)]
    recorded = [one for one in everything if one.pid in environments and one.lives]
    # Others of the same launcher are gone, and their rings still tell.
    launchers = {_launcher(one) for one in recorded}
    gone = [one for one in everything if not one.lives and _launcher(one) in launchers]
    found = [*recorded, *gone]
    ranks = {one.rank for one in found if one.lives}
    for pid, environment in environments.items():
        rank = environment.get("RANK", "")
        if rank.isdigit() and int(rank) not in ranks and len(rank) < 8:
            ranks.add(int(rank))
            found.append(_without_ring(pid, int(rank)))
    return found or [_without_ring(pid, -1) for pid in pids]


def _launcher(ring: Seen) -> tuple[Path, str]:
    """`raf-rank0-attempt0-LAUNCHER-PID-STARTED.ring`."""
    return ring.path.parent, "".join(ring.path.stem.split("-")[3:4])


def _without_ring(pid: int, rank: int) -> Seen:
    found = status(pid)
    lives = found is not None and found.state not in "ZX"
    return Seen(
        _NO_RING, rank, pid, found.started if found else 0, 0, os.uname().nodename, lives, False, (), 0, True
    )


def _environment(pid: int) -> dict[str, str]:
    """As the process was started with; empty where we may not see it."""
    try:
        words = Path(f"/proc/{pid}/environ").read_bytes().decode("utf-8", "surrogateescape").split("\0")
    except OSError:
        return {}
    return dict(word.split("=", 1) for word in words if "=" in word)
