"""Benches to investigate at: a recorded job with its source, and simulated ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from support.agent.kept_benches import KeptBenches
from support.places import EARLY_STOP

from rankandfile.agent import bench as benches_of
from rankandfile.agent.bench import Bench, bench_of
from rankandfile.lab.sim.run import simulate
from rankandfile.pipeline import Options


@pytest.fixture(scope="session")
def kept_benches() -> KeptBenches:
    return KeptBenches(bench_of)


@pytest.fixture(scope="module", autouse=True)
def benches_are_kept(kept_benches: KeptBenches) -> Iterator[None]:
    """Commands in this process that look at the same files share what is worked out of them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(benches_of, "bench_of", kept_benches)
        yield


@pytest.fixture(scope="session")
def early_stop(kept_benches: KeptBenches) -> Bench:
    """Rank 2 of four left its loop by a decision of its own, at trainer.py:40."""
    return kept_benches([EARLY_STOP / "evidence"], Options(sources=(EARLY_STOP / "src",), jobs=1))


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
