"""Simulate a scenario and write the incident it leaves."""

from __future__ import annotations

import gc
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
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

_SMALL_GROUP = 64


class SimulationError(Exception):
    """The simulation did not do what the scenario says."""


@dataclass
class Outcome:
    """All that happened, before any of it is written down."""

    scenario: Scenario
    layout: Layout
    hosts: list[Host]
    end: Aftermath


def simulate(
    scenario: Scenario | str,
    out_dir: Path,
    *,
    ranks: int | None = None,
    timing: bool | None = None,
    keep_every: int = 1,
) -> Path:
    """Write the incident to `out_dir`, which is replaced. `ranks` grows the job along its data-parallel dimension;
    `timing` overrides whether start events are recorded.

    Each dump names all ranks of the world, so that dumps of a job grow with the square of its ranks: 2 GB at
    16,384, 70 GB at 100,000. `keep_every` keeps dumps and logs of every so many ranks, and of all ranks that share
    a group of at most 64 with a culprit; the others count as lost.
    """
    if isinstance(scenario, str):
        scenario = catalog.get(scenario)
    if timing is not None:
        recording = replace(scenario.evidence.recording, timing=timing)
        scenario = replace(scenario, evidence=replace(scenario.evidence, recording=recording))
    with _no_garbage_collection():
        outcome = play(scenario, ranks)
        if keep_every > 1:
            outcome = _thinned(outcome, keep_every)
        if out_dir.exists():
            shutil.rmtree(out_dir)
        dumped, removed, now = incident.write(
            outcome.scenario, outcome.layout, outcome.hosts, outcome.end, out_dir
        )
        truth = truth_of(scenario, outcome.layout, outcome.hosts, now, dumped, removed)
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
    end = aftermath(hosts, layout, scenario.patience)
    if end.stuck != scenario.expects_hang:
        raise SimulationError(f"{scenario.name}: the job {'hung' if end.stuck else 'finished'}")
    if not end.stuck and scenario.evidence.snapshot is not None:
        ran = max(host.clock for host in hosts) - rules.start_ns
        asked = rules.start_ns + int(ran * scenario.evidence.snapshot)
        end = aftermath(hosts, layout, scenario.patience, on_request=asked)
    return Outcome(scenario, layout, hosts, end)


def _thinned(outcome: Outcome, keep_every: int) -> Outcome:
    layout, scenario = outcome.layout, outcome.scenario
    near = {
        member
        for fault in scenario.faults
        for rank in fault.ranks
        for group in layout.groups_of(rank)
        if group.size <= _SMALL_GROUP
        for member in group.ranks
    }
    lost = tuple(rank for rank in range(layout.world_size) if rank % keep_every and rank not in near)
    evidence = replace(scenario.evidence, lost_dumps=lost, lost_logs=lost)
    return replace(outcome, scenario=replace(scenario, evidence=evidence))


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
