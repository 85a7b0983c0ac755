"""`raf attach`: a job that is stuck already, watched by nobody: from its processes to a case."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from rankandfile.capture.case import APART_ALONE_S, Case, Wishes, page
from rankandfile.capture.gather import debug_server
from rankandfile.capture.own_source import source_of
from rankandfile.capture.watch.processes import descendants, environment, is_python, status
from rankandfile.capture.watch.rings import NO_RING, Seen, look, unrecorded, with_stops, without_ring
from rankandfile.wire.places import home


def attach(pids: Sequence[int], wishes: Wishes, say: Callable[[str], None]) -> bool | None:
    """Whether it is a hang, None for undetermined: of the ranks among these processes and everything below them."""
    ranks = with_stops(find_ranks(pids), (), time.time())
    rings = sum(one.path != NO_RING for one in ranks)
    recorded = f"{rings} with rings of the recorder" if rings else "none of which records: by stacks alone"
    say(f"{len(ranks)} process{'' if len(ranks) == 1 else 'es'}, {recorded}")
    return of_ranks(ranks, wishes, say)


def of_ranks(ranks: Sequence[Seen], wishes: Wishes, say: Callable[[str], None]) -> bool | None:
    """The same of ranks that are known."""
    if all(one.path == NO_RING for one in ranks):
        wishes = replace(wishes, apart_s=APART_ALONE_S)
        if wishes.source is None and (source := source_of(one.pid for one in ranks if one.lives)) is not None:
            say(f"source: {source}, as the processes have it; --src, if it is another")
            wishes = replace(wishes, source=source)
    env = next(filter(None, (environment(one.pid) for one in ranks)), {})
    case = Case(wishes, say, list, Path(os.devnull), env)
    folder = case.of_stall(lambda: (ranks, {}), True)
    return _judge(case, folder, wishes, say)


def attach_to_servers(addresses: Sequence[str], wishes: Wishes, say: Callable[[str], None]) -> bool | None:
    """The same by what debug servers tell. Raises `OSError` where none answers."""
    servers, wrong = debug_server.find(addresses)
    if not servers:
        raise OSError("; ".join(wrong))
    for line in wrong:
        say(line)
    case = Case(wishes, say, list, Path(os.devnull), {})
    folder, ranks = case.of_servers(servers)
    say(f"{len(ranks)} ranks answered")
    return _judge(case, folder, wishes, say)


def _judge(case: Case, folder: Path, wishes: Wishes, say: Callable[[str], None]) -> bool | None:
    """Whoever asks gets the card, also where it only says where everybody stands."""
    answer = case.judge(folder)
    if answer.card and case.shown != folder:
        wishes.show(answer.card)
    # Nobody's job is ended here: that a rank is late is the verdict that was asked for.
    found = True if answer.late else answer.is_hang
    say(f"case: {folder}" if found else f"{answer.words}; case: {folder}")
    say(page(folder))
    return found


def find_ranks(pids: Sequence[int]) -> list[Seen]:
    """Processes that record, and the uppermost ones that have a RANK; where there are none, the given ones and the
    Pythons that they have started: a rank that `mp.spawn` or a fork made bears its number where nobody can see it."""
    # Parents come before children.
    below = list(dict.fromkeys(pid for root in pids for pid in (root, *descendants(root))))
    environments = {pid: environment(pid) for pid in below}
    folders = {home(one) for one in environments.values()}
    everything = [one for folder in sorted(folders) for one in look(folder)]
    recorded = [one for one in everything if one.pid in environments and one.lives]
    # Others of the same launcher are gone, and their rings still tell.
    launchers = {_launcher(one) for one in recorded}
    gone = [one for one in everything if not one.lives and _launcher(one) in launchers]
    found = [*recorded, *gone]
    ranks = {one.rank for one in found if one.lives}
    found += unrecorded(environments, ranks)
    if found:
        return found
    started = [pid for pid in below if (one := status(pid)) and one.parent in pids and is_python(pid)]
    return [without_ring(pid, -1) for pid in dict.fromkeys((*pids, *started))]


def _launcher(ring: Seen) -> tuple[Path, str]:
    """`raf-rank0-attempt0-LAUNCHER-PID-STARTED.ring`."""
    return ring.path.parent, "".join(ring.path.stem.split("-")[3:4])
