"""Answers kept, and compared with those of another time."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rankandfile.lab.score.analysers import OURS
from rankandfile.lab.score.answers import compared, differences, write_answers
from rankandfile.lab.sim.run import simulate

pytestmark = pytest.mark.slow


@pytest.mark.lab
def test_each_incident_has_its_answers_and_the_same_program_gives_the_same(tmp_path: Path) -> None:
    incident = simulate("peers-other-op", tmp_path / "set" / "peers-other-op")
    before, after = tmp_path / "before", tmp_path / "after"
    assert write_answers([incident], before) == write_answers([incident], after) == 6
    names = {file.name for file in (before / "peers-other-op").iterdir()}
    assert names == {f"{name}.json" for name in OURS}
    assert compared(before, after) == (6, {})
    changed = after / "peers-other-op" / "raf-src.json"
    document = json.loads(changed.read_bytes())
    document["verdicts"][0]["cause"] = "raised"
    changed.write_text(json.dumps(document))
    (after / "peers-other-op" / "raf-logs.json").unlink()
    count, differing = compared(before, after)
    assert count == 6
    assert differing["peers-other-op/raf-src.json"] == ["verdicts[0].cause: rank_conditional -> raised"]
    assert "there is no" in differing["peers-other-op/raf-logs.json"][0]


def test_what_cannot_be_diagnosed_is_an_answer_too(tmp_path: Path) -> None:
    incident = simulate("peers-other-op", tmp_path / "broken")
    for dump in (incident / "evidence" / "dumps").iterdir():
        dump.rename(dump.with_suffix(".txt"))
    (incident / "evidence" / "dumps" / "case.json").write_text("{}")
    write_answers([incident], tmp_path / "answers")
    assert (tmp_path / "answers" / "broken" / "raf-dumps.json").is_file()


def test_a_difference_is_told_by_its_place_and_long_texts_by_where_they_part() -> None:
    before = {"verdicts": [{"cause": "raised", "culprits": [1], "sentence": "a" * 80 + "one" + "b" * 80}]}
    after = {"verdicts": [{"cause": "raised", "culprits": [1, 2], "sentence": "a" * 80 + "two" + "b" * 80}]}
    count, sentence = differences(before, after)
    assert count == "verdicts[0].culprits: 1 of them -> 2 of them"
    assert sentence.startswith(f"verdicts[0].sentence: …{'a' * 20}one")
    assert f"-> …{'a' * 20}two" in sentence
