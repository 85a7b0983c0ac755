"""`raf show stacks` and `raf show evidence`: where every rank stands, and what a verdict rests on."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from support.cli.raf_runs import Raf

from rankandfile.lab.sim.run import simulate

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def blocked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rank 3 reads a file for ever, by its stack; the others wait in a collective."""
    return simulate("blocked-loader-fsdp", tmp_path_factory.mktemp("sim") / "blocked") / "evidence"


def test_the_tree_parts_where_the_ranks_do(raf: Raf, blocked: Path) -> None:
    lines = [line.rstrip() for line in raf("show", "stacks", blocked).out.splitlines()]
    assert lines[0] == "where each rank was when its stack was taken last"
    shared = next(line for line in lines if line.startswith("0-7") and "main" in line)
    assert "culprit" not in shared
    (own,) = [line for line in lines if line.endswith("culprit")]
    assert own.startswith("3 ")
    assert any(line.startswith("3 ") and "_read" in line for line in lines)
    assert len(raf("show", "stacks", blocked, "--library").out.splitlines()) > len(lines)


def test_without_stacks_the_calls_that_did_not_end_show_where(raf: Raf, other_op: Path) -> None:
    done = raf("show", "stacks", other_op)
    assert "no stack was taken" in done.out
    tree = json.loads(raf("show", "stacks", other_op, "--format", "json").out)
    assert tree["taken_from"] == "calls"
    assert {node["ranks"] for node in tree["nodes"]} > {"1"}


@pytest.mark.parametrize("ranks", ["3", "0,3"])
def test_some_ranks_alone(raf: Raf, blocked: Path, other_op: Path, ranks: str) -> None:
    for evidence in (blocked, other_op):
        tree = json.loads(raf("show", "stacks", evidence, "--rank", ranks, "--format", "json").out)
        assert {one for node in tree["nodes"] for one in node["ranks"].split(",")} == {*ranks.split(",")}


def test_a_cited_line_comes_with_those_around_it(raf: Raf, blocked: Path) -> None:
    rows = json.loads(raf("show", "evidence", blocked, "-C", "3", "--format", "json").out)
    answer = json.loads(raf("diagnose", blocked, "--format", "json").out)
    assert [row["id"] for row in rows] == [one["id"] for one in answer["evidence"]]
    stack = next(row for row in rows if row["id"].startswith("S"))
    cited = int(stack["where"].removeprefix("line "))
    source = Path(stack["source"]).read_text().splitlines()
    assert [line["text"] for line in stack["context"] if line["here"]] == [source[cited - 1]]
    numbers = [line["number"] for line in stack["context"]]
    assert numbers == list(range(max(1, cited - 3), min(len(source), cited + 3) + 1))
    text = raf("show", "evidence", blocked, stack["id"]).out
    assert text.startswith(f"{stack['id']}  ")
    assert f"▸ {cited} " in text or f"> {cited} " in text


def test_what_is_in_an_archive_has_no_context(raf: Raf, blocked: Path, tmp_path: Path) -> None:
    archive = shutil.make_archive(str(tmp_path / "case"), "gztar", blocked)
    rows = json.loads(raf("show", "evidence", archive, "--format", "json").out)
    assert rows
    assert not any(row["context"] for row in rows)


def test_an_unknown_id_is_the_users_error(raf: Raf, blocked: Path) -> None:
    done = raf("show", "evidence", blocked, "D99#1")
    assert done.status == 2
    assert "there is no evidence D99#1" in done.err


def test_ids_alone_are_of_nothing(raf: Raf) -> None:
    done = raf("show", "evidence", "D0#1")
    assert done.status == 2
    assert "name the dumps" in done.err


@pytest.mark.parametrize("command", ["stacks", "evidence", "timeline", "waits"])
def test_help_shows_examples(raf: Raf, command: str) -> None:
    assert f"raf show {command} " in raf("show", command, "--help").out.partition("Examples:")[2]
