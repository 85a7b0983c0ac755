"""What is done to a job of the soak, drawn at random and the same for the same seed."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

#: What happens around a job, and how often of a hundred; each but the first is a fault.
AROUND = {
    "nothing": 6,
    "raf killed and restarted": 10,
    "raf stopped for a while": 6,
    "raf told to end (SIGTERM)": 7,
    "raf interrupted (SIGINT)": 5,
    "a rank stopped for a while": 8,
    "rings filled": 8,
    "tables of rings filled": 5,
    "/dev/shm full from the start": 7,
    "/dev/shm full while it runs": 7,
    "disk full from the start": 6,
    "disk full while it runs": 7,
    "files limited to 256 KB": 5,
    "the clock steps": 9,
    "rings removed while it runs": 4,
}
#: Of what only root can arrange, in a namespace of its own.
MOUNTED = tuple(name for name in AROUND if "full" in name and "fill" not in name)
#: What ends the job from outside at the gate: nothing is drawn to happen in it later.
ENDING = ("raf killed and restarted", "raf told to end (SIGTERM)", "raf interrupted (SIGINT)")
HOWS = {"SIGKILL": 5, "SIGSEGV": 2, "SIGABRT": 2, "raised": 3, "exited": 2, "hung": 2}
CLOCK_STEPS = (-86_400, -3600, -30, 30, 3600, 86_400)
STEPS, GATE = 5, 1


@dataclass(frozen=True)
class Fault:
    """Of one rank, in one attempt."""

    rank: int
    step: int
    how: str


@dataclass(frozen=True)
class Plan:
    around: str
    faults: dict[int, Fault] = field(default_factory=dict)
    """By attempt."""
    restarts: int = 0
    world: int = 2
    code: int = 0
    """Of rank 1, where it comes to its end."""
    torchrun: bool = False
    clock_s: int = 0

    @property
    def count(self) -> int:
        """How many faults that is; that the launcher starts the ranks again is one."""
        restarts = sum(1 for attempt in self.faults if attempt < self.restarts)
        return (self.around != "nothing") + len(self.faults) + restarts

    @property
    def kinds(self) -> list[str]:
        ends = [f"rank: {fault.how}" for fault in self.faults.values()]
        restarts = sum(1 for attempt in self.faults if attempt < self.restarts)
        again = "torchrun starts the ranks again" if self.torchrun else "launcher starts the ranks again"
        return [self.around] * (self.around != "nothing") + ends + [again] * restarts

    @property
    def last(self) -> int:
        """The attempt that the job ends with."""
        return next((n for n in range(self.restarts + 1) if n not in self.faults), self.restarts)

    @property
    def burst(self) -> int:
        return 9000 if self.around == "rings filled" else 0

    @property
    def sites(self) -> int:
        return 3000 if self.around == "tables of rings filled" else 0

    @property
    def hangs(self) -> bool:
        return any(fault.how == "hung" for fault in self.faults.values())

    def write(self, folder: Path) -> Path:
        """As the job reads it."""
        path = folder / "plan.json"
        told = {
            "folder": str(folder),
            "world": self.world,
            "restarts": self.restarts,
            "code": self.code,
            "steps": STEPS,
            "gate": GATE,
            "burst": self.burst,
            "sites": self.sites,
            "torchrun": self.torchrun,
            "timeout": 15 if self.hangs else 120,
            "faults": {str(attempt): asdict(fault) for attempt, fault in self.faults.items()},
        }
        path.write_text(json.dumps(told))
        return path


def plan_of(told: dict[str, Any]) -> Plan:
    """From `asdict`, through JSON."""
    return Plan(**told | {"faults": {int(n): Fault(**fault) for n, fault in told["faults"].items()}})


def plans(seed: int, mounted: bool) -> Iterator[Plan]:
    """Without end."""
    draw = random.Random(seed)
    arounds = {name: weight for name, weight in AROUND.items() if mounted or name not in MOUNTED}
    while True:
        around = draw.choices(list(arounds), list(arounds.values()))[0]
        yield _with_ends(draw, around)


def _with_ends(draw: random.Random, around: str) -> Plan:
    clock = draw.choice(CLOCK_STEPS) if around == "the clock steps" else 0
    world = draw.choice((2, 2, 3))
    if around in ENDING or (around != "nothing" and draw.random() < 0.25):
        return Plan(around, world=world, code=draw.choice((0, 0, 7)), clock_s=clock)
    torchrun = around == "nothing" and draw.random() < 0.5
    restarts = draw.choice((1, 2)) if torchrun else draw.choice((0, 0, 1, 2))
    # The last attempt may come to its end.
    failing = restarts + draw.choice((0, 1))
    faults = {attempt: _fault(draw, 2 if torchrun else world) for attempt in range(failing or 1)}
    if clock:  # gloo's patience goes by the clock that steps: nobody would end such a hang
        faults = {
            n: Fault(one.rank, one.step, "exited" if one.how == "hung" else one.how)
            for n, one in faults.items()
        }
    if any(fault.how == "hung" for fault in faults.values()):
        world = 2
        faults = {n: Fault(fault.rank % 2, fault.step, fault.how) for n, fault in faults.items()}
        if torchrun:  # it would wait for the rank that hangs, and not for the one that gives up
            faults = {n: Fault(fault.rank, fault.step, "exited") for n, fault in faults.items()}
    return Plan(around, faults, restarts, 2 if torchrun else world, 0, torchrun, clock)


def _fault(draw: random.Random, world: int) -> Fault:
    how = draw.choices(list(HOWS), list(HOWS.values()))[0]
    return Fault(draw.randrange(world), draw.randrange(GATE + 1, STEPS), how)
