"""Real incidents for the lab's tests, each run once for the whole session."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path

import pytest

from rankandfile.lab.run import run_scenario

Incident = Callable[..., Path]


@pytest.fixture(scope="session")
def incident(tmp_path_factory: pytest.TempPathFactory) -> Incident:
    """Run a scenario, or hand out the incident of its earlier run."""
    if importlib.util.find_spec("torch") is None:
        pytest.skip("torch is not installed")
    made: dict[tuple[str, bool], Path] = {}

    def run(name: str, *, twin: bool = False) -> Path:
        key = (name, twin)
        if key not in made:
            out = tmp_path_factory.mktemp("incidents") / (f"{name}.twin" if twin else name)
            made[key] = run_scenario(name, out, twin=twin)
        return made[key]

    return run
