"""All scenarios: one file each in `rankandfile.lab.scenarios`."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

import msgspec

from rankandfile.lab import scenarios as package
from rankandfile.lab.scenario import Scenario


@cache
def scenarios() -> tuple[Scenario, ...]:
    """Every scenario, by name."""
    found = []
    for module in pkgutil.iter_modules(package.__path__):
        scenario = importlib.import_module(f"{package.__name__}.{module.name}").SCENARIO
        found.append(msgspec.structs.replace(scenario, name=module.name))
    return tuple(sorted(found, key=lambda s: s.name))


def get(name: str) -> Scenario:
    """The scenario of this name, dashes for underscores or not; KeyError with the known names otherwise."""
    for scenario in scenarios():
        if scenario.name == name.replace("-", "_"):
            return scenario
    raise KeyError(f"no scenario {name!r}; there are: {', '.join(s.name for s in scenarios())}")
