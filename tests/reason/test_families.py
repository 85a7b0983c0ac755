"""Groups that are alike are spoken of as one."""

from __future__ import annotations

import re
from pathlib import Path

from rankandfile.evidence.load import load
from rankandfile.lab.sim.run import simulate
from rankandfile.reason import diagnose


def test_the_sentence_says_in_how_many_like_groups_nobody_waits(tmp_path: Path) -> None:
    incident = simulate("peers-tp8-dp", tmp_path / "incident")
    spool = tmp_path / "spool"
    spool.mkdir()
    case = load([incident / "evidence" / "dumps"], spool)
    (verdict,) = diagnose(case).verdicts
    found = re.search(r"In (\d+) of (\d+) mesh_tp groups nobody waits\.", verdict.sentence)
    assert found is not None, verdict.sentence
    tensor_parallel = case.groups.filter(case.groups["desc"] == "mesh_tp").height
    assert (int(found[1]), int(found[2])) == (tensor_parallel - 1, tensor_parallel)
