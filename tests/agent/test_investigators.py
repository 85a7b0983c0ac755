"""Investigations scored on incidents with known truth; and started by themselves when a case is made."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from support.agent.model_runs import command, environment
from support.agent.model_server import Turn, serving
from support.agent.needs import needs_models
from support.places import EARLY_STOP

from rankandfile.capture.diagnose import Investigations
from rankandfile.cli.errors import UserError
from rankandfile.lab.benchmark import investigate as benchmark

pytestmark = [pytest.mark.slow, needs_models]


@pytest.fixture
def incidents(tmp_path: Path) -> Path:
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "early-stop").symlink_to(EARLY_STOP)
    return tmp_path / "set"


@pytest.mark.lab
def test_the_playbook_and_a_model_are_scored_beside_the_diagnosis(incidents: Path, tmp_path: Path) -> None:
    def plays(_: dict[str, Any], number: int) -> Turn:
        return Turn(calls=[("conclude", {
            "findings": ["Rank 2 made the barrier #85. [D2#84]", "Rank 3 is the culprit. [D3#85]"],
            "cause": "early_exit", "culprits": "2", "evidence": ["D2#84"],
        })])  # fmt: skip

    marks, page = tmp_path / "marks.json", tmp_path / "accuracy.md"
    page.write_text("# Accuracy\n\n<!-- investigator: begin -->\nold\n<!-- investigator: end -->\n\nMore.\n")
    with serving(plays) as server, environment(server.environment()):
        arguments = [
            "lab",
            "score",
            "--investigator",
            "playbook",
            "--investigator",
            f"llm:{server.model('openai')}",
        ]
        arguments += ["--set", str(incidents), "--worst", "--output", str(marks), "--markdown", str(page)]
        status, _, _ = command(arguments)
    assert status == 0
    playbook, model = json.loads(marks.read_text())
    (case,) = playbook["cases"]
    for name in ("culprits_right", "cause_right", "location_right", "condition_right"):
        assert case["marks"][name] is True and case["diagnosis"][name] is True
    assert case["fix"] is True and case["unsupported"] == 0 and case["sentences"] > 30
    assert case["added"] is None
    (case,) = model["cases"]
    assert (
        case["added"]["findings"] == 1 and case["added"]["dropped"] == 1 and case["added"]["tokens"] == 3150
    )
    assert case["model"]["culprits_right"] is True and case["unsupported"] == 0
    written = page.read_text()
    assert "old" not in written and written.endswith("<!-- investigator: end -->\n\nMore.\n")
    assert written.count("| playbook | 1 | 1/1 (100%") == 1 and "diagnose --src" in written


@pytest.mark.lab
def test_a_model_answers_a_task_of_the_benchmark_and_leaves_its_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its own verdict, where one was accepted; that of the rules, where it has none."""

    def names_rank_2(_: dict[str, Any], number: int) -> Turn:
        return Turn(calls=[("conclude", {
            "findings": [], "cause": "early_exit", "culprits": "2", "evidence": ["D2#84"],
            "file": "trainer.py", "line": 41,
        })])  # fmt: skip

    def blames_without_evidence(_: dict[str, Any], number: int) -> Turn:
        return Turn(
            calls=[("conclude", {"findings": [], "cause": "killed", "culprits": "0", "evidence": []})]
        )

    def answer(*more: str) -> dict[str, Any]:
        words = ["investigate", str(EARLY_STOP / "evidence"), "--src", str(EARLY_STOP / "src"), *more]
        monkeypatch.setattr("sys.argv", words)
        assert benchmark.main() == 0
        found: dict[str, Any] = json.loads(capsys.readouterr().out)
        return found

    rules = answer()
    assert rules["culprits"] == [2] and rules["line"] == 40 and rules["hang"] is True
    for plays, line in ((names_rank_2, 41), (blames_without_evidence, 40)):
        with serving(plays) as server, environment(server.environment()):
            said = answer("--model", server.model("openai"), "--keep", str(tmp_path / "kept"))
        assert said["culprits"] == [2] and said["line"] == line, said
        assert (tmp_path / "kept" / said["record"] / "conversation.jsonl").is_file()
        assert said["spent"]["input_tokens"] > 0


@pytest.mark.parametrize("name", ["magic", "llm:gpt-5"])
def test_what_is_no_investigator_is_said(incidents: Path, name: str) -> None:
    with pytest.raises(UserError, match=r"neither playbook|is no model"):
        command(["lab", "score", "--investigator", name, "--set", str(incidents)])


def test_an_investigation_starts_by_itself_and_writes_into_the_case(tmp_path: Path) -> None:
    case = tmp_path / "case"
    shutil.copytree(EARLY_STOP / "evidence", case / "evidence")
    said: list[str] = []
    investigations = Investigations(EARLY_STOP / "src", None, said.append)
    investigations.start(case)
    investigations.finish()
    assert said == [f"investigation: {case / 'investigation.md'}"]
    assert "`trainer.py:40`" in (case / "investigation.md").read_text()
    assert "HANG: rank 2 left early" in (case / "investigation.log").read_text()


def test_a_model_for_raf_run_is_checked_before_the_job_starts() -> None:
    with pytest.raises(UserError, match="is no model"):
        command(["run", "--investigate", "--model", "nobody", "--", "true"])
    with pytest.raises(UserError, match="add --investigate"):
        command(["run", "--model", "ollama:x", "--", "true"])
