"""Many incidents in one call: a failure of one is an outcome, not the end of the others."""

from __future__ import annotations

from pathlib import Path

import pytest

from rankandfile.lab import corpus, truth
from rankandfile.lab.run import ScenarioError


@pytest.fixture
def pretend_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs that only write a truth file; one scenario never hangs."""

    def run(name: str, out_dir: Path, *, twin: bool = False) -> Path:
        if name == "uneven_shards" and not twin:
            raise ScenarioError("uneven_shards: the job finished")
        (out_dir / "evidence" / "dumps").mkdir(parents=True)
        (out_dir / "evidence" / "logs").mkdir()
        truth.write(
            truth.Truth(
                name=name,
                title="t",
                program="p",
                world_size=2,
                hang=True,
                cause="killed",
                family="process gone",
                culprits=[1],
                divergence=truth.DivergenceTruth(kind="none"),
            ),
            out_dir,
        )
        return out_dir

    monkeypatch.setattr(corpus, "run_scenario", run)


def test_failures_are_outcomes_and_variants_follow_their_incident(pretend_runs: None, tmp_path: Path) -> None:
    seen: list[str] = []
    outcomes = corpus.make_corpus(
        tmp_path,
        ["uneven_shards", "nan_raises"],
        variant_names=["no_logs"],
        on_outcome=lambda outcome: seen.append(outcome.name),
    )
    assert [o.name for o in outcomes if o.error] == ["uneven_shards"]
    made = {o.name for o in outcomes if o.path}
    assert made == {"uneven_shards.twin", "nan_raises", "nan_raises.twin", "nan_raises~no_logs"}
    assert sorted(seen) == sorted(o.name for o in outcomes)
    assert truth.read(tmp_path / "nan_raises~no_logs").removed == ["no_logs"]


def test_an_unknown_name_is_refused_before_anything_runs(pretend_runs: None, tmp_path: Path) -> None:
    with pytest.raises(KeyError, match="no scenario 'nonsense'"):
        corpus.make_corpus(tmp_path, ["nan_raises", "nonsense"])
    assert not list(tmp_path.iterdir())
