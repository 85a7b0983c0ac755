"""From files of stacks to tables: ranks, order in time, and one number for one place."""

from __future__ import annotations

from pathlib import Path

import polars as pl
from support.evidence.stack_reading import read

from rankandfile.evidence.raw import Frame
from rankandfile.evidence.tables.repeated import Repeated, frame_table, stack_table
from rankandfile.evidence.text.stacks.assemble import snapshot_tables
from rankandfile.evidence.text.stacks.ownership import StackPart, give_ranks
from rankandfile.evidence.text.stacks.raw import RawStacks
from rankandfile.model.snapshots import snapshot_schema
from rankandfile.model.tables import empty

PYSPY = """Process {pid}: python train.py
Python v3.11.7 (/usr/bin/python3.11)
{parent}
Thread {pid} (idle): "MainThread"
    step (train.py:{line})
    <module> (train.py:1)
"""
FAULT = """Thread 0x0001 (most recent call first):
  File "/job/src/train.py", line 7 in step
  File "/job/src/train.py", line 1 in <module>
"""


def spied(folder: Path, pid: int, line: int = 7, parent: int | None = None) -> RawStacks:
    words = f"Parent Process {parent}: python\n" if parent else ""
    return read(folder, PYSPY.format(pid=pid, line=line, parent=words))


def tables(parts: list[StackPart], repeated: Repeated | None = None) -> tuple[pl.DataFrame, pl.DataFrame]:
    give_ranks(parts)
    return snapshot_tables(parts, repeated or Repeated())


def test_a_shortened_path_is_the_same_place(tmp_path: Path) -> None:
    repeated = Repeated()
    repeated.frames[Frame("step", "/job/src/train.py", 7)] = 0
    parts = [
        StackPart(read(tmp_path, FAULT), "stacks/faulthandler_rank_0.txt"),
        StackPart(spied(tmp_path, 900), "stacks/pyspy_rank_0.txt"),
    ]
    snapshots, files = tables(parts, repeated)
    assert snapshots.schema == snapshot_schema("snapshots")
    assert files.schema == snapshot_schema("stack_files")
    assert snapshots["stack"].to_list() == [0, 0]
    assert snapshots["rank"].to_list() == [0, 0]
    assert snapshots["rank_from"].to_list() == ["name", "name"]
    frames = frame_table(repeated)
    assert frames["file"].unique().to_list() == ["/job/src/train.py"]
    assert stack_table(repeated)["frames"].to_list() == [[0, 1]]


def test_two_files_of_that_name_stay_apart(tmp_path: Path) -> None:
    other = FAULT.replace("/job/src", "/job/tools")
    parts = [
        StackPart(read(tmp_path, FAULT), "a_rank_0.txt"),
        StackPart(read(tmp_path, other), "a_rank_1.txt"),
        StackPart(spied(tmp_path, 900), "a_rank_2.txt"),
    ]
    snapshots, _ = tables(parts)
    assert snapshots["stack"].n_unique() == 3


def test_order_in_time_is_by_the_name_or_the_file(tmp_path: Path) -> None:
    header = "=== Rank 0: http://vm:1/handler/dump_traceback? ===\n"
    parts = [
        StackPart(read(tmp_path, header + FAULT), "stacks_20261120_173904.txt", 9),
        StackPart(read(tmp_path, header + FAULT), "stacks_20261120_173900.txt", 9),
        StackPart(read(tmp_path, FAULT), "fault_rank_1.txt", 7),
        StackPart(read(tmp_path, FAULT), "later_rank_1.txt", 8),
    ]
    snapshots, _ = tables(parts)
    assert snapshots["ordinal"].to_list() == [1, 0, 0, 1]
    assert snapshots["at_ns"][0] - snapshots["at_ns"][1] == 4_000_000_000
    assert snapshots["host"].to_list() == ["vm", "vm", None, None]


def test_a_process_known_elsewhere_gives_its_rank_to_its_children(tmp_path: Path) -> None:
    known = spied(tmp_path, 900)
    for process in known.processes:
        process.rank, process.rank_from = 4, "content"
    parts = [
        StackPart(known, "one.txt"),
        StackPart(spied(tmp_path, 900), "dump-a.txt"),
        StackPart(spied(tmp_path, 950, parent=900), "dump-b.txt"),
    ]
    snapshots, _ = tables(parts)
    assert snapshots["rank"].to_list() == [4, 4, 4]
    assert snapshots["rank_from"].to_list() == ["content", "process", "parent"]


def test_a_process_number_in_a_name_is_no_rank(tmp_path: Path) -> None:
    parts = [StackPart(spied(tmp_path, pid), f"pyspy_{pid}.txt") for pid in (41, 42, 43)]
    snapshots, _ = tables(parts)
    assert snapshots["rank"].to_list() == [None] * 3


def test_a_file_of_several_programs_is_of_no_rank(tmp_path: Path) -> None:
    text = PYSPY.format(pid=10, line=7, parent="") + PYSPY.format(pid=11, line=7, parent="")
    snapshots, files = tables([StackPart(read(tmp_path, text), "node_rank_3.txt")])
    assert snapshots["rank"].to_list() == [None, None]
    assert files["rank"].to_list() == [None]


def test_nothing() -> None:
    snapshots, files = tables([])
    assert snapshots.equals(empty("snapshots"))
    assert files.equals(empty("stack_files"))
    snapshots, files = tables([StackPart(RawStacks(), "a.txt")])
    assert snapshots.height == 0
    assert files["threads"].to_list() == [0]
