"""A program under `raf run --plan enforce`: how it ended, and what was said of the plan."""

from __future__ import annotations

import re
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from rankandfile.lab.ranks import Ranks
from rankandfile.lab.scenario import Scenario
from rankandfile.lab.source_tree import build
from rankandfile.lab.truth import LocationTruth
from rankandfile.model.ranks import parse_ranks

#: A stall is looked into only after what a plan would have had to tell at once.
ENFORCED = ("-m", "rankandfile", "run", "--plan", "enforce", "--stall", "40", "--out")
#: Who writes a line: torch's word for a rank that fails, or `raf` for one that waits.
_WRITER = re.compile(r"^(?:\[rank\d+\]: |raf: )+", re.MULTILINE)
#: For a program to come to its end on a busy machine; `Ranks` itself gives up a little later.
GIVEN_S = 170.0
_LEFT = re.compile(
    r"(?P<head>[^\n]*)\n(?P<calls>(?:  [^\n]*\n)+)"
    r"(?:ranks? (?P<ranks>[\d,-]+) left the plan(?: at (?P<left>[\d:]+\.\d+))?|Parted at (?P<parted>[\d:]+\.\d+);)"
)


class Told(NamedTuple):
    """What is said of a plan that was left."""

    named: frozenset[int]
    """Empty where nothing tells who is right."""
    at: str
    """The clock of the wrong call; empty where it has none."""
    shown: frozenset[int]
    """Whose calls are told."""
    number: int
    """Of the wrong call, on its group; 0 where it has none."""
    words: str
    """The calls, with the lines that lead to them."""


def told(log: str) -> Told | None:
    found = _LEFT.search(_WRITER.sub("", log))
    if found is None:
        return None
    number = re.search(r"\bcall (\d+) on ", found["head"])
    return Told(
        frozenset(parse_ranks(found["ranks"] or "")),
        found["left"] or found["parted"] or "",
        frozenset(
            rank
            for ranks in re.findall(r"  ranks? ([\d,-]+): ", found["calls"])
            for rank in parse_ranks(ranks)
        ),
        int(number[1]) if number else 0,
        found["calls"],
    )


class Ran(NamedTuple):
    ended: float
    """When its last rank ended, in seconds since 1970; 0 where it did not."""
    exits: dict[int, int]
    log: str

    @property
    def left(self) -> bool:
        """Whether it was said that the plan was left."""
        return "out of plan" in self.log or "OutOfPlan" in self.log

    def after(self, clock: str) -> float | None:
        """How long after that time of its day it ended."""
        if not clock:
            return None
        day = datetime.fromtimestamp(self.ended)
        at = datetime.strptime(clock, "%H:%M:%S.%f").replace(year=day.year, month=day.month, day=day.day)
        return (day - at).total_seconds()


def run(scenario: Scenario, *, fixed: bool = False, under: Sequence[str] = ENFORCED) -> Ran:
    """`under`: a command of this Python that runs the job; none for the job by itself."""
    with tempfile.TemporaryDirectory(prefix="plan-") as folder:
        job = Path(folder)
        control, src = job / "control", job / "src"
        control.mkdir()
        build(scenario, src, fixed=fixed)
        before = [sys.executable, *under, str(job / "case"), "--"] if under else ["env"]
        with Ranks(scenario, src, control, twin=fixed, under=before) as ranks:
            until = time.monotonic() + GIVEN_S
            ranks.watch(until=lambda _: ranks.over or time.monotonic() > until)
            exits = ranks.exits()
        whole = len(exits) == scenario.world_size
        ended = max(path.stat().st_mtime for path in control.glob("exit_*")) if whole else 0.0
        texts = [path.read_text(errors="replace") for path in sorted(control.glob("*.log"))]
        return Ran(ended, exits, "\n".join(texts))


def shows(words: str, wanted: Iterable[LocationTruth]) -> bool:
    """Whether one of the lines is among those that lead to the calls."""
    return any(f"{Path(one.file).name}:{one.line} " in words for one in wanted)
