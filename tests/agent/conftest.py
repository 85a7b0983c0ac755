"""Benches to investigate at: a recorded job with its source, and simulated ones."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from support.places import EARLY_STOP

from rankandfile.agent.bench import Bench, bench_of
from rankandfile.lab.sim.run import simulate
from rankandfile.pipeline import Options


@pytest.fixture(scope="session")
def early_stop() -> Bench:
    """Rank 2 of four left its loop by a decision of its own, at trainer.py:40."""
    return bench_of([EARLY_STOP / "evidence"], Options(sources=(EARLY_STOP / "src",), jobs=1))


@pytest.fixture(scope="session")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Bench]:
    benches: dict[str, Bench] = {}

    def bench(scenario: str) -> Bench:
        if scenario not in benches:
            made = simulate(scenario, tmp_path_factory.mktemp("sim") / scenario)
            sources = tuple(one for one in [made / "src"] if one.is_dir())
            benches[scenario] = bench_of([made / "evidence"], Options(sources=sources, jobs=1))
        return benches[scenario]

    return bench
