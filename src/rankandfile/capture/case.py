"""The case folder of an incident: evidence, then the diagnosis of it."""

from __future__ import annotations

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

    def of_stall(
        self, seen: Sequence[Seen], codes: Mapping[int, int], stacks: bool, still: Callable[[], bool]
    ) -> bool | None:
        """Whether there is a verdict; None for an undetermined one, False also where the job went on meanwhile."""
        folder = self._collect(seen, codes)
        if stacks:
            self._take_stacks(seen, folder / "evidence" / "stacks")
        if not still():
            self._say("the job moves again")
            return False
        answer = self._diagnose(folder)
        if answer.status == VERDICT:
            self._wishes.show(answer.card)
            self._say(f"case: {folder}")
            return True
        said = "the evidence does not tell why" if answer.status else "the evidence shows no hang"
        self._say(f"{said if answer.status in (0, 3) else answer.said}; case: {folder}")
        return False if answer.status == 0 else None

    def of_end(self, code: int, seen: Sequence[Seen], codes: Mapping[int, int]) -> None:
        """The job has ended by itself, and not well."""
        folder = self._collect(seen, codes)
        answer = self._diagnose(folder)
        if answer.status == VERDICT:
            self._wishes.show(answer.card)
        said = f"the job ended with {code}"
        self._say(f"{said}{'' if answer.status == VERDICT else '; no verdict'}; case: {folder}")

    def _collect(self, seen: Sequence[Seen], codes: Mapping[int, int]) -> Path:
        folder = self._new_folder()
        evidence = folder / "evidence"
        evidence.mkdir(parents=True)
        collect.rings(seen, evidence / "rings")
        collect.exits(seen, codes, evidence / "exits.json")
        collect.logs(self._logs, evidence / "logs")
        collect.dumps(self._dumps, evidence / "dumps")
        collect.environment(self._env, evidence / "env.txt")
        return folder

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
