"""The ranks of one attempt, over Monarch's channels: every question has an answer or a reason why there is none."""

from __future__ import annotations

import contextlib
import re
import shutil
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rankandfile.capture.control.rank_actor import RankActor, Sight, logs_of
from rankandfile.capture.gather import files

#: For processes to come up, for an actor's word, and for what it gathers.
START_S, ANSWER_S, EVIDENCE_S, END_S = 120.0, 2.0, 90.0, 15.0

_CODE = re.compile(r"non-zero code (\d+)|Killed\(sig=(\d+)\)")


@dataclass
class Rank:
    """One rank, as the controller knows it."""

    number: int
    actor: Any
    sight: Sight | None = None
    lost: str = ""
    """Why its actor will not answer any more."""
    asked: Any = None
    silent_since: float = 0.0
    code: int | None = None

    @property
    def over(self) -> bool:
        return bool(self.lost) or self.code is not None


@dataclass
class Ranks:
    """Use it as a context manager: nothing of it outlives the block."""

    mesh: Any
    """Monarch's, of the hosts."""
    hosts: int
    """How many there are besides this one; 0 for this one alone."""
    per_host: int
    address: tuple[str, int] = ("", 0)
    ranks: list[Rank] = field(default_factory=list)
    _procs: Any = None
    _work: Path | None = None

    def __enter__(self) -> Ranks:
        self._procs = self.mesh.spawn_procs(per_host={"ranks": self.per_host})
        if not self.hosts:
            self._work = Path(tempfile.mkdtemp(prefix="raf-control-"))
        actors = self._procs.spawn("raf", RankActor, self._work)
        places = [{"hosts": n} for n in range(self.hosts)] or [{}]
        places = [{**place, "ranks": n} for place in places for n in range(self.per_host)]
        self.ranks = [Rank(number, actors.slice(**place)) for number, place in enumerate(places)]
        try:
            self.address = self.ranks[0].actor.get_host_port.call_one(None).get(timeout=START_S)
        except Exception as error:  # whatever Monarch says: there is no job without its first rank
            self._lose(self.ranks[0], str(error) or type(error).__name__)
        return self

    def __exit__(self, *_: object) -> None:
        ends = [rank.actor.end.call_one() for rank in self.ranks if not rank.lost]
        for end in ends:
            with contextlib.suppress(Exception):
                end.get(timeout=END_S)
        with contextlib.suppress(Exception):
            self._procs.stop().get(timeout=END_S)
        if self._work is not None:
            shutil.rmtree(self._work, ignore_errors=True)

    def begin(self, script: Sequence[str], attempt: int, plan: str) -> None:
        if self.ranks[0].lost:
            return
        begun = [
            (rank, rank.actor.begin.call_one(*self.address, script, attempt, plan)) for rank in self.ranks
        ]
        for rank, one in begun:
            try:
                one.get(timeout=START_S)
            except Exception as error:
                self._lose(rank, str(error) or type(error).__name__)

    def look(self) -> None:
        """Ask every rank's actor; who does not answer is asked no second time before it does."""
        for rank in self.ranks:
            if not rank.lost and rank.asked is None:
                rank.asked = rank.actor.look.call_one()
                rank.silent_since = time.monotonic()
        for rank in self.ranks:
            if rank.asked is None:
                continue
            try:
                left = ANSWER_S - (time.monotonic() - rank.silent_since)
                rank.sight = rank.asked.get(timeout=max(left, 0.05))
                rank.asked, rank.code = None, rank.sight.code
            except TimeoutError:
                continue
            except Exception as error:  # whatever Monarch says: it is of this rank, and not of the tool
                rank.asked = None
                self._lose(rank, str(error))

    def tell(self, failure: str) -> None:
        """A supervision error of Monarch's."""
        crashed = re.search(r"crashed_ranks=\[([\d, ]*)\]", failure)
        for number in crashed[1].split(",") if crashed else ():
            if number.strip().isdigit() and int(number) < len(self.ranks):
                self._lose(self.ranks[int(number)], failure)

    def _lose(self, rank: Rank, why: str) -> None:
        if rank.lost:
            return
        found = _CODE.search(why)
        rank.code = rank.code if found is None else int(found[1]) if found[1] else -int(found[2])
        rank.lost = why.strip().splitlines()[-1].strip(" )")

    def evidence(self, folder: Path, stacks: bool) -> list[str]:
        """Have every rank's actor gather; returns of whom there is nothing, and why."""
        asked = [(rank, rank.actor.evidence.call_one(stacks)) for rank in self.ranks if not rank.lost]
        notes = [f"rank {rank.number} gathers nothing: {rank.lost}" for rank in self.ranks if rank.lost]
        for rank in self.ranks:
            if rank.lost and self._work is not None:  # what its actor left on this host
                files.logs(logs_of(self._work / str(rank.number), rank.number), folder / "logs")
                files.rings([rank.sight.seen] if rank.sight is not None else [], folder / "rings")
        until = time.monotonic() + EVIDENCE_S
        for rank, one in asked:
            try:
                # A rank whose actor hangs must not cost the others theirs.
                found = one.get(timeout=max(until - time.monotonic(), 0.05))
            except Exception as error:
                notes.append(f"no evidence of rank {rank.number}: {type(error).__name__} {error}".rstrip())
                continue
            for name, content in found:
                path = folder / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
        return notes
