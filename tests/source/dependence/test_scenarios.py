"""On the lab's faults: the condition that truth names can differ, with a reason; what the fix agrees on cannot."""

from __future__ import annotations

from pathlib import Path

import pytest

from rankandfile.lab import catalog, source_tree
from rankandfile.lab.scenario import Scenario
from rankandfile.source.dependence import Reason, why
from rankandfile.source.flow import conditions_at
from rankandfile.source.program.modules import Program

pytestmark = pytest.mark.slow


class Folder:
    def __init__(self, root: Path) -> None:
        self.root = root

    def paths(self) -> list[str]:
        return sorted(path.relative_to(self.root).as_posix() for path in self.root.rglob("*.py"))

    def read(self, path: str) -> str | None:
        return (self.root / path).read_text()


def reasons(root: Path, file: str, line: int) -> list[Reason]:
    program = Program(Folder(root))
    module = program.module(file)
    assert module is not None
    function = module.function_at(line)
    assert function is not None
    return [why(program, function, condition) for condition in conditions_at(function, line)]


def with_condition(tmp: Path) -> list[tuple[Scenario, list[Reason]]]:
    found = []
    for scenario in catalog.scenarios():
        if scenario.location is not None:
            root = tmp / scenario.name
            source_tree.build(scenario, root, fixed=False)
            at = source_tree.locate(scenario.location, root, scenario.name)
            answers = reasons(root, at.file, at.line)
            if answers:
                found.append((scenario, answers))
    return found


def test_the_condition_of_every_scenario_can_differ_and_the_reason_is_quoted(tmp_path: Path) -> None:
    answers = with_condition(tmp_path)
    assert len(answers) > 35
    silent = [s.name for s, found in answers if not any(r.level in ("varying", "axes") for r in found)]
    assert not silent
    for scenario, found in answers:
        best = next(r for r in found if r.level in ("varying", "axes"))
        assert best.chain and best.source and best.sentence, scenario.name
        assert all((tmp_path / scenario.name / step.file).exists() for step in best.chain)


KINDS = {
    "early_stop_local": "local_data",
    "uneven_shards": "shard_length",
    "preempted_rank_leaves": "signal",
    "export_on_rank_zero": "rank_api",
    "waits_for_local_file": "file_system",
    "nan_batch_skipped": "local_data",
}


@pytest.mark.parametrize("name", KINDS)
def test_the_source_is_the_right_one(name: str, tmp_path: Path) -> None:
    scenario = catalog.get(name)
    assert scenario.location is not None
    source_tree.build(scenario, tmp_path / "tree", fixed=False)
    at = source_tree.locate(scenario.location, tmp_path / "tree", name)
    assert reasons(tmp_path / "tree", at.file, at.line)[0].source == KINDS[name]


def test_a_decision_that_the_fix_agrees_on_is_no_longer_accused(tmp_path: Path) -> None:
    scenario = catalog.get("early_stop_local")
    source_tree.build(scenario, tmp_path / "tree", fixed=True)
    text = (tmp_path / "tree" / "trainer.py").read_text().splitlines()
    line = next(n for n, code in enumerate(text, 1) if "any_rank(self.out_of_patience())" in code)
    assert [r.level for r in reasons(tmp_path / "tree", "trainer.py", line)] == ["uniform"]
