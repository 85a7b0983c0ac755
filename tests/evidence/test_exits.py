"""How processes ended, from every kind of source, and who is a victim."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from rankandfile.evidence.exits import table as exits
from rankandfile.evidence.exits.documents import from_document
from rankandfile.evidence.exits.ends import End
from rankandfile.evidence.files import sniff
from rankandfile.evidence.text.logs.assemble import LogPart, LogTables, tables
from rankandfile.evidence.text.reading import read_log
from rankandfile.model.events import EXITS


def of_log(folder: Path, text: str) -> tuple[list[End], LogTables]:
    path = folder / "job.log"
    path.write_text(text)
    log = read_log(path).log
    assert log is not None
    found = tables([LogPart(log, "job.log")])
    return exits.from_events(found.events, found.logs), found


def test_an_exit_list() -> None:
    document = [
        {"rank": 0, "pid": 9970, "state": "running", "exitcode": None, "signal": None},
        {"rank": 1, "pid": 9972, "state": "exited", "exitcode": -9, "signal": "SIGKILL"},
        {"rank": 2, "pid": 9973, "state": "exited", "exitcode": 0, "signal": None},
        {"rank": 3, "pid": 9974, "state": "exited", "exitcode": 137},
        {"rank": 4, "pid": 9975, "state": "exited", "exitcode": -6},
        {"rank": 5, "pid": 9976, "state": "exited", "exitcode": 1},
        {"rank": 6, "pid": 9977, "state": "exited", "exitcode": 137, "signal": None},
        "no process",
    ]
    rows, notes = from_document(json.dumps(document).encode(), "exits.json")
    assert [(row.rank, row.state, row.exit_code, row.signal, row.role) for row in rows] == [
        (0, "running", None, None, "fact"),
        (1, "signalled", None, "SIGKILL", "origin"),
        (2, "exited", 0, None, "fact"),
        (3, "signalled", None, "SIGKILL", "origin"),
        (4, "signalled", None, "SIGABRT", "echo"),
        (5, "exited", 1, None, "fact"),
        (6, "exited", 137, None, "fact"),
    ]
    assert "1 entries" in notes[0].what
    assert exits.table(rows).columns == [column.name for column in EXITS]


def test_a_list_of_processes_that_all_live() -> None:
    """Nobody has an exit code, and one was stopped; times of strangers may be anything."""
    since = [1795194269.5, "yesterday", 1e300, -5, True, None]
    document = [
        {"rank": rank, "host": "a", "pid": 100 + rank, "state": "stopped", "since": time}
        for rank, time in enumerate(since)
    ]
    data = json.dumps(document, indent=1).encode()
    assert sniff.kind(data, "x.json") == "exit_list"
    rows, notes = from_document(data, "x.json")
    assert [row.time_ns for row in rows] == [1795194269_500_000_000, None, None, None, None, None]
    assert {(row.state, row.role) for row in rows} == {("stopped", "fact")} and not notes
    assert exits.listed(rows) == set(range(6))
    assert exits.table(rows)["state"].to_list() == ["stopped"] * 6


@pytest.mark.parametrize(
    ("text", "role"),
    [("ValueError: bad batch 17", "origin"), ("DistBackendError: NCCL error in: x", "echo")],
)
def test_an_error_file(text: str, role: str) -> None:
    extra = {"py_callstack": f"Traceback (most recent call last):\n{text}", "timestamp": "1795194269"}
    document = {"message": {"message": text, "extraInfo": extra}}
    (row,), notes = from_document(json.dumps(document).encode(), "run/attempt_0/3/error.json")
    assert (row.local_rank, row.role, row.error, row.time_ns) == (
        3,
        role,
        text,
        1795194269 * 10**9,
    )
    assert not notes


@pytest.mark.parametrize(
    "data", [b"", b"{", b"{}", b"3", b"[" * 10_000, b'{"message": {"message": []}}', b"[[]]"]
)
def test_what_is_neither_is_survived(data: bytes) -> None:
    rows, notes = from_document(data, "x.json")
    assert len(rows) + len(notes) >= 1


def test_whom_the_launcher_ended_is_a_victim(tmp_path: Path) -> None:
    head = "W1120 12:51:21.894000 29335 torch/distributed/elastic/multiprocessing/api.py:1028] "
    text = (
        f"{head}Sending process 29338 closing signal SIGTERM\n"
        f"{head}Unable to shutdown process 29338 via 15, forcefully exiting via 9\n"
        f"{head}failed (exitcode: 3) local_rank: 1 (pid: 29339) of binary: /usr/bin/python3\n"
        f"{head}failed (exitcode: -9) local_rank: 0 (pid: 29338) of binary: /usr/bin/python3\n"
        f"{head}failed (exitcode: -9) local_rank: 2 (pid: 29340) of binary: /usr/bin/python3\n"
    )
    rows, _ = of_log(tmp_path, text)
    assert [(row.pid, row.signal, row.exit_code, row.role) for row in rows] == [
        (29338, "SIGKILL", None, "echo"),
        (29339, None, 3, "fact"),
        (29338, "SIGKILL", None, "echo"),
        (29340, "SIGKILL", None, "origin"),
    ]
    assert rows[0].error == "did not end on SIGTERM"
    assert rows[0].evidence == "L0:2"


def test_the_kernel_and_the_scheduler(tmp_path: Path) -> None:
    text = (
        "[81234.568100] Memory cgroup out of memory: Killed process 4242 (python3) total-vm:9kB, anon-rss:6kB\n"
        "srun: error: node07: tasks 0-1: Exited with exit code 1\n"
        "srun: error: node07: task 5: Out Of Memory\n"
        "mpirun noticed that process rank 3 with PID 4243 on node node07 exited on signal 9 (Killed).\n"
    )
    rows, _ = of_log(tmp_path, text)
    assert [(row.kind, row.rank, row.task, row.pid, row.signal, row.role) for row in rows] == [
        ("kernel", None, None, 4242, "SIGKILL", "origin"),
        ("slurm", None, 0, None, None, "fact"),
        ("slurm", None, 1, None, None, "fact"),
        ("slurm", None, 5, None, "SIGKILL", "origin"),
        ("mpirun", 3, None, 4243, "SIGKILL", "origin"),
    ]
    assert [row.host for row in rows] == [None, "node07", "node07", "node07", "node07"]
    assert [row.error for row in rows] == ["out of memory", None, None, "out of memory", None]


@pytest.mark.parametrize(
    ("tasks", "ranks"),
    [((0, 1, 2, 3), [0, 1, 2, 3]), ((0, 1), [None, None]), ((3,), [None])],
    ids=["one per rank", "fewer than ranks", "one on its host"],
)
def test_tasks_are_ranks_only_where_they_can_be_nothing_else(
    tmp_path: Path, tasks: tuple[int, ...], ranks: list[int | None]
) -> None:
    text = "".join(f"srun: error: node07: task {task}: Killed\n" for task in tasks)
    rows, found = of_log(tmp_path, text + "[rank3]: RuntimeError: Socket Timeout\n")
    assert exits.tie(exits.table(rows), found.events)["rank"].to_list() == ranks


def test_a_kernels_pid_finds_its_rank_in_the_exit_list(tmp_path: Path) -> None:
    rows, found = of_log(
        tmp_path, "[81234.568100] Out of memory: Killed process 4242 (python3) total-vm:9kB\n"
    )
    listed, _ = from_document(b'[{"rank": 7, "pid": 4242, "state": "exited", "exitcode": -9}]', "exits.json")
    tied = exits.tie(exits.table([*listed, *rows]), found.events)
    assert tied["rank"].to_list() == [7, 7]


def test_one_pid_of_two_ranks_stays_nobodys(tmp_path: Path) -> None:
    rows, found = of_log(
        tmp_path, "[81234.568100] Out of memory: Killed process 4242 (python3) total-vm:9kB\n"
    )
    document = b'[{"rank": 7, "pid": 4242, "host": "a"}, {"rank": 8, "pid": 4242, "host": "b"}]'
    listed, _ = from_document(document, "exits.json")
    assert exits.tie(exits.table([*listed, *rows]), found.events)["rank"].to_list() == [7, 8, None]


def test_exits_of_a_table_row_have_the_rank_and_the_host(tmp_path: Path) -> None:
    text = (
        "Root Cause (first observed failure):\n[0]:\n  time      : 2026-11-20_12:51:21\n  host      : node07\n"
        "  rank      : 1 (local_rank: 1)\n  exitcode  : -9 (pid: 29339)\n  error_file: <N/A>\n"
        "  traceback : Signal 9 (SIGKILL) received by PID 29339\n"
    )
    (row,), _ = of_log(tmp_path, text)
    assert (row.rank, row.host, row.signal, row.kind) == (1, "node07", "SIGKILL", "child_failed")
    assert row.error == "Signal 9 (SIGKILL) received by PID 29339"


TABLE = """[0]:
  time      : 2026-11-20_12:51:21
  host      : node07
  rank      : 11 (local_rank: 3)
  exitcode  : 1 (pid: 29339)
  error_file: /tmp/torchelastic_ab/none_x1y2/attempt_0/3/error.json
  traceback : Traceback (most recent call last):
============================================================
"""


@pytest.mark.parametrize(("run", "rank"), [("none_x1y2", 11), ("none_other", None)])
def test_an_error_file_is_the_ranks_that_the_table_gives_it(
    tmp_path: Path, run: str, rank: int | None
) -> None:
    """The path alone says a local rank, and every host has one of that number."""
    _, found = of_log(tmp_path, TABLE)
    document = json.dumps(
        {"message": {"message": "ValueError: bad", "extraInfo": {"timestamp": "1"}}}
    ).encode()
    rows, _ = from_document(document, f"saved/{run}/attempt_0/3/error.json")
    ended = exits.of_case(rows, found.events, found.logs)
    (own,) = [row for row in ended.iter_rows(named=True) if row["kind"] == "error_file"]
    assert (own["rank"], own["local_rank"]) == (rank, 3)


LOAD = """
import json, sys, tempfile
from pathlib import Path
from rankandfile.evidence.load import load
with tempfile.TemporaryDirectory() as spool:
    case = load([Path(sys.argv[1])], Path(spool), jobs=1)
print(json.dumps([case.exits.height, [note.what for note in case.notes], sorted(
    name for name in sys.modules if name == "rankandfile.evidence.exits.documents" or ".kinds" in name
)]))
"""


@pytest.mark.parametrize(
    ("document", "rows", "note"),
    [
        (b'[{"pid": 1, "rank": 0, "exitcode": -9}]', 1, ""),
        (b'[{"pid": 1, "exitcode": 1}' + b"[" * 200_000, 0, "not JSON"),
        (b'[{"pid": 1, "exitcode": 1}, ' + b"{}," * 6_000_000 + b"{}]", 0, "larger than an exit list can be"),
    ],
    ids=["list", "nested", "endless"],
)
def test_exit_lists_are_decoded_elsewhere(document: bytes, rows: int, note: str, tmp_path: Path) -> None:
    (tmp_path / "exits.json").write_bytes(document)
    done = subprocess.run([sys.executable, "-c", LOAD, str(tmp_path)], capture_output=True, check=True)
    height, notes, read_here = json.loads(done.stdout)
    assert height == rows and not read_here
    assert any(note in one for one in notes) or not note


def test_a_list_that_tells_no_process_ids_is_one_all_the_same() -> None:
    data = b'[{"rank": 0, "exitcode": null, "signal": "SIGABRT", "state": "signalled"}]'
    assert sniff.kind(data, "x.json") == "exit_list"
