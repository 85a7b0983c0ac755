"""`teardown_only`: the job had ended well, and hung in its teardown."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.reason import no_dumps
from support.reason.building import case_of
from support.reason.data_parallel import world
from support.reason.witnesses import LEAVING, Frame, Witnesses, best, blamed

import rankandfile


def test_teardown_after_success_is_no_hang_of_the_job() -> None:
    witnesses = no_dumps.nothing(3).exit(0, "running").stack(0, LEAVING).exit(1, 0).exit(2, 0)
    verdict = best(witnesses)
    assert (verdict.cause, blamed(verdict)) == ("teardown_only", [0])
    assert verdict.victims == ""


def test_what_it_put_into_a_queue_is_not_read() -> None:
    flushing: list[Frame] = [
        ("join", "/usr/lib/python3.11/threading.py", 1119),
        ("_finalize_join", "/usr/lib/python3.11/multiprocessing/queues.py", 199),
        ("_run_finalizers", "/usr/lib/python3.11/multiprocessing/util.py", 300),
        ("_exit_function", "/usr/lib/python3.11/multiprocessing/util.py", 360),
    ]
    witnesses = no_dumps.nothing(2).exit(0, "running").stack(0, flushing).exit(1, 0)
    verdict = best(witnesses)
    assert (verdict.cause, blamed(verdict)) == ("teardown_only", [0])
    assert "put into a queue" in verdict.sentence and "child processes" not in verdict.sentence


def test_teardown_by_the_last_words() -> None:
    witnesses = no_dumps.nothing(3).exit(0, "SIGTERM").exit(1, 0).exit(2, 0)
    for rank in range(3):
        witnesses.log(rank, rank, last_line=f"12:00:0{rank} training complete")
    assert best(witnesses).cause == "teardown_only"


def test_a_rank_in_the_middle_of_its_work_is_not_in_its_teardown() -> None:
    witnesses = no_dumps.nothing(3).exit(0, "SIGTERM").exit(1, 0).exit(2, 0)
    for rank, line in enumerate(("step 12 loss 0.3", "training complete", "training complete")):
        witnesses.log(rank, rank, last_line=line)
    assert best(witnesses).cause != "teardown_only"


WRITER = """
import queue


class Writer:
    def __init__(self):
        self.jobs = queue.Queue()

    def drain(self):
        while True:
            job = {get}
            job.save()
"""


@pytest.mark.parametrize(
    ("get", "cause", "named"),
    [
        ("self.jobs.get()", "teardown_only", [0]),
        ("self.jobs.get(timeout=30)", "teardown_only", []),  # it may end yet
    ],
)
def test_a_thread_that_waits_without_a_limit_keeps_its_process_for_ever(
    tmp_path: Path, get: str, cause: str, named: list[int]
) -> None:
    source, stacks = tmp_path / "src", tmp_path / "stacks"
    for folder in (source, stacks):
        folder.mkdir()
    (source / "writer.py").write_text(WRITER.replace("{get}", get))
    (stacks / "faulthandler_rank_0.txt").write_text(
        "Thread 0x00007f7ccaffd6c0 (most recent call first):\n"
        '  File "/usr/lib/python3.11/threading.py", line 320 in wait\n'
        '  File "/usr/lib/python3.11/queue.py", line 171 in get\n'
        f'  File "{source}/writer.py", line 11 in drain\n'
        '  File "/usr/lib/python3.11/threading.py", line 982 in run\n'
        '  File "/usr/lib/python3.11/threading.py", line 1045 in _bootstrap_inner\n'
        '  File "/usr/lib/python3.11/threading.py", line 1002 in _bootstrap\n\n'
        "Current thread 0x00007f7cf39f0b80 (most recent call first):\n"
        '  File "/usr/lib/python3.11/threading.py", line 1590 in _shutdown\n'
    )
    verdict = rankandfile.diagnose([stacks], src=[source]).verdicts[0]
    assert (verdict.cause, blamed(verdict)) == (cause, named)
    assert bool(verdict.hang) is bool(named)


WAITS_FOR_A_CHILD: list[Frame] = [
    ("wait", "/usr/lib/python3.11/subprocess.py", 1264),
    ("close", "/workspace/shipper.py", 32),
]
COMPUTES: list[Frame] = [("score", "/workspace/scores.py", 12)]


@pytest.mark.parametrize(
    ("stands", "waited_s", "cause"),
    [
        (WAITS_FOR_A_CHILD, 700.0, "teardown_only"),
        (WAITS_FOR_A_CHILD, 0.5, "no_hang"),  # the look came too soon to tell
        (COMPUTES, 700.0, "no_hang"),  # what may be work of its own
    ],
)
def test_who_waits_for_its_own_child_long_after_all_others_ended_does_not_end(
    stands: list[Frame], waited_s: float, cause: str
) -> None:
    witnesses = Witnesses(case_of(world(2, {}), lost=(1,), waited_s=waited_s))
    verdict = best(witnesses.exit(0, "running").exit(1, 0).stack(0, stands))
    assert (verdict.cause, blamed(verdict)) == (cause, [0] if cause == "teardown_only" else [])
    assert ("done the work too" in verdict.sentence) is False
