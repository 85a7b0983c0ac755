"""Which thread tells, frozen or moving, and all ranks as one tree."""

from __future__ import annotations

import time
from pathlib import Path

import polars as pl
import pytest
from support.reason.stuck import Tables, tables

from rankandfile.model.snapshots import SNAPSHOTS, snapshot_schema
from rankandfile.model.tables import schema
from rankandfile.reason.ranks.merged_stacks import merge
from rankandfile.reason.ranks.motion import motions
from rankandfile.reason.ranks.threads import last_of_each_rank, telling

SITE = "/venv/lib/python3.11/site-packages/torch/"
REDUCE = [f'  File "{SITE}distributed/distributed_c10d.py", line 3252 in all_reduce']
BACKWARD = [f'  File "{SITE}autograd/graph.py", line 979 in _engine_run_backward']
OUTER = ['  File "/job/train.py", line 17 in train', '  File "/job/train.py", line 22 in <module>']
LOADER = [
    '  File "/usr/lib/python3.11/multiprocessing/queues.py", line 113 in get',
    f'  File "{SITE}utils/data/dataloader.py", line 1291 in _try_get_data',
    f'  File "{SITE}utils/data/dataloader.py", line 725 in __next__',
]


def thread(*frames: str, ident: int = 1) -> str:
    return "\n".join([f"Thread 0x{ident:08x} (most recent call first):", *frames, "", ""])


def step(line: int) -> str:
    return f'  File "/job/train.py", line {line} in step'


def ranks(folder: Path, **texts: str) -> Tables:
    files = []
    for name, text in texts.items():
        file = folder / f"{name}.txt"
        file.write_text(text)
        files.append(file)
    return tables(*files)


def test_cohorts_in_words(tmp_path: Path) -> None:
    texts = {f"rank_{rank}": thread(*REDUCE, step(9), *OUTER) for rank in range(7)}
    found = ranks(tmp_path, **texts, rank_7=thread(*LOADER, step(8), *OUTER))
    merged = merge(last_of_each_rank(telling(*_three(found))), found.stacks, found.frames)
    assert str(merged) == (
        "0-6 in all_reduce ← step, train.py:9 ← train; 7 in queue.get ← next(loader), train.py:8 ← train"
    )
    assert [cohort.ranks for cohort in merged.cohorts] == [tuple(range(7)), (7,)]
    assert [(depth, ranks, place.function) for depth, ranks, place in merged.lines()][:5] == [
        (0, "0-7", "<module>"),
        (1, "0-7", "train"),
        (2, "0-6", "step"),
        (3, "0-6", "all_reduce"),
        (2, "7", "step"),
    ]


def test_tools_that_name_frames_differently_agree(tmp_path: Path) -> None:
    spied = """Process 4242: python train.py
Python v3.11.7 (/usr/bin/python3.11)

Thread 4242 (idle): "MainThread"
    syscall (libc.so.6)
    all_reduce (torch/distributed/distributed_c10d.py:3252)
    Trainer.step (train.py:9)
    train (train.py:17)
    <module> (train.py:22)
"""
    found = ranks(tmp_path, rank_0=spied, rank_1=thread(*REDUCE, step(9), *OUTER))
    merged = merge(last_of_each_rank(telling(*_three(found))), found.stacks, found.frames)
    assert [cohort.ranks for cohort in merged.cohorts] == [(0, 1)]


def test_the_autograd_thread_tells_where_the_main_thread_waits_for_it(tmp_path: Path) -> None:
    hook = thread(
        '  File "/job/hooks.py", line 3 in hook',
        f'  File "{SITE}autograd/function.py", line 9 in apply',
        ident=2,
    )
    waits = thread(*BACKWARD, step(9), *OUTER)
    works = thread(step(9), *OUTER)
    found = ranks(tmp_path, rank_0=hook + waits, rank_1=hook + works)
    rows = telling(*_three(found)).sort("rank")
    assert rows["role"].to_list() == ["autograd", "main"]


def test_neither_exceptions_nor_calls_tell_where_a_process_is(tmp_path: Path) -> None:
    text = 'Traceback (most recent call last):\n  File "/job/a.py", line 3, in <module>\n    f()\nValueError: x\n'
    found = ranks(tmp_path, rank_0=text)
    assert found.snapshots.height == 1
    assert telling(*_three(found)).height == 0


@pytest.mark.parametrize(
    ("first", "second", "kind", "under"),
    [
        ([*REDUCE, step(9)], [*REDUCE, step(9)], "frozen", "all_reduce, distributed_c10d.py:3252"),
        ([*REDUCE, step(9)], [*LOADER, step(8)], "moving", "train, train.py:17"),
        ([step(9)], [step(10)], "moving", "train, train.py:17"),
        # It polls: other lines of the library, the same wait of the program.
        ([*LOADER, step(8)], [*LOADER[1:], step(8)], "frozen", "_try_get_data, dataloader.py:1291"),
    ],
)
def test_motion(tmp_path: Path, first: list[str], second: list[str], kind: str, under: str) -> None:
    found = ranks(tmp_path, rank_0=thread(*first, *OUTER) + thread(*second, *OUTER), rank_1=thread(*OUTER))
    (motion,) = motions(telling(*_three(found)), found.stacks, found.frames)
    assert (motion.rank, motion.kind, motion.under, motion.snapshots) == (0, kind, under, 2)


def test_nothing() -> None:
    empty = pl.DataFrame(schema=snapshot_schema("snapshots"))
    stacks, frames = pl.DataFrame(schema=schema("stacks")), pl.DataFrame(schema=schema("frames"))
    rows = telling(empty, stacks, frames)
    assert rows.height == 0
    assert merge(rows, stacks, frames).cohorts == ()
    assert motions(rows, stacks, frames) == []


def test_sixteen_thousand_ranks_cost_their_cohorts(tmp_path: Path) -> None:
    two = ranks(tmp_path, rank_0=thread(*REDUCE, step(9), *OUTER), rank_1=thread(*LOADER, step(8), *OUTER))
    main = two.snapshots.sort("rank")
    many = pl.concat([main[:1]] * 16_383 + [main[1:]]).with_columns(
        pl.int_range(16_384, dtype=pl.Int32).alias("rank"),
        pl.int_range(16_384, dtype=pl.UInt32).alias("file"),
    )
    began = time.process_time()
    rows = last_of_each_rank(telling(many, two.stacks, two.frames))
    merged = merge(rows, two.stacks, two.frames)
    assert time.process_time() - began < 5
    assert [len(cohort.ranks) for cohort in merged.cohorts] == [16_383, 1]
    assert merged.roots[0].label == "0-16383"


def test_the_columns_are_documented() -> None:
    assert all(column.meaning and column.meaning == column.meaning.strip() for column in SNAPSHOTS)


def _three(found: Tables) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    return found.snapshots, found.stacks, found.frames
