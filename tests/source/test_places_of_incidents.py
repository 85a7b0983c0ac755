"""Incidents of the lab of which nothing beside the culprit shows where it went: the place is found all the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.source.toy_runs import locate

from rankandfile.evidence.load import load
from rankandfile.lab import truth
from rankandfile.lab.sim.run import simulate
from rankandfile.reason import conclude, gather
from rankandfile.source.files.tree import open_tree

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("skip-tp-backward", id="a function that only autograd calls"),
        pytest.param("peers-unmatched-send", id="another stage is no measure for what this one sends"),
        pytest.param("early-stop-ddp", id="a rank without a dump that has ended waits in no circle"),
        pytest.param("cycle-norm-before-dp", id="the odd one of a circle, whose call others made too"),
    ],
)
def test_the_condition_is_found(name: str, tmp_path: Path) -> None:
    made = simulate(name, tmp_path / name)
    (tmp_path / "spool").mkdir()
    case = load([made / "evidence"], tmp_path / "spool", jobs=1)
    verdict = locate(case, conclude(gather(case)), open_tree([made / "src"])).verdicts[0]
    true = truth.read(made).location
    assert true is not None and verdict.location is not None, verdict.sentence
    assert (verdict.location.file, verdict.location.condition_line) == (true.file, true.line)
    assert verdict.location.condition == true.condition
    assert f"`{true.condition}`" in verdict.sentence
    assert verdict.location.why_it_can_differ
