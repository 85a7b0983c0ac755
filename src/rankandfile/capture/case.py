"""The case folder of an incident: evidence, then the diagnosis of it."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rankandfile.capture import collect, stacks
from rankandfile.capture.diagnose import Answer, diagnose
from rankandfile.capture.rings import Seen

#: Between the two looks at the stacks: what is the same in both stands still.
APART_S = 2.0
VERDICT = 1

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


class Case:
    def __init__(
        self,
        wishes: Wishes,
        say: Callable[[str], None],
        logs: Sequence[Path],
        dumps: Path,
        env: Mapping[str, str],
    ) -> None:
        self._wishes, self._say, self._logs, self._dumps, self._env = wishes, say, logs, dumps, env
        self.stacks: Path | None = None
        """Those of the last stall."""

    def of_stall(self, look: Look, stacks: bool, still: Callable[[], bool]) -> bool | None:
        """Whether it is a hang; None where that is undetermined, False also where the job went on meanwhile."""
        seen, codes = look()
        folder = self._new_folder()
        self._collect(folder, seen, codes)
        if stacks:
            self.stacks = folder / "evidence" / "stacks"
            self._take_stacks(seen, self.stacks)
            # Once more: how long the calls have been waiting tells a hang from a pause.
            self._collect(folder, *look())
        if not still():
            self._say("the job moves again")
            return False
        answer = self._diagnose(folder)
        if answer.status == VERDICT or answer.hang:
            self._wishes.show(answer.card)
            self._say(f"case: {folder}")
            return True
        if answer.status < 0:
            return None  # ended by a signal, with the job
        said = "the evidence does not tell why" if answer.status else "the evidence shows no hang"
        self._say(f"{said if answer.status in (0, 3) else answer.said}; case: {folder}")
        return False if answer.status == 0 else None

    def of_end(self, code: int, look: Look, stood_still: bool) -> None:
        """The job has ended, and not well. Stacks of a stall that it did not get over still tell."""
        folder = self._new_folder()
        self._collect(folder, *look())
        if stood_still and self.stacks is not None and self.stacks.is_dir():
            shutil.copytree(self.stacks, folder / "evidence" / "stacks")
        answer = self._diagnose(folder)
        told = answer.status == VERDICT or answer.hang
        if told:
            self._wishes.show(answer.card)
        self._say(f"the job ended with {code}{'' if told else '; no verdict'}; case: {folder}")

    def _collect(self, folder: Path, seen: Sequence[Seen], codes: Mapping[int, int]) -> None:
        evidence = folder / "evidence"
        evidence.mkdir(parents=True, exist_ok=True)
        collect.rings(seen, evidence / "rings")
        collect.exits(seen, codes, evidence / "exits.json")
        collect.logs(self._logs, evidence / "logs")
        collect.dumps(self._dumps, evidence / "dumps")
        collect.environment(self._env, evidence / "env.txt")

    def _new_folder(self) -> Path:
        first = self._wishes.out or Path(f"raf-case-{time.strftime('%Y%m%d-%H%M%S')}")
        folder, count = first, 1
        while folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            count += 1
            folder = first.with_name(f"{first.name}-{count}")
        return folder

    def _take_stacks(self, seen: Sequence[Seen], folder: Path) -> None:
        living = {
            f"rank_{one.rank}" if one.rank >= 0 else f"pid_{one.pid}": one.pid for one in seen if one.lives
        }
        notes = stacks.take(living, folder)
        if not notes:
            time.sleep(APART_S)
            notes = stacks.take(living, folder, "_later") + stacks.take(living, folder, native=True)
        for note in notes:
            self._say(note)

    def _diagnose(self, folder: Path) -> Answer:
        return diagnose(folder, self._wishes.source, self._wishes.unicode, self._wishes.width)
