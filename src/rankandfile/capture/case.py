"""The case folder of an incident: evidence, then the diagnosis of it."""

from __future__ import annotations

import contextlib
import math
import os
import shlex
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rankandfile.capture.diagnose import Answer, diagnose
from rankandfile.capture.gather import (
    debug_server,
    files,
    fr_trace,
    stacks,
)
from rankandfile.capture.watch import output, work
from rankandfile.capture.watch.kernel import Kernel
from rankandfile.capture.watch.rings import Seen

#: Between the two looks at the stacks: what is the same in both stands still.
APART_S = 2.0
#: The same where no ring tells for how long each call has been waiting: as long as stacks alone must stand still.
APART_ALONE_S = 10.5
#: The same without stacks, for what ranks do meanwhile.
ALONE_S = 1.0
#: What they do.
WORK = "work.json"

#: What the rings show now, and how the processes that are gone have ended.
Look = Callable[[], tuple[Sequence[Seen], Mapping[int, int]]]


@dataclass(frozen=True)
class Wishes:
    """What the person wants of the answer."""

    out: Path | None = None
    source: Path | None = None
    unicode: bool = True
    width: int = 100
    show: Callable[[str], None] = print
    on_hang: Sequence[Callable[[Path], None]] = ()
    """What else is done with the case of a hang."""
    taken_back: Sequence[Callable[[Path], None]] = ()
    """What is done when it was none after all."""
    on_look: Callable[[Sequence[Seen], Path], None] | None = None
    """Gets the ranks, and the folder of their stacks as soon as these are there."""
    apart_s: float = APART_S
    """Between the two looks at stacks."""
    hung: bool = False
    """Whoever asks has seen it stand."""


def page(folder: Path) -> str:
    """Where the page of a case is, and how to see it from here."""
    whole = (folder / "report.html").resolve()
    if os.environ.get("SSH_CONNECTION"):
        return f"page: scp {os.uname().nodename}:{shlex.quote(str(whole))} ."
    return f"page: {'open' if sys.platform == 'darwin' else 'xdg-open'} {shlex.quote(str(whole))}"


def new_folder(out: Path | None) -> Path:
    """A folder that holds nothing yet, by that name or the next one; without a name, here, or where one may write."""
    name = f"raf-case-{time.strftime('%Y%m%d-%H%M%S')}"
    if out is None and not os.access(Path.cwd(), os.W_OK | os.X_OK):
        return Path(tempfile.mkdtemp(prefix=f"{name}-"))
    first = out or Path(name)
    folder, count = first, 1
    while folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        count += 1
        folder = first.with_name(f"{first.name}-{count}")
    return folder


class Case:
    """Gathers evidence into a folder of its own each time, and says what follows from it."""

    def __init__(
        self,
        wishes: Wishes,
        say: Callable[[str], None],
        logs: Callable[[], Sequence[Path]],
        dumps: Path,
        env: Mapping[str, str],
        kernel: Kernel | None = None,
    ) -> None:
        self._wishes, self._say, self._logs, self._dumps, self._env = wishes, say, logs, dumps, dict(env)
        self._kernel, self._said_open = kernel, False
        self._last: Path | None = None
        """The folder of the last stall, for its stacks and what ranks did meanwhile."""
        self.shown: Path | None = None
        """The case of the verdict that was shown last."""
        self.also: list[Callable[[Path], None]] = []
        """Write more into a folder of evidence."""
        self._sizes: dict[Path, int] = {}
        self._moved, self._still = time.monotonic(), math.inf

    def knows(self, variables: Mapping[str, str]) -> None:
        """What a rank was started with, beyond what the job was."""
        self._env.update(variables)

    def moves(self, still: float) -> None:
        """To be called at each look, with the seconds since the job has moved: what its ranks write after its last move
        tells how far they come alone."""
        if still <= self._still:
            self._sizes, self._moved = output.sizes(self._logs()), time.monotonic()
        self._still = still

    def of_stall(self, look: Look, stacks: bool) -> Path:
        """The folder of a new case, with what the living and the dead tell now."""
        seen, codes = look()
        began, before = time.monotonic(), work.uses(seen)
        folder = self._last = new_folder(self._wishes.out)
        self._collect(folder, seen, codes)
        if stacks:
            self._take_stacks(seen, folder / "evidence" / "stacks")
            files.answers(seen, folder)
        else:
            time.sleep(max(ALONE_S - (time.monotonic() - began), 0.0))
        done = work.works(seen, before, work.uses(seen))
        here = sorted(one.rank for one in seen if one.rank >= 0)
        counted = output.counted(self._sizes, self._logs(), time.monotonic() - self._moved, here)
        files.work(done, counted, folder / "evidence" / WORK)
        # Once more: how long the calls have been waiting tells a hang from a pause.
        self._collect(folder, *look())
        return folder

    def of_servers(self, servers: Sequence[debug_server.Server]) -> tuple[Path, set[int]]:
        """The folder of a new case, with what debug servers tell, and of which ranks."""
        folder = new_folder(self._wishes.out)
        seen = debug_server.collect(servers, folder / "evidence", self._say, APART_S)
        return folder, seen

    def of_end(self, look: Look, stood_still: bool) -> Path:
        """The job has ended. Stacks of a stall that it did not get over still tell."""
        folder = new_folder(self._wishes.out)
        self._collect(folder, *look())
        if stood_still and self._last is not None:
            with contextlib.suppress(OSError, shutil.Error):
                shutil.copy2(self._last / "evidence" / WORK, folder / "evidence")
                shutil.copytree(self._last / "evidence" / "stacks", folder / "evidence" / "stacks")
        return folder

    def take_back(self, folder: Path, ranks: Mapping[int, float]) -> Answer:
        """The calls of these ranks ended well after all, so many seconds later: the case says so from now on."""
        files.went_on(ranks, folder / "evidence" / WORK)
        answer = diagnose(folder, self._wishes.source, self._wishes.unicode, self._wishes.width)
        for tell in self._wishes.taken_back:
            tell(folder)
        return answer

    def judge(self, folder: Path, holds: Callable[[], bool] | None = None) -> Answer:
        """Show the verdict, if there is one; of a job that runs, if it is a hang and that `holds` still."""
        with contextlib.suppress(Exception):  # an extra: what it lacks, the evidence has
            fr_trace.beside(folder)
        hung = ["--hung"] if self._wishes.hung else []
        answer = diagnose(folder, self._wishes.source, self._wishes.unicode, self._wishes.width, hung)
        if (answer.is_hang and (holds is None or holds())) or (answer.late and holds is None):
            self._wishes.show(answer.card)
            self.shown = folder
            for tell in self._wishes.on_hang:
                tell(folder)
        return answer

    def _collect(self, folder: Path, seen: Sequence[Seen], codes: Mapping[int, int]) -> None:
        evidence = folder / "evidence"
        evidence.mkdir(parents=True, exist_ok=True)
        files.rings(seen, evidence / "rings")
        files.exits(seen, codes, evidence / "exits.json")
        files.logs(self._logs(), evidence / "logs")
        files.dumps(self._dumps, evidence / "dumps")
        files.environment(self._env, evidence / "env.txt")
        for write in self.also:
            with contextlib.suppress(OSError):
                write(evidence)
        readable = self._kernel is None or self._kernel.collect(evidence / "kernel")
        if not readable and not self._said_open and any(codes.get(one.pid) == -9 for one in seen):
            self._said_open = True
            self._say(
                "who sent SIGKILL stays open: the kernel's messages need root or CAP_SYSLOG (sudo dmesg)"
            )

    def _take_stacks(self, seen: Sequence[Seen], folder: Path) -> None:
        living = {
            f"rank_{one.rank}" if one.rank >= 0 else f"pid_{one.pid}": one.pid for one in seen if one.lives
        }
        notes = stacks.take(living, folder)
        if self._wishes.on_look is not None:
            self._wishes.on_look(seen, folder)
        stacks.of_loaders([one.pid for one in seen if one.lives and not one.open], folder)
        seen_ones = {name: pid for name, pid in living.items() if (folder / f"pyspy_{name}.json").exists()}
        if seen_ones:
            time.sleep(self._wishes.apart_s)
            notes += stacks.take(seen_ones, folder, "_later") + stacks.take(seen_ones, folder, native=True)
        for note in notes:
            self._say(note)
