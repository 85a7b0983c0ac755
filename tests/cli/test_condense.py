"""`raf condense`: what it writes, what it says, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.cli.raf_runs import Raf
from support.evidence.condensing import case_of
from support.evidence.sample_dumps import job

from rankandfile.lab.flight_writer import write_pickle

pytestmark = pytest.mark.slow


@pytest.fixture
def dumps(tmp_path: Path) -> Path:
    folder = tmp_path / "dumps"
    folder.mkdir()
    for rank, dump in job(calls=2000).items():
        (folder / f"nccl_trace_rank_{rank}").write_bytes(write_pickle(dump))
    return folder


def test_it_says_how_small_it_became_and_every_command_takes_it(
    raf: Raf, dumps: Path, tmp_path: Path
) -> None:
    done = raf("condense", dumps, "-o", tmp_path / "node3.case")
    assert (done.status, done.err) == (0, "")
    assert "times less: 4 files, 4 with calls" in done.out
    size = sum(file.stat().st_size for file in dumps.iterdir())
    assert (tmp_path / "node3.case").stat().st_size < size / 100
    full, small = (raf("diagnose", path, "--format", "json") for path in (dumps, tmp_path / "node3.case"))
    assert full.status == small.status
    one, other = (json.loads(told.out)["verdicts"][0] for told in (full, small))
    assert one["cause"] == other["cause"]
    shown = raf("show", "evidence", "D1#1999", tmp_path / "node3.case")
    assert shown.status == 0
    assert "node3.case!/dumps/nccl_trace_rank_1, record 1999" in shown.out.replace("\n", "")


def test_a_case_that_is_named_after_its_node_tells_the_host(raf: Raf, dumps: Path, tmp_path: Path) -> None:
    raf("condense", dumps, "-o", tmp_path / "node3.case")
    assert set(case_of(tmp_path / "node3.case").dumps["host"]) == {"node3"}


def test_it_may_lie_in_the_folder_that_is_condensed_again(raf: Raf, dumps: Path) -> None:
    assert raf("condense", dumps, "-o", dumps / "node3.case").status == 0
    first = (dumps / "node3.case").read_bytes()
    again = raf("condense", dumps, "-o", dumps / "node3.case")
    assert again.status == 2 and "exists; use --force" in again.err
    assert raf("condense", dumps, "-o", dumps / "node3.case", "--force").status == 0
    assert (dumps / "node3.case").read_bytes() == first
    assert {file.name for file in dumps.iterdir()} == {
        "node3.case",
        *(f"nccl_trace_rank_{rank}" for rank in range(4)),
    }


def test_what_it_refuses(raf: Raf, dumps: Path, tmp_path: Path) -> None:
    zipped = raf("condense", dumps, "-o", tmp_path / "node3.zip")
    assert zipped.status == 2 and ".case" in zipped.err
    lost = raf("condense", tmp_path / "nothing", "-o", tmp_path / "node3.case")
    assert lost.status == 2 and "no such file or directory" in lost.err
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "weights.pt").write_bytes(bytes(range(256)))
    none = raf("condense", tmp_path / "empty", "-o", tmp_path / "node3.case")
    assert none.status == 2 and "nothing there tells of a job" in none.err
    assert not (tmp_path / "node3.case").exists()


def test_a_case_is_not_condensed(raf: Raf, dumps: Path, tmp_path: Path) -> None:
    assert raf("case", "convert", dumps, "-o", tmp_path / "case").status == 0
    assert raf("case", "pack", dumps, "-o", tmp_path / "ticket.zip").status == 0
    for given in ("case", "ticket.zip"):
        done = raf("condense", tmp_path / given, "-o", tmp_path / "node3.case")
        assert done.status == 2 and "condense the evidence that it was made of" in done.err


def test_a_condensed_case_becomes_a_ticket(raf: Raf, dumps: Path, tmp_path: Path) -> None:
    raf("condense", dumps, "-o", tmp_path / "node3.case")
    done = raf("case", "pack", tmp_path / "node3.case", "-o", tmp_path / "ticket.zip", "--redact")
    assert done.status == 0 and "hosts replaced" in done.out
    full, packed = (raf("diagnose", one, "--format", "json") for one in (dumps, tmp_path / "ticket.zip"))
    assert full.status == packed.status
