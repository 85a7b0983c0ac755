"""Benches to investigate at: a recorded job with its source, and simulated ones."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from support.places import EARLY_STOP

from rankandfile.agent.bench import Bench
from rankandfile.cli.bench import bench_of
from rankandfile.lab.sim.run import simulate


@pytest.fixture(scope="session")
def early_stop() -> Bench:
    """Rank 2 of four left its loop by a decision of its own, at trainer.py:40."""
    return bench_of([EARLY_STOP / "evidence"], [EARLY_STOP / "src"], None, None, 1)


@pytest.fixture(scope="session")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Bench]:
    benches: dict[str, Bench] = {}

    def bench(scenario: str) -> Bench:
        if scenario not in benches:
            made = simulate(scenario, tmp_path_factory.mktemp("sim") / scenario)
            src = [made / "src"] if (made / "src").is_dir() else None
            benches[scenario] = bench_of([made / "evidence"], src, None, None, 1)
        return benches[scenario]

    return bench
