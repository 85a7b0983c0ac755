"""NCCL's RAS beside the rings of a job: what it counts goes into cases, and what rings cannot see is told by it.

It answers for all nodes: the one with rank 0 asks.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections import deque
from collections.abc import Mapping
from pathlib import Path

from rankandfile.capture.ras.client import PORT, Address, address, ask
from rankandfile.capture.ras.looks import Looks
from rankandfile.capture.sentinel.ranks import Rank
from rankandfile.capture.watch.processes import environment
from rankandfile.evidence.text.logs.ras.answer import Answer, Communicator, Member, read
from rankandfile.model.digest import Finding
from rankandfile.wire import layout

#: Between two questions, and between two where nobody answers; answers that are kept.
EVERY_S, SILENT_S, KEPT = 5.0, 30.0, 4
#: What rings do not know better.
_TOLD = ("desync", "missing")


class Witness:
    """Asks in a thread of its own: an answer can take seconds."""

    def __init__(self, where: Address) -> None:
        self._where = where
        self.ranks: Mapping[int, Rank] = {}
        """Those of this node."""
        self.found: deque[Finding] = deque(maxlen=64)
        self._answers: deque[tuple[bytes, Answer]] = deque(maxlen=KEPT)
        self._looks = Looks(rank_of=self._rank_of)
        threading.Thread(target=self._run, name="raf-ras", daemon=True).start()

    def _run(self) -> None:
        while True:
            pause = SILENT_S
            with contextlib.suppress(OSError, ValueError):
                data = ask(self._where)
                answer = read(data)
                self._answers.append((data, answer))
                found = self._looks.look(answer, time.time())
                self.found.extend(one for one in found if one.kind in _TOLD)
                pause = EVERY_S
            time.sleep(pause)

    def _rank_of(self, one: Communicator, member: Member) -> int | None:
        ranks = dict(self.ranks)
        worlds = {rank.tail.header.world for rank in ranks.values() if rank.tail.header is not None}
        if worlds == {one.size}:
            return member.number
        here = [number for number, rank in ranks.items() if rank.seen.pid == member.pid]
        return here[0] if len(here) == 1 and len(worlds) == 1 and len(ranks) in worlds else None

    def write(self, evidence: Path) -> None:
        """The newest answer, and those before it that say the same of all launches: how long it has been so."""
        answers = list(self._answers)
        same = [data for data, answer in answers if answer.told == answers[-1][1].told]
        for letter, data in zip("abcdefgh", same, strict=False):
            ending = "json" if data.lstrip()[:1] == b"{" else "txt"
            (evidence / f"ras-{letter}.{ending}").write_bytes(data)


def witness_of(ranks: Mapping[int, Rank]) -> Witness | None:
    """Of a job with NCCL, on the node of its first rank."""
    if 0 not in ranks:
        return None
    told = environment(ranks[0].seen.pid)
    if told.get("NCCL_RAS_ENABLE") == "0":
        return None
    where = told.get("NCCL_RAS_ADDR")
    on_device = any(one.newest is not None and one.newest.flags & layout.ON_DEVICE for one in ranks.values())
    if not where and not on_device:
        return None
    with contextlib.suppress(ValueError):
        return Witness(address(where) if where else Address("localhost", PORT))
    return None
