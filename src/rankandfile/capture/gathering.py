"""The cases of a job: what this node has, what the sentinel has found, and what other nodes hand in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from rankandfile.capture.case import Case
from rankandfile.capture.meet.nodes import Nodes
from rankandfile.capture.meet.together import Speaks, Told, confer
from rankandfile.capture.revisions import publish
from rankandfile.capture.sentinel import findings
from rankandfile.capture.watch.roster import Roster
from rankandfile.model.digest import Finding

Say = Callable[[str], None]


class Gathering:
    def __init__(self, case: Case, roster: Roster, say: Say) -> None:
        self._case, self._roster, self._say = case, roster, say
        self.findings: list[Finding] = []
        """Of the sentinel, so far: they go into every case."""
        self.cases: list[Path] = []
        """What was diagnosed so far, and is to be kept."""
        self.newest: Path | None = None
        """The case that was made last, diagnosed or not."""

    def of_stall(self, stacks: bool) -> Path:
        self._case.knows(self._roster.told)
        return self._made(self._case.of_stall(self._roster.now, stacks))

    def of_end(self, stood_still: bool) -> Path:
        self._case.knows(self._roster.told)
        return self._made(self._case.of_end(self._roster.now, stood_still))

    def _made(self, folder: Path) -> Path:
        self.newest = folder
        findings.write(folder, self.findings)
        return folder

    def keep(self, nodes: Nodes | None, alarm: int, found: str, holds: Callable[[], bool]) -> Path:
        """The evidence of now, of a job that goes on, with that of all nodes, or handed in to the one that asked for
        it. `found`: what was found here; empty where it was found elsewhere."""
        folder = self.of_stall(stacks=False)
        said = (
            confer(nodes, folder / "evidence", alarm, self._say) if nodes is not None and alarm else Speaks()
        )
        if isinstance(said, Told):
            self._say(f"{said.words}; evidence of this node: {folder}")
            return folder
        answer = self._case.judge(folder, holds)
        self._say(f"evidence of it: {folder}")
        self.cases.append(folder)
        publish(nodes, str(alarm) if alarm else "", answer, folder, found)
        return folder
