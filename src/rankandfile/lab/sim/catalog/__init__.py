"""The named scenarios. One line of intent each; everything else follows from the simulation."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from rankandfile.lab.sim.catalog import device, healthy, paths, peers, process
from rankandfile.lab.sim.scenario import Scenario


@cache
def scenarios() -> dict[str, Scenario]:
    """All of them, by name; each faulty one is followed by its healthy twin, which is not in this list."""
    found: dict[str, Scenario] = {}
    for module in (peers, paths, process, device, healthy):
        for scenario in module.SCENARIOS:
            if scenario.name in found:
                raise ValueError(f"two scenarios are called {scenario.name}")
            found[scenario.name] = scenario
    return found


def get(name: str) -> Scenario:
    """By name; `<name>.twin` is the same job without its faults."""
    base = name.removesuffix(".twin")
    scenario = scenarios()[base]
    return twin(scenario) if name != base else scenario


def twin(scenario: Scenario) -> Scenario:
    """The same job with nothing planted, and with whatever evidence was taken away given back."""
    return replace(
        scenario, name=f"{scenario.name}.twin", title=f"Healthy twin of: {scenario.title}", faults=(), culprits=None,
        decoys=(), hang=None, evidence=replace(scenario.evidence, lost_dumps=()), patience=type(scenario.patience)(),
    )  # fmt: skip
