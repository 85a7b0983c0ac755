"""What a rank alone says that it did before the others wait for it: why, and where; and what all say is nobody's."""

# ruff: noqa: E501 - log lines are as long as they are

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import rankandfile
from rankandfile.model.diagnosis import Verdict
from rankandfile.reason.finders.whole_job.odd_in_logs import _said

GAVE_UP = (
    "[rank{rank}]:[E311 04:20:00.1{rank}9371 ProcessGroupNCCL.cpp:629] [Rank {rank}] Watchdog caught collective operation "
    "timeout: WorkNCCL(SeqNum=777, OpType={op}, NumelIn={size}, NumelOut={size}, Timeout(ms)=600000) ran for 600031 "
    "milliseconds before timing out."
)


def best(folder: Path, **files: str) -> Verdict:
    for name, text in files.items():
        (folder / f"{name}.log").write_text(text)
    return rankandfile.diagnose([folder]).verdicts[0]


def named(found: Verdict) -> list[int]:
    return [one.rank for one in (*found.culprits, *found.suspects)]


SAID = [
    ("uneven_inputs", "corpus.py:61 iterator exhausted after 1187 batches"),
    ("uneven_inputs", "corpus.py:61 StopIteration from the packed stream"),
    ("uneven_inputs", "corpus.py:61 no more samples in this split"),
    ("uneven_inputs", "corpus.py:61 end of data reached, 3 batches earlier than planned"),
    ("uneven_inputs", "corpus.py:61 shard 00017.parquet is truncated, using what was read"),
    ("uneven_inputs", "corpus.py:61 ran out of data in epoch 3"),
    ("early_exit", "corpus.py:61 early stopping: metric did not improve for 4 evaluations"),
    ("early_exit", "corpus.py:61 caught SIGTERM, will stop after this step"),
    ("early_exit", "corpus.py:61 preemption notice received, saving and leaving"),
    ("early_exit", "corpus.py:61 max_time reached, ending the run"),
    ("early_exit", "corpus.py:61 breaking out of the training loop at step 412"),
    ("early_exit", "corpus.py:61 target reached: stopping training"),
    ("skipped_collective", "corpus.py:61 WARNING skipping step 411: gradients not usable"),
    ("swallowed_exception", "corpus.py:61 WARNING batch 97 skipped: ValueError('label out of range')"),
]


@pytest.mark.parametrize(("cause", "words"), SAID)
def test_logs_of_programs_alone(tmp_path: Path, cause: str, words: str) -> None:
    """Each rank has its own log; the others go on to a step that never ends."""
    logs = {}
    for rank in range(4):
        lines = [f"2026-03-01 10:0{n}:00 [rank {rank}] INFO loop.py:88 step {400 + n} done" for n in range(8)]
        if rank == 2:
            lines += [f"2026-03-01 10:08:01 [rank {rank}] INFO {words}"]
            lines += [f"2026-03-01 10:08:02 [rank {rank}] INFO loop.py:140 writing summary"]
        else:
            lines += [f"2026-03-01 10:08:00 [rank {rank}] INFO loop.py:71 step 408 forward"]
        logs[f"worker{rank}"] = "\n".join(lines) + "\n"
    found = best(tmp_path, **logs)
    assert (found.cause, named(found)) == (cause, [2])
    assert found.location is not None and (found.location.file, found.location.line) == ("corpus.py", 61)
    assert not found.culprits, "its words alone prove nothing"


@pytest.mark.parametrize(("cause", "words"), SAID)
def test_what_all_say_tells_of_nobody(tmp_path: Path, cause: str, words: str) -> None:
    logs = {
        f"worker{rank}": "".join(f"[rank {rank}] INFO step {n} done\n" for n in range(8))
        + f"[rank {rank}] INFO {words}\n"
        for rank in range(4)
    }
    found = best(tmp_path, **logs)
    assert not named(found) and found.hang is not True


def test_rank_0_speaks_for_all(tmp_path: Path) -> None:
    """It alone tells that training is over, as programs do."""
    text = "".join(f"[rank {rank}] loaded 40 shards\n" for rank in range(4))
    text += (
        "".join(f"[rank 0] step {n} loss 0.5\n" for n in range(9)) + "[rank 0] training finished, saving\n"
    )
    assert not named(best(tmp_path, job=text))


Wrap = Callable[[int, str, tuple[str, int]], dict[str, Any]]
WRAPPED: dict[str, Wrap] = {
    "structlog": lambda rank, words, place: {
        "event": words,
        "level": "info",
        "rank": rank,
        "timestamp": "2026-03-01T10:08:01Z",
        "filename": place[0],
        "lineno": place[1],
    },
    "zap": lambda rank, words, place: {
        "level": "info",
        "ts": "2026-03-01T10:08:01Z",
        "caller": f"{place[0]}:{place[1]}",
        "msg": words,
        "rank": rank,
    },
    "json-logger": lambda rank, words, place: {
        "message": words,
        "levelname": "INFO",
        "asctime": "2026-03-01 10:08:01",
        "pathname": place[0],
        "lineno": place[1],
        "rank": rank,
    },
    "google": lambda rank, words, place: {
        "severity": "INFO",
        "timestamp": "2026-03-01T10:08:01Z",
        "resource": {"labels": {"pod_name": f"fit-{rank}"}},
        "jsonPayload": {"message": words, "rank": rank, "src": f"{place[0]}:{place[1]}"},
    },
}


@pytest.mark.parametrize("kind", WRAPPED)
def test_programs_that_log_json(tmp_path: Path, kind: str) -> None:
    wrap, lines = WRAPPED[kind], []
    for n in range(6):
        lines += [
            wrap(rank, "step", ("fit/loop.py", 88)) | ({"step": n} if kind != "google" else {})
            for rank in range(5)
        ]
    lines += [
        wrap(3, "got signal, leaving the loop", ("fit/loop.py", 131)),
        wrap(3, "goodbye", ("fit/main.py", 20)),
    ]
    lines += [wrap(rank, "no step for 300 s", ("fit/guard.py", 9)) for rank in (0, 1, 2, 4)]
    found = best(tmp_path, job="\n".join(map(json.dumps, lines)) + "\n")
    assert (found.cause, named(found)) == ("early_exit", [3])
    assert found.location is not None and (found.location.file, found.location.line) == ("fit/loop.py", 131)


@pytest.mark.parametrize(
    ("cause", "words"),
    [
        ("uneven_inputs", "sampler: no more batches, 3 fewer than announced"),
        ("early_exit", "time limit reached, leaving the loop"),
        ("swallowed_exception", "WARNING: error in batch 12 ignored: RuntimeError: bad image"),
    ],
)
@pytest.mark.parametrize(
    "label",
    [
        "{rank}: ",
        "[1,{rank}]<stdout>:",
        "Tue Mar  3 04:10:00 2026[1,{rank}]<stderr>:",
        "[job-7@1,{rank}]<stdout>: ",
    ],
)
def test_beside_watchdogs(tmp_path: Path, label: str, cause: str, words: str) -> None:
    """That a rank asked for another size shows that it is out of step; why, it said itself, under its launcher's label."""
    text = "".join(f"{label.format(rank=rank)}[rank{rank}]: step 30 done\n" for rank in range(4))
    text += f"{label.format(rank=1)}{words}\n"
    for rank in range(4):
        op, size = ("ALLREDUCE", 1) if rank == 1 else ("ALLREDUCE", 4_194_304)
        text += label.format(rank=rank) + GAVE_UP.format(rank=rank, op=op, size=size) + "\n"
    found = best(tmp_path, job=text)
    assert (found.cause, named(found)) == (cause, [1])
    assert words[:30] in found.sentence


def test_a_label_that_counts_nodes_is_no_rank(tmp_path: Path) -> None:
    """One launcher on each node, which starts two ranks there."""
    text = (
        "".join(f"{rank // 2}: [rank{rank}]: step 30 done\n" for rank in range(4))
        + "1: loader exhausted after 9 batches\n"
    )
    text += "".join(
        f"{rank // 2}: " + GAVE_UP.format(rank=rank, op="ALLREDUCE", size=1 if rank == 3 else 4096) + "\n"
        for rank in range(4)
    )
    found = best(tmp_path, job=text)
    assert found.cause != "uneven_inputs" and named(found) == [3]


def test_a_log_in_which_one_rank_speaks_is_its_own(tmp_path: Path) -> None:
    """No name of a file tells a rank; the exception names none either."""
    logs = {
        name: "".join(f"{n} (rank {rank}) INFO step {n} done\n" for n in range(5))
        for rank, name in enumerate(("ant", "bee", "cat", "dog"))
    }
    logs["cat"] += (
        'Traceback (most recent call last):\n  File "/app/fit.py", line 88, in <module>\n    main()\n'
        "  File \"/app/fit.py\", line 61, in main\n    x = cfg['bucket']\nKeyError: 'bucket'\n"
    )
    found = best(tmp_path, **logs)
    assert (found.cause, named(found)) == ("raised", [2])


def rounds(rank: int, leaders: list[int]) -> str:
    """What a rank writes of each round: whom it follows, and its own score."""
    lines = (f"round {n}: score 0.{rank}{n}7, follows {leader}" for n, leader in enumerate(leaders))
    return "".join(f"[rank {rank}] INFO {line}\n" for line in lines)


def of_leaders(folder: Path, *leaders: list[int]) -> Verdict:
    return best(folder, **{f"worker{rank}": rounds(rank, own) for rank, own in enumerate(leaders)})


def test_a_number_that_all_had_alike_until_one_has_another(tmp_path: Path) -> None:
    usual = [0, 0, 3, 1]
    found = of_leaders(tmp_path, usual, usual, [0, 0, 3, 2], usual)
    assert 'rank 2 wrote "INFO round 3: score 0.237, follows 2", where 3 others wrote' in found.sentence
    assert 'in the 3 such lines before, all ranks wrote the same in the place of "2"' in found.sentence
    assert not found.culprits, "its words alone prove nothing"


def test_what_each_says_of_itself_need_not_be_alike(tmp_path: Path) -> None:
    logs = {}
    for rank in range(4):
        took = (2, 2, 3 if rank == 3 else 2)
        logs[f"worker{rank}"] = "".join(
            f"[rank {rank}] INFO batch {n} took {s} seconds\n" for n, s in enumerate(took)
        )
    assert "such lines before" not in best(tmp_path, **logs).sentence


@pytest.mark.parametrize(
    "leaders",
    [
        pytest.param(([0, 1], [0, 1], [0, 2], [0, 1]), id="one line before is not enough"),
        pytest.param(([0, 0, 1], [0, 2, 1], [0, 0, 2], [0, 0, 1]), id="they differed before"),
        pytest.param(([0, 0, 1], [0, 0, 1], [0, 0, 2, 2], [0, 0, 1]), id="one has another round behind it"),
        pytest.param(([0, 0, 1], [0, 0, 1], [0, 0, 2], [0, 0, 2]), id="as many as the others"),
        pytest.param(([0, 0, 1], [0, 0, 1], [0, 0, 1], [0, 0, 1]), id="alike"),
        pytest.param(
            ([0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 0], [0, 0, 0, 1]), id="its log ends a line earlier"
        ),
    ],
)
def test_a_number_that_need_not_be_alike(tmp_path: Path, leaders: tuple[list[int], ...]) -> None:
    assert "such lines before" not in of_leaders(tmp_path, *leaders).sentence


@pytest.mark.parametrize(("tokens", "uneven"), [(1187, True), (180_000, False)])
def test_who_reads_more_than_the_others_does_not_run_out_first(
    tmp_path: Path, tokens: int, uneven: bool
) -> None:
    files = {
        f"rank_{rank}": f"shard open, {tokens if rank == 3 else 1200} tokens\n"
        + GAVE_UP.format(rank=rank, op="ALLREDUCE", size=1 if rank == 3 else 4096)
        + "\n"
        for rank in range(4)
    }
    found = best(tmp_path, **files)
    assert named(found) == [3]
    assert (found.cause == "uneven_inputs") is uneven


@pytest.mark.parametrize(
    ("own", "usual", "uneven"),
    [
        ("loaded 1187 shards", "loaded 1200 shards", True),
        ("reading the partition of 2024-03-29", "reading the partition of 2024-05-02", False),
        ("read shards from 10:03:11 on", "read shards from 10:05:11 on", False),
        ("opened data/part-3/rows", "opened data/part-7/rows", False),
    ],
)
def test_a_part_of_a_date_a_time_or_a_path_is_no_smaller_count(
    tmp_path: Path, own: str, usual: str, uneven: bool
) -> None:
    files = {
        f"rank_{rank}": f"{own if rank == 3 else usual}\n"
        + GAVE_UP.format(rank=rank, op="ALLREDUCE", size=1 if rank == 3 else 4096)
        + "\n"
        for rank in range(4)
    }
    found = best(tmp_path, **files)
    assert named(found) == [3]
    assert (found.cause == "uneven_inputs") is uneven


def test_a_stop_that_the_line_itself_denies_is_none() -> None:
    row = {"kind": "line_alone", "rank": 1, "log": 1, "line": 2, "fields": '{"others": 3}'}
    for text, cause in (("{'score': 66.1, 'stop': False}", "undetermined"), ("stop=True", "early_exit")):
        assert _said({**row, "text": f"review {text}"}).cause == cause
