"""Simulate a scenario and write the incident it leaves."""

from __future__ import annotations

import gc
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rankandfile.lab.sim import catalog, incident
from rankandfile.lab.sim.host import Host
from rankandfile.lab.sim.layout import Group, Layout
from rankandfile.lab.sim.machine import Machine, Rules
from rankandfile.lab.sim.ops import Program
from rankandfile.lab.sim.scenario import Scenario
from rankandfile.lab.sim.torch_versions import RELEASES
from rankandfile.lab.sim.truths import truth_of
from rankandfile.lab.sim.watchdog import Aftermath, aftermath
from rankandfile.lab.truth import write


class SimulationError(Exception):
    """The simulation did not do what the scenario says."""


@dataclass
class Outcome:
    """All that happened, before any of it is written down."""

    scenario: Scenario
    layout: Layout
    hosts: list[Host]
    end: Aftermath


def simulate(scenario: Scenario | str, out_dir: Path, *, ranks: int | None = None) -> Path:
    """Write the incident to `out_dir`, which is replaced. `ranks` grows the job along its data-parallel dimension."""
    if isinstance(scenario, str):
        scenario = catalog.get(scenario)
    with _no_garbage_collection():
        outcome = play(scenario, ranks)
        if out_dir.exists():
            shutil.rmtree(out_dir)
        layout, hosts = outcome.layout, outcome.hosts
        dumped, removed, now = incident.write(scenario, layout, hosts, outcome.end, out_dir)
        truth = truth_of(scenario, layout, hosts, now, dumped, removed)
    write(truth, out_dir)
    return out_dir


def play(scenario: Scenario, ranks: int | None = None) -> Outcome:
    """Run it, and make sure that it hangs, or does not, as it says. Raises `SimulationError`."""
    layout = scenario.layout(scenario.sized(ranks))
    stalls = [fault.stalled for fault in scenario.faults if fault.stalled]

    def stalled(group: Group, position: int) -> bool:
        return any(stall(group, position) for stall in stalls)

    def program(rank: int) -> Program:
        made: Program = scenario.program(rank, layout, scenario.size)
        for fault in scenario.faults:
            if fault.bend is not None and rank in fault.ranks:
                made = fault.bend(made)
        return made

    rules = Rules(
        seed=scenario.seed,
        eager_init=scenario.eager_init,
        records_pieces=RELEASES[scenario.evidence.torch].records_pieces,
        stalled=stalled,
    )
    hosts = Machine(layout, program, rules).run()
    for fault in scenario.faults:
        if fault.bend is not None and not any(hosts[rank].marks for rank in fault.ranks):
            raise SimulationError(f"{scenario.name}: the fault never struck")
    end = aftermath(hosts, scenario.patience)
    if end.stuck != scenario.expects_hang:
        raise SimulationError(f"{scenario.name}: the job {'hung' if end.stuck else 'finished'}")
    if not end.stuck and scenario.evidence.snapshot is not None:
        ran = max(host.clock for host in hosts) - rules.start_ns
        asked = rules.start_ns + int(ran * scenario.evidence.snapshot)
        end = aftermath(hosts, scenario.patience, on_request=asked)
    return Outcome(scenario, layout, hosts, end)


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Millions of small objects, none of them in cycles that matter before the end."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
