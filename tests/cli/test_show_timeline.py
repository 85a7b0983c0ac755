"""`raf show timeline` and the graphs of `raf show waits`, at the keyboard."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from support.cli.raf_runs import Raf

pytestmark = pytest.mark.slow


def test_the_table_names_what_each_cohort_did(raf: Raf, other_op: Path) -> None:
    done = raf("show", "timeline", other_op, "--format", "json")
    assert done.status == 0
    rows = json.loads(done.out)
    assert {"seconds", "ranks", "group", "seq", "op", "state", "place"} <= rows[0].keys()
    assert {"1", "0,2,3"} & {row["ranks"] for row in rows}


@pytest.mark.parametrize("name", ["job.json.gz", "job.perfetto-trace"])
def test_a_trace_is_written_by_its_suffix(raf: Raf, other_op: Path, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    done = raf("show", "timeline", other_op, "-o", path)
    assert (done.status, done.out) == (0, "")
    assert f"{name}: " in done.err.replace("\n", "")
    data = gzip.decompress(path.read_bytes()) if name.endswith(".gz") else path.read_bytes()
    if ".json" in name:
        assert json.loads(data)["traceEvents"]
    else:
        assert data.startswith(b"\x0a")


@pytest.mark.parametrize(
    "words", [("-o", "job.csv"), ("-f", "csv", "-o", "job.dat"), ("-f", "json", "-o", "job.json")]
)
def test_a_table_is_written_where_one_is_asked_for(
    raf: Raf, other_op: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert raf("show", "timeline", other_op, *words).status == 0
    written = (tmp_path / words[-1]).read_text(encoding="utf-8")
    rows = json.loads(written) if "json" in words else written.splitlines()[1:]
    assert rows and written.startswith("[" if "json" in words else "seconds,")


def test_ranks_can_be_chosen(raf: Raf, other_op: Path, tmp_path: Path) -> None:
    path = tmp_path / "job.json"
    raf("show", "timeline", other_op, "-o", path, "--rank", "0,1", "--all")
    assert {event["pid"] for event in json.loads(path.read_bytes())["traceEvents"]} == {0, 1}


@pytest.mark.parametrize("name", ["job.svg", "job"])
def test_an_unknown_suffix_is_said_before_anything_is_read(raf: Raf, tmp_path: Path, name: str) -> None:
    done = raf("show", "timeline", tmp_path, "-o", tmp_path / name)
    assert done.status == 2
    assert ".pftrace" in done.err


@pytest.mark.parametrize(("format", "begins"), [("dot", "digraph waits {"), ("mermaid", "flowchart LR")])
def test_the_waits_as_a_graph(raf: Raf, other_op: Path, tmp_path: Path, format: str, begins: str) -> None:
    done = raf("show", "waits", other_op, "--format", format)
    assert done.out.startswith(begins)
    assert "culprit: rank 1" in done.out
    raf("show", "waits", other_op, "--format", format, "-o", tmp_path / "waits")
    assert (tmp_path / "waits").read_text() == done.out
