"""What a simulated scenario says: a program, a layout, faults, and how the evidence was set up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod

from rankandfile.lab.sim.faults.fault import Fault
from rankandfile.lab.sim.layout import Layout, mesh
from rankandfile.lab.sim.ops import Program
from rankandfile.lab.sim.recorder import Recording
from rankandfile.lab.sim.watchdog import Patience
from rankandfile.lab.sim.workloads.common import Size

Workload = Callable[[int, Layout, Size], Program]


@dataclass(frozen=True)
class Evidence:
    """What is kept of the incident, and in which shape."""

    torch: str = "2.13"
    recording: Recording = Recording()
    json: bool = False
    logs: str = "per_rank"  # or "per_node", or "none"
    stacks: bool = False
    ras: bool = False
    lost_dumps: tuple[int, ...] = ()
    snapshot: float | None = None  # part of the run after which all ranks are asked to dump; None: at the end
    dump_name: str = "nccl_trace_rank_{rank}"


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """One simulated hang, or one healthy run."""

    name: str
    title: str
    program: Workload
    dims: dict[str, int]
    faults: tuple[Fault, ...] = ()
    size: Size = Size()
    patience: Patience = Patience()
    evidence: Evidence = Evidence()
    layout: Callable[[dict[str, int]], Layout] = mesh
    grows: str = "dp"  # the dimension that takes up more ranks
    eager_init: bool = False
    culprits: tuple[int, ...] | None = None  # None: the ranks of the first fault
    decoys: tuple[int, ...] = ()
    seed: int = 1
    hang: bool | None = None  # None: as the faults say

    @property
    def expects_hang(self) -> bool:
        return self.hang if self.hang is not None else any(fault.hang for fault in self.faults)

    def sized(self, ranks: int | None) -> dict[str, int]:
        """The dimensions for so many ranks."""
        dims = dict(self.dims)
        if ranks is None:
            return dims
        fixed = prod(size for name, size in dims.items() if name != self.grows)
        if self.grows not in dims or ranks % fixed:
            raise ValueError(f"{self.name} runs on multiples of {fixed} ranks")
        dims[self.grows] = ranks // fixed
        return dims
