"""The lab's programs of ranks on different paths, and their healthy twins."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from rankandfile.lab import catalog
from rankandfile.lab.scenario import Scenario
from rankandfile.lab.source_tree import build, locate
from rankandfile.lab.truth import LocationTruth
from rankandfile.model.causes import CAUSES

from .enforced import run, shows, told


def lab(names: Sequence[str]) -> None:
    chosen = [catalog.get(name) for name in names] or [
        one
        for one in catalog.scenarios()
        if one.cause in CAUSES and CAUSES[one.cause].family == "paths" and one.hang and not one.needs
    ]
    print(
        "| program | ended after | rank | line | healthy twin |\n| --- | ---: | --- | --- | --- |", flush=True
    )
    for scenario in chosen:
        print(f"| {scenario.name} | {_hanging(scenario)} | {_twin(scenario)} |", flush=True)


def _hanging(scenario: Scenario) -> str:
    ran = run(scenario)
    said = told(ran.log)
    if not ran.ended:
        return "**hangs** | | "
    if not ran.left:
        return "by itself | | "
    if said is None:
        return "told | ? | "
    who = (
        "among those named"
        if not said.named
        else "right"
        if said.named <= {*scenario.culprits}
        else f"**{sorted(said.named)}**"
    )
    after = ran.after(said.at)
    line = "right" if shows(said.words, _places(scenario)) else said.words.strip().partition(": ")[2][:70]
    return f"{'?' if after is None else f'{after:.1f} s'} | {who} | {line}"


def _places(scenario: Scenario) -> list[LocationTruth]:
    """Where its truth has the culprits part: their calls, and the line of the decision."""
    anchors = [
        one.at for one in scenario.divergence.cohorts if one.at and set(one.ranks) & set(scenario.culprits)
    ]
    anchors += [scenario.location] if scenario.location is not None else []
    with tempfile.TemporaryDirectory(prefix="plan-") as folder:
        build(scenario, src := Path(folder) / "src", fixed=False)
        return [locate(at, src, scenario.name) for at in anchors]


def _twin(scenario: Scenario) -> str:
    ran = run(scenario, fixed=True)
    if not ran.ended:
        return "**hangs**"
    return "**stopped**" if ran.left else "ran to its end"
