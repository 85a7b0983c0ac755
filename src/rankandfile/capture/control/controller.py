"""The controller: supervises the ranks, says why when they stand still or fail, and does what was asked for then."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rankandfile.capture.control.doors import answers
from rankandfile.capture.control.hosts import attach
from rankandfile.capture.control.ranks import Rank, Ranks
from rankandfile.capture.control.streams import Streams
from rankandfile.capture.diagnose import Answer, diagnose
from rankandfile.capture.gather import files
from rankandfile.capture.watch.rings import Seen
from rankandfile.capture.watch.stall import Stall

POLL_S = 0.3
#: For the other ranks to end by themselves once one has failed: what they say then tells.
GRACE_S = 6.0
#: A rank whose actor is silent for so long counts as lost.
SILENT_S = 30.0
#: And for so long where its host's worker is gone.
UNSURE_S = 4.0

Say = Callable[[str], None]


@dataclass(frozen=True)
class Options:
    script: Sequence[str]
    """What each rank's Python runs, with its arguments."""
    ranks: int
    """On each host."""
    hosts: Sequence[str] = ()
    """Where workers wait, as `host:port`; none for this machine alone."""
    certificates: Path | None = None
    """A folder of them; without, only workers on this machine are asked."""
    policy: str = "stop"
    """On a hang or a failure: `report`, `stop`, `restart`, or `restart-without` the hosts that are gone."""
    restarts: int = 1
    stall: float | None = None
    plan: str = "off"
    out: Path | None = None
    logs: Path | None = None
    """A folder in which each rank gets files of its own for what it writes."""
    source: Path | None = None
    unicode: bool = True
    width: int = 100


def run(options: Options, say: Say, show: Callable[[str], None]) -> int:
    """Run the script on all ranks; returns 0 if one attempt came to its end, else how the last one failed.

    Raises NoWay where a host's worker does not answer, or must not be asked.
    """
    import monarch.actor

    current: list[Ranks] = []

    def heard(failure: object) -> None:
        # To return is to say that it is dealt with: it becomes evidence, and does not end the controller.
        for ranks in current:
            ranks.tell(str(failure))

    mesh = attach(options.hosts, options.certificates)
    monarch.actor.unhandled_fault_hook = heard
    for attempt in range(options.restarts + 1 if options.policy.startswith("restart") else 1):
        if attempt:
            gone = [worker for worker in options.hosts if not answers(worker)]
            left = [worker for worker in options.hosts if worker not in gone]
            if gone and (options.policy == "restart" or not left):
                say(f"no restart: no worker answers at {', '.join(gone)}")
                break
            if gone:
                options = replace(options, hosts=left)
                mesh = attach(left, options.certificates)
            without = f" without {', '.join(gone)}, {len(left) * options.ranks} ranks" if gone else ""
            say(f"restarting the job{without}: attempt {attempt + 1}")
        with Ranks(mesh, len(options.hosts), options.ranks) as ranks:
            current[:] = [ranks]
            streams = Streams(len(ranks.ranks) == 1, attempt, options.logs)
            try:
                code = _Attempt(options, ranks, attempt, streams, say, show).until_end()
            finally:
                streams.end()
        current.clear()
        if code == 0:
            break
    return code


class _Attempt:
    def __init__(
        self,
        options: Options,
        ranks: Ranks,
        attempt: int,
        streams: Streams,
        say: Say,
        show: Callable[[str], None],
    ) -> None:
        self._options, self._ranks, self._attempt, self._streams = options, ranks, attempt, streams
        self._say, self._show = say, show
        self._told: set[int] = set()
        self._gone: set[int] = set()
        """Hosts without a worker."""

    def until_end(self) -> int:
        options, ranks = self._options, self._ranks
        ranks.begin(options.script, self._attempt, options.plan)
        stall = Stall(time.monotonic(), options.stall)
        failed_at: float | None = None
        while True:
            ranks.look()
            self._pass_on()
            now = time.monotonic()
            failed = [rank for rank in ranks.ranks if rank.lost or rank.code]
            if failed and failed_at is None:
                failed_at = now
            if all(rank.over for rank in ranks.ranks) or (
                failed_at is not None and now - failed_at > GRACE_S
            ):
                self._pass_on_the_rest()
                return self._end(failed)
            if failed_at is None and stall.feed(now, [one for one in map(_seen, ranks.ranks) if one]):
                idle = not any(one.lives and one.open for one in map(_seen, ranks.ranks) if one)
                if not idle:
                    self._say(f"nothing has moved for {stall.still(now):.0f} s: looking why")
                answer = self._look_why(idle)
                if answer.is_hang and options.policy != "report":
                    self._say("ending the job")
                    return 1
                if not answer.is_hang:
                    stall.undecided()
            time.sleep(POLL_S)

    def _end(self, failed: Sequence[Rank]) -> int:
        if not failed:
            return 0
        self._look_why()
        codes = [rank.code for rank in failed if rank.code]
        first = codes[0] if codes else 1
        return first if first > 0 else 128 - first

    def _pass_on(self) -> None:
        """Ranks' output as it comes, and once, how each one ended that did not end well."""
        for rank in self._ranks.ranks:
            if rank.sight is not None and rank.sight.wrote:
                self._streams.pass_on(rank.number, rank.sight.output, rank.sight.errors)
                rank.sight = replace(rank.sight, output=b"", errors=b"")
            if not rank.lost and rank.asked is not None:
                rank.lost = self._why_silent(rank)
            if (rank.lost or rank.code) and rank.number not in self._told:
                self._told.add(rank.number)
                self._say(ended(rank))

    def _pass_on_the_rest(self) -> None:
        """Of ranks that have ended: one look tells no more than a part of what they wrote."""
        while True:
            self._ranks.look()
            ended = [rank for rank in self._ranks.ranks if rank.code is not None and not rank.lost]
            more = any(rank.asked is not None or (rank.sight and rank.sight.wrote) for rank in ended)
            self._pass_on()
            if not more:
                return

    def _why_silent(self, rank: Rank) -> str:
        """Empty as long as it may still answer."""
        silent = time.monotonic() - rank.silent_since
        if silent > SILENT_S:
            return f"its actor has not answered for {SILENT_S:.0f} s"
        host = rank.number // self._options.ranks
        if self._options.hosts and silent > UNSURE_S:
            worker = self._options.hosts[host]
            if host in self._gone or not answers(worker):
                self._gone.add(host)
                return f"the worker at {worker} does not answer any more"
        return ""

    def _look_why(self, idle: bool = False) -> Answer:
        """`idle`: nobody is seen to wait; then only a hang is worth a word."""
        options = self._options
        folder = _new_folder(options.out)
        evidence = folder / "evidence"
        evidence.mkdir(parents=True)
        for note in self._ranks.evidence(evidence, stacks=True):
            self._say(note)
        for host in range(max(1, len(options.hosts))):  # each has processes of the same numbers
            there = self._ranks.ranks[host * options.ranks :][: options.ranks]
            known = [(one, rank.code) for rank in there if (one := _seen(rank))]
            codes = {one.pid: code for one, code in known if code is not None}
            name = f"exits_{host}.json" if options.hosts else "exits.json"
            lost = {rank.number: rank.lost for rank in there if rank.lost}
            files.exits([one for one, _ in known], codes, evidence / name, lost)
        sizes = {"WORLD_SIZE": str(len(self._ranks.ranks)), "LOCAL_WORLD_SIZE": str(options.ranks)}
        files.environment({**os.environ, **sizes}, evidence / "env.txt")
        answer = self._meanwhile(lambda: diagnose(folder, options.source, options.unicode, options.width))
        if answer.is_hang or answer.status == 1:
            self._show(answer.card)
        elif idle:
            shutil.rmtree(folder, ignore_errors=True)
            return answer
        else:
            self._say(answer.words)
        self._say(f"case: {folder}")
        return answer

    def _meanwhile(self, work: Callable[[], Answer]) -> Answer:
        """Ranks are looked at while a diagnosis is made: it may take minutes, and an actor that hears nothing for
        long takes itself for left alone."""
        told: list[Answer] = []
        beside = threading.Thread(target=lambda: told.append(work()), daemon=True)
        beside.start()
        while beside.is_alive():
            self._ranks.look()
            self._pass_on()
            beside.join(POLL_S)
        return told[0]


def _seen(rank: Rank) -> Seen | None:
    if rank.sight is None:
        return None
    return rank.sight.seen._replace(lives=not rank.over)


def ended(rank: Rank) -> str:
    """`process of rank 5 exited with code 3`"""
    if rank.code is None:
        return f"the process of rank {rank.number} is lost: {rank.lost}"
    how = f"was killed by signal {-rank.code}" if rank.code < 0 else f"exited with code {rank.code}"
    return f"process of rank {rank.number} {how}"


def _new_folder(out: Path | None) -> Path:
    first = out or Path(f"raf-case-{time.strftime('%Y%m%d-%H%M%S')}")
    folder, count = first, 1
    while folder.exists():
        count += 1
        folder = first.with_name(f"{first.name}-{count}")
    return folder
