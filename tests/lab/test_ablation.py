"""What a heuristic is worth: the answers with it and without, judged."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from rankandfile.lab.score import ablation
from rankandfile.lab.sim.run import simulate
from rankandfile.model.heuristics import HEURISTICS, Heuristic
from rankandfile.reason import diagnose
from rankandfile.source.findings import source_findings


@pytest.fixture
def pretended(monkeypatch: pytest.MonkeyPatch) -> Iterator[Heuristic]:
    """A heuristic without which nobody is a culprit."""
    rule = Heuristic("culprits", "names the culprits at all")
    before = ablation.diagnosed

    def without(paths: list[Path], src: list[Path]) -> object:
        diagnosis = before(paths, src)
        for verdict in diagnosis.verdicts if rule.off else ():
            verdict.culprits, verdict.cause = [], "undetermined"
        return diagnosis

    monkeypatch.setattr(ablation, "diagnosed", without)
    yield rule
    del HEURISTICS[rule.name]


def test_what_is_lost_without_it_is_counted(pretended: Heuristic, tmp_path: Path) -> None:
    simulate("peers-other-op", tmp_path / "peers-other-op")
    silent = Heuristic("silent", "is never asked")
    rows = ablation.ablate("raf-dumps", [tmp_path / "peers-other-op"], [pretended, silent])
    del HEURISTICS[silent.name]
    worth, nothing = rows
    assert (worth.heard, worth.changed, worth.right_to_wrong, worth.wrong_to_right) == (1, 1, 1, 0)
    assert worth.lost["culprits"] == worth.lost["cause"] == 1
    assert worth.incidents == ["peers-other-op"]
    assert (nothing.heard, nothing.changed, nothing.incidents) == (0, 0, [])
    (shown,) = ablation.table(rows)
    assert shown["heuristic"] == "culprits"
    assert shown["culprits"] == "-1"
    page = tmp_path / "page.md"
    ablation.write_page(page, rows, "1 incident")
    assert "| culprits | names the culprits at all | 1 | 1 | 1 | 0 | -1 |" in page.read_text(encoding="utf-8")
    assert "No say here: silent." in page.read_text(encoding="utf-8")


def test_every_heuristic_says_what_it_is_in_a_line() -> None:
    assert diagnose and source_findings
    for rule in ablation.heuristics():
        assert re.fullmatch(r"[a-z].{10,110}[^.]", rule.meaning), rule
        assert re.fullmatch(r"[a-z][a-z0-9 '-]{2,30}", rule.name), rule
