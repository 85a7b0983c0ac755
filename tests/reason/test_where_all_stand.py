"""Nothing was recorded, and somebody took stacks: who waits, who is out of line, and when nobody may be named."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from msgspec.structs import replace
from support.reason.building import Call, Job, Step, Stop, case_of
from support.reason.witnesses import IN_BARRIER as IN_BARRIER_OF_ALL
from support.reason.witnesses import Witnesses
from support.reason.witnesses import best as best_of

from rankandfile import diagnose
from rankandfile.model.diagnosis import Diagnosis, Verdict
from rankandfile.model.ranks import parse_ranks
from rankandfile.pipeline import Options
from rankandfile.pipeline import diagnose as conclude

C10D = "torch/distributed/distributed_c10d.py"
STEP = "    train_step (train.py:14)\n    main (train.py:22)\n    <module> (train.py:32)\n"
IN_SUM = f"    all_reduce ({C10D}:3252)\n" + STEP
IN_BARRIER = (
    f"    barrier ({C10D}:5356)\n    finish (train.py:29)\n    main (train.py:25)\n"
    "    <module> (train.py:32)\n"
)
FOR_THE_DEVICE = IN_BARRIER.replace("barrier", "synchronize").replace(C10D, "torch/cuda/__init__.py")
IN_LOCK = "    update (train.py:9)\n    main (train.py:21)\n    <module> (train.py:32)\n"
IN_GROUP = (
    f"    new_group ({C10D}:5900)\n    evaluate (train.py:60)\n    main (train.py:24)\n"
    "    <module> (train.py:32)\n"
)
AT_ROOT = f"    broadcast ({C10D}:3151)\n    resume (train.py:4)\n    main (train.py:28)\n    <module> (train.py:32)\n"
COUNTS = "    crunch (train.py:6)\n    main (train.py:29)\n    <module> (train.py:32)\n"
PROGRAM = """
import torch.distributed as dist


def update(metrics, lock):



    lock.acquire()
    metrics["n"] = 1


def train_step(t):
    dist.all_reduce(t)


def main(lock):
    dist.init_process_group("gloo")
    patience = 0
    for step in range(100):
        update({}, lock)
        train_step(step)
        if step > patience and dist.get_rank() == 2:
            break
    finish()


def finish():
    dist.barrier()


main(None)
"""


def taken(path: Path, look: int, apart_s: int = 10) -> None:
    """The file was written then."""
    os.utime(path, (1_700_000_000 + look * apart_s,) * 2)


def dumped(
    folder: Path, stacks: dict[int, str], *, looks: int = 2, state: str = "idle", apart_s: int = 10
) -> Path:
    """What `py-spy dump` prints of each rank, as often as somebody looked."""
    for rank, stack in stacks.items():
        for look in range(looks):
            told = f"Process {100 + rank}: python train.py\nPython v3.11.7 (/usr/bin/python3.11)\n\n"
            told += f'Thread {100 + rank} ({state if stack == COUNTS else "idle"}): "MainThread"\n{stack}'
            (folder / f"stack_rank{rank}_{look}.txt").write_text(told)
            taken(folder / f"stack_rank{rank}_{look}.txt", look, apart_s)
    return folder


def best(diagnosis: Diagnosis) -> Verdict:
    return diagnosis.verdicts[0]


def named(verdict: Verdict) -> tuple[list[int], list[int]]:
    return [one.rank for one in verdict.culprits], [one.rank for one in verdict.suspects]


@pytest.mark.parametrize("apart_s", [1, 10])
def test_the_odd_one_out_of_equals_is_named_where_nothing_tells_of_groups(
    tmp_path: Path, apart_s: int
) -> None:
    """Of looks that are a second apart, too: in different calls, with nobody at work, no wait can end."""
    stacks = {0: IN_SUM, 1: IN_SUM, 2: IN_BARRIER, 3: IN_SUM}
    verdict = best(diagnose(dumped(tmp_path, stacks, apart_s=apart_s)))
    assert (verdict.hang, verdict.confidence, named(verdict)) == (True, "supported", ([2], []))
    assert "if the job hung" not in verdict.sentence
    assert verdict.divergence is not None
    assert [cohort.ranks for cohort in verdict.divergence.cohorts] == ["0,1,3", "2"]


@pytest.mark.parametrize(
    ("stacks", "looks", "suspects"),
    [
        # Somebody looked but once: at one rank after the other, and they may have been on their way.
        ({0: IN_SUM, 1: IN_SUM, 2: IN_BARRIER, 3: IN_SUM}, 1, [2]),
        # Names on the way tell of groups, in one of which it may have been left alone.
        (
            {0: IN_SUM, 1: IN_SUM, 2: IN_BARRIER.replace("finish (train", "finish (moe/train"), 3: IN_SUM},
            2,
            [2],
        ),
        # One gives what the others get, and is past that.
        ({0: IN_SUM, 1: AT_ROOT, 2: AT_ROOT, 3: AT_ROOT}, 2, [0]),
        # Two of five are no few.
        ({0: IN_SUM, 1: IN_SUM, 2: IN_BARRIER, 3: IN_SUM, 4: IN_BARRIER}, 2, [2, 4]),
    ],
)
def test_the_odd_one_out_is_a_suspect_where_that_may_be_usual(
    stacks: dict[int, str], looks: int, suspects: list[int], tmp_path: Path
) -> None:
    verdict = best(diagnose(dumped(tmp_path, stacks, looks=looks)))
    assert (verdict.confidence, named(verdict)) == ("hypothesis", ([], suspects))


@pytest.mark.parametrize("at_work", [IN_LOCK, COUNTS])
def test_nobody_is_the_odd_one_out_while_somebody_does_not_wait(tmp_path: Path, at_work: str) -> None:
    stacks = {0: IN_SUM, 1: IN_SUM, 2: IN_BARRIER, 3: IN_SUM, 4: at_work}
    verdict = best(diagnose(dumped(tmp_path, stacks, apart_s=1, state="active+gil")))
    assert 2 not in named(verdict)[0]


@pytest.mark.parametrize(
    ("stacks", "apart_s", "proved"),
    [
        # In two calls, and nobody is left: neither ends.
        ({0: IN_SUM, 1: IN_BARRIER}, 1, True),
        # The same moment, as two tools see it.
        ({0: IN_SUM, 1: IN_BARRIER}, 0, False),
        # In one call, which may be about to end.
        ({0: IN_SUM, 1: IN_SUM}, 1, False),
        # A setup takes its time.
        ({0: IN_SUM.replace("all_reduce", "init_process_group"), 1: IN_SUM}, 1, False),
        # A device may be at work for it.
        (
            {
                0: IN_SUM,
                1: IN_BARRIER.replace("barrier", "synchronize").replace(C10D, "torch/cuda/__init__.py"),
            },
            1,
            False,
        ),
        # One is at work.
        ({0: IN_SUM, 1: IN_BARRIER, 2: COUNTS}, 1, False),
    ],
)
def test_where_nobody_is_left_who_does_not_wait_the_job_stands_still(
    stacks: dict[int, str], apart_s: int, proved: bool, tmp_path: Path
) -> None:
    verdict = best(diagnose(dumped(tmp_path, stacks, apart_s=apart_s, state="active+gil")))
    assert ("nobody is left who does not wait" in verdict.sentence) is proved
    assert (verdict.hang is True) is proved


def test_the_source_says_that_there_is_one_group_and_which_condition_leads_there(tmp_path: Path) -> None:
    src = tmp_path / "src"
    src.mkdir()
    (src / "train.py").write_text(PROGRAM)
    stacks = dumped(tmp_path, {0: IN_SUM, 1: IN_SUM, 2: IN_BARRIER, 3: IN_SUM})
    verdict = best(diagnose(stacks, src=src))
    assert named(verdict) == ([2], [])
    assert verdict.confidence == "supported"
    assert verdict.location is not None
    assert verdict.location.line == PROGRAM.splitlines().index("            break")


def test_a_lock_shows_in_the_text_of_its_line_alone(tmp_path: Path) -> None:
    src = tmp_path / "src"
    src.mkdir()
    (src / "train.py").write_text(PROGRAM)
    stacks = dumped(tmp_path, {0: IN_SUM, 1: IN_LOCK})
    assert named(best(diagnose(stacks))) == ([], [1])
    verdict = best(diagnose(stacks, src=src))
    assert (verdict.cause, named(verdict)) == ("host_blocked", ([1], []))
    assert "lock" in (verdict.culprits[0].doing or "")


@pytest.mark.parametrize(
    ("others", "cause"), [("init_process_group", "init_stuck"), ("all_reduce", "host_blocked")]
)
def test_who_is_held_up_before_the_setup_holds_up_the_setup(tmp_path: Path, others: str, cause: str) -> None:
    src = tmp_path / "src"
    src.mkdir()
    (src / "train.py").write_text(PROGRAM)
    wait = IN_SUM.replace("all_reduce", others)
    verdict = best(diagnose(dumped(tmp_path, {0: wait, 1: IN_LOCK, 2: wait}), src=src))
    assert (verdict.cause, named(verdict)) == (cause, ([1], []))


SLEEPS = "    pysleep (timemodule.c:2116)\n" + IN_LOCK


@pytest.mark.parametrize("held", [SLEEPS, IN_LOCK], ids=["sleeps", "in C, perhaps"])
@pytest.mark.parametrize("unseen", [True, False])
def test_who_may_sleep_for_one_that_nobody_saw_is_suspected(tmp_path: Path, held: str, unseen: bool) -> None:
    stacks = {0: held, 1: IN_SUM, 2: IN_SUM, 3: IN_SUM}
    if unseen:
        del stacks[2]
    verdict = best(diagnose(dumped(tmp_path, stacks), hung=True))
    assert named(verdict) == (([], [0]) if unseen else ([0], [])), verdict.sentence


def test_making_a_group_takes_every_rank(tmp_path: Path) -> None:
    verdict = best(diagnose(dumped(tmp_path, {0: IN_GROUP, 1: IN_SUM, 2: IN_SUM})))
    assert (verdict.cause, named(verdict)) == ("group_mismatch", ([0], []))


def test_who_waits_as_a_root_may_wait_for_one_that_went_on_with_the_others(tmp_path: Path) -> None:
    assert named(best(diagnose(dumped(tmp_path, {0: AT_ROOT, 1: IN_SUM, 2: IN_SUM})))) == ([], [])


@pytest.mark.parametrize("looks", [1, 2])
def test_a_job_at_work_blames_nobody_and_says_who_is_waited_for(tmp_path: Path, looks: int) -> None:
    stacks = {0: IN_SUM, 1: COUNTS, 2: IN_SUM}
    dumped(tmp_path, stacks, looks=looks, state="active+gil")
    if looks == 2:
        later = tmp_path / "stack_rank1_1.txt"
        later.write_text(later.read_text().replace("train.py:6", "train.py:7"))
    verdict = best(diagnose(tmp_path))
    assert named(verdict) == ([], [1])
    assert (verdict.cause, verdict.hang) == ("undetermined" if looks == 1 else "host_slow", None)
    assert verdict.location is not None
    assert verdict.location.line == 5 + looks


def test_one_look_is_never_more_than_a_suspicion(tmp_path: Path) -> None:
    stacks = dumped(tmp_path, {0: IN_GROUP, 1: IN_SUM, 2: IN_SUM}, looks=1)
    assert named(best(diagnose(stacks))) == ([], [0])
    assert named(best(diagnose(stacks, hung=True))) == ([0], [])


@pytest.mark.parametrize(("apart_s", "who"), [(0, ([], [0])), (1, ([], [0])), (10, ([0], []))])
def test_looks_within_a_moment_of_each_other_prove_no_standstill(
    tmp_path: Path, apart_s: int, who: tuple[list[int], list[int]]
) -> None:
    stacks = dumped(tmp_path, {0: IN_GROUP, 1: IN_SUM, 2: IN_SUM}, looks=3, apart_s=apart_s)
    verdict = best(diagnose(stacks))
    assert named(verdict) == who
    assert ("over 20 s" in verdict.sentence) == bool(who[0])
    assert ("this holds if the job hung" in verdict.sentence) == (not who[0])
    assert named(best(diagnose(stacks, hung=True))) == ([0], [])


@pytest.mark.parametrize(("apart_s", "who"), [(3, ([], [0])), (10, ([0], []))])
def test_whoever_writes_a_checkpoint_may_be_done_in_a_moment(
    tmp_path: Path, apart_s: int, who: tuple[list[int], list[int]]
) -> None:
    saves = (
        "    save (torch/serialization.py:900)\n    write_checkpoint (train.py:40)\n    main (train.py:50)\n"
    )
    stacks = dumped(tmp_path, {0: saves, 1: IN_SUM, 2: IN_SUM}, looks=3, apart_s=apart_s)
    verdict = best(diagnose(stacks))
    assert named(verdict) == who
    assert ("this holds if the job hung" in verdict.sentence) == (not who[0])


def test_a_watchdog_is_a_proof_where_the_looks_are_none(tmp_path: Path) -> None:
    dumped(
        tmp_path,
        {0: IN_LOCK.replace("update (train.py:9)", "acquire (filelock/_api.py:9)"), 1: IN_SUM},
        apart_s=0,
    )
    assert named(best(diagnose(tmp_path))) == ([], [0])
    (tmp_path / "rank_1.log").write_text(
        "[rank1]:[E1121 10:00:00.000000000 ProcessGroupNCCL.cpp:632] [Rank 1] Watchdog caught collective operation "
        "timeout: WorkNCCL(SeqNum=7, OpType=ALLREDUCE, NumelIn=64, NumelOut=64, Timeout(ms)=600000) ran for 600012 "
        "milliseconds before timing out.\n"
    )
    assert named(best(diagnose(tmp_path))) == ([0], [])


def test_two_and_two_accuse_nobody_and_say_where_each_stands(tmp_path: Path) -> None:
    diagnosis = diagnose(dumped(tmp_path, {0: IN_SUM, 1: IN_SUM, 2: IN_BARRIER, 3: IN_BARRIER}))
    assert named(best(diagnosis)) == ([], [])
    assert best(diagnosis).hang
    assert {one.ranks: one.state for one in diagnosis.standings} == {"0,1": "waits", "2,3": "waits"}
    assert "not a single recorded call" not in best(diagnosis).sentence


def test_ranks_in_one_wrapper_are_told_apart_by_who_called_it(tmp_path: Path) -> None:
    wrapped = f"    all_reduce ({C10D}:3252)\n    summed (wire.py:9)\n"
    forward = wrapped + "    forward (stage.py:30)\n    main (train.py:22)\n"
    backward = wrapped + "    backward (stage.py:47)\n    main (train.py:23)\n"
    verdict = best(diagnose(dumped(tmp_path, {0: backward, 1: backward, 2: forward, 3: forward})))
    assert named(verdict) == ([], [])
    assert re.search(
        r"[Rr]anks 0 and 1 \S+ in .*wire.py:9, called in backward, stage.py:47", verdict.sentence
    )
    assert re.search(r"[Rr]anks 2 and 3 \S+ in .*wire.py:9, called in forward, stage.py:30", verdict.sentence)


def test_ranks_that_were_called_from_one_place_are_not_told_apart(tmp_path: Path) -> None:
    verdict = best(diagnose(dumped(tmp_path, dict.fromkeys(range(4), IN_SUM))))
    assert "called in" not in verdict.sentence


def test_the_thread_that_trains_is_known_by_what_it_does(tmp_path: Path) -> None:
    boot = "    Thread.run (threading.py:982)\n    Thread._bootstrap_inner (threading.py:1045)\n"
    boot += "    Thread._bootstrap (threading.py:1002)\n"
    waits = "    Thread.join (threading.py:1119)\n    <module> (train.py:50)\n"
    for rank, stack in {0: IN_SUM, 1: IN_LOCK, 2: IN_SUM}.items():
        fit = stack.replace("    <module> (train.py:32)\n", boot)
        told = f'Process 10{rank}: python train.py\n\nThread 10{rank} (idle): "MainThread"\n{waits}'
        told += f'Thread 9{rank} (idle): "Trainer"\n{fit}'
        for look in range(2):
            (tmp_path / f"stack_rank{rank}_{look}.txt").write_text(told)
            taken(tmp_path / f"stack_rank{rank}_{look}.txt", look)
    verdict = best(diagnose(tmp_path))
    assert (verdict.cause, named(verdict)) == ("host_blocked", ([1], []))


def test_receives_in_a_circle_by_the_arguments_in_the_stacks(tmp_path: Path) -> None:
    for rank, peer in {0: 1, 1: 0}.items():
        stack = (
            f"    recv ({C10D}:2799)\n        Arguments:\n            src: {peer}\n    swap (train.py:3)\n"
        )
        for look in range(2):
            told = f'Process 10{rank}: python train.py\n\nThread 10{rank} (idle): "MainThread"\n{stack}'
            (tmp_path / f"stack_rank{rank}_{look}.txt").write_text(told)
            taken(tmp_path / f"stack_rank{rank}_{look}.txt", look)
    verdict = best(diagnose(tmp_path))
    assert (verdict.cause, named(verdict)) == ("order_inversion", ([0, 1], []))


#: When the dumps bear to have been written, in nanoseconds after the first of them.
TIMES = {
    "days later": lambda rank: 10**17,
    "one after another": lambda rank: 600 * 10**9 + 150_000 * rank + 7,
}


@pytest.mark.parametrize("later", TIMES.values(), ids=TIMES.keys())
def test_dumps_that_were_copied_name_the_same_rank_if_it_hung(later: Callable[[int], int]) -> None:
    made = [Call("0", "all_reduce", 64, "train.py:9")] * 3
    programs = {rank: [*made] for rank in range(4)}
    case = case_of(Job({"0": [0, 1, 2, 3]}, {**programs, 2: [made[0], Stop()]}), waited_s=600)
    sure = best(conclude(case).diagnosis)
    written = [case.dumps["last_ns"].max() + later(rank) for rank in range(4)]  # type: ignore[operator]
    copied = case.dumps.with_columns(pl.Series("written_ns", written, pl.Int64))
    verdict = best(conclude(replace(case, dumps=copied), Options()).diagnosis)
    assert (named(verdict), named(sure)) == (([], [2]), ([2], []))
    assert verdict.assumed == "it hung: the files do not tell when they were written"


def test_servers_of_models_tell_the_rank_in_the_title_of_the_process(tmp_path: Path) -> None:
    told = ""
    for rank, stack in {0: IN_SUM, 1: IN_LOCK, 2: IN_SUM}.items():
        for _ in range(2):
            told += f'Process 10{rank}: sglang::scheduler_TP{rank}\n\nThread 10{rank} (idle): "MainThread"\n{stack}\n'
    (tmp_path / "node.txt").write_text(told)
    assert named(best(diagnose(tmp_path))) == ([], [1]), "nothing tells when the two looks were"
    verdict = best(diagnose(tmp_path, hung=True))
    assert (verdict.cause, named(verdict)) == ("host_blocked", ([1], []))


def test_a_wait_for_an_earlier_call_is_no_call(tmp_path: Path) -> None:
    waits = "    wait_tensor (torch/distributed/_functional_collectives.py:142)\n" + STEP
    (verdict,) = diagnose(dumped(tmp_path, {0: waits, 1: waits, 2: IN_BARRIER})).verdicts
    cohorts = verdict.divergence.cohorts if verdict.divergence else []
    assert "wait_tensor" not in {cohort.call.op for cohort in cohorts if cohort.call}
    assert "wait_tensor" in verdict.sentence


def at_root(root: int | None) -> str:
    arguments = f"        Arguments:\n            src: {root}\n            group_src: {root}\n"
    head, _, rest = AT_ROOT.partition("\n")
    return f"{head}\n{arguments if root is not None else ''}{rest}"


@pytest.mark.parametrize(
    ("roots", "elsewhere", "culprits", "suspects"),
    [
        pytest.param([3, 3, 2, 3], None, [2], [], id="one line, and one names another root"),
        pytest.param([3, None, 2, 3], 1, [], [2], id="one is past it: each may have its turn"),
        pytest.param([None, None, None, None], 1, [], [1], id="who gives may be past it"),
        pytest.param([0, None, 0, 0], 1, [1], [], id="the root waits for the one that has not come"),
    ],
)
def test_ranks_that_wait_in_a_call_of_one_root(
    tmp_path: Path, roots: list[int | None], elsewhere: int | None, culprits: list[int], suspects: list[int]
) -> None:
    src = tmp_path / "src"
    src.mkdir()
    (src / "train.py").write_text(PROGRAM)
    stacks = {rank: IN_SUM if rank == elsewhere else at_root(root) for rank, root in enumerate(roots)}
    verdict = best(diagnose(dumped(tmp_path, stacks), src=src))
    assert named(verdict) == (culprits, suspects)


def receiving(folder: Path, looks: int, elsewhere: str = "") -> Path:
    """Three ranks receive in a circle, looked at within moments; a fourth stands elsewhere."""
    for rank, peer in {0: 2, 1: 0, 2: 1, 3: None}.items():
        asked = f"        Arguments:\n            src: {peer}\n"
        stack = elsewhere if peer is None else f"    recv ({C10D}:2799)\n{asked}    swap (train.py:3)\n"
        for look in range(looks if stack else 0):
            told = f'Process 10{rank}: python train.py\n\nThread 10{rank} (idle): "MainThread"\n{stack}'
            (folder / f"stack_rank{rank}_{look}.txt").write_text(told)
            taken(folder / f"stack_rank{rank}_{look}.txt", look, 1)
    return folder


@pytest.mark.parametrize(
    ("looks", "elsewhere", "culprits"),
    [
        pytest.param(3, "", [0, 1, 2], id="nobody is at work who could send"),
        pytest.param(2, "", [], id="what was sent may be under way"),
        pytest.param(3, "    write (train.py:8)\n", [], id="one is at work, and may send"),
    ],
)
def test_receives_in_a_circle_within_moments(
    tmp_path: Path, looks: int, elsewhere: str, culprits: list[int]
) -> None:
    assert named(best(diagnose(receiving(tmp_path, looks, elsewhere))))[0] == culprits


def kept(limit: str) -> str:
    """What `py-spy dump --locals --json` shows of a process that waits at its end for a thread in a queue."""

    def frame(name: str, file: str, line: int, **shown: str) -> dict[str, object]:
        given = [{"name": key, "repr": value, "arg": True} for key, value in shown.items()]
        return {"name": name, "filename": file, "short_filename": file, "line": line, "locals": given}

    threading = "/usr/lib/python3.11/threading.py"
    worker = [
        frame("Condition.wait", threading, 327, timeout=limit),
        frame("Queue.get", "/usr/lib/python3.11/queue.py", 171, block="True", timeout=limit),
        frame("drain", "/job/upload.py", 19),
        frame("Thread.run", threading, 982),
    ]
    main = [frame("_shutdown", threading, 1590)]
    own = {"pid": 101, "active": False, "owns_gil": False, "os_thread_id": 101, "thread_id": 1}
    return json.dumps(
        [
            {**own, "thread_name": "uploader", "os_thread_id": 102, "thread_id": 2, "frames": worker},
            {**own, "thread_name": "MainThread", "frames": main},
        ]
    )


@pytest.mark.parametrize(("limit", "culprits"), [("None", [1]), ("0.5", [])])
def test_a_thread_that_waits_without_a_limit_keeps_its_interpreter_for_ever(
    tmp_path: Path, limit: str, culprits: list[int]
) -> None:
    (tmp_path / "pyspy_rank_1.json").write_text(kept(limit))
    verdict = best(diagnose(tmp_path))
    assert verdict.cause == "teardown_only"
    assert named(verdict) == (culprits, [] if culprits else [1])
    assert ("for ever" in verdict.sentence) is bool(culprits)


@pytest.mark.parametrize("root", [0, 3])
def test_a_root_that_is_elsewhere_owes_all_others_what_they_wait_for(tmp_path: Path, root: int) -> None:
    src = tmp_path / "src"
    src.mkdir()
    (src / "train.py").write_text(PROGRAM)
    other = f"    broadcast ({C10D}:2800)\n    folder (train.py:31)\n    main (train.py:22)\n"
    stacks = {rank: other if rank == 0 else at_root(root) for rank in range(4)}
    verdict = best(diagnose(dumped(tmp_path, stacks), src=src))
    assert named(verdict)[0] == ([0] if root == 0 else [])


@pytest.mark.parametrize("root", [0, 3])
def test_a_root_that_has_gone_on_has_made_another_call_if_nobody_has_got_what_it_owed(
    tmp_path: Path, root: int
) -> None:
    """By their watchdogs rank 0 is one call further on than the others, who wait in one of that root."""
    other = f"    broadcast ({C10D}:2800)\n    folder (train.py:31)\n    main (train.py:22)\n"
    dumped(tmp_path, {rank: other if rank == 0 else at_root(root) for rank in range(4)})
    for rank in range(4):
        (tmp_path / f"rank_{rank}.log").write_text(
            f"[rank{rank}]:[E1120 10:14:02.5 ProcessGroupNCCL.cpp:607] [PG ID 0 PG GUID 0(default_pg) Rank "
            f"{rank}] Watchdog caught collective "
            f"operation timeout: WorkNCCL(SeqNum={6 - (rank > 0)}, OpType=BROADCAST, NumelIn=1, NumelOut=1, "
            f"Timeout(ms)=600000) ran for 600061 milliseconds before timing out.\n"
        )
    verdict = best(diagnose(tmp_path))
    assert named(verdict)[0] == ([0] if root == 0 else [])
    if root == 0:
        assert "network_stalled" in {other.cause for other in verdict.alternatives}


def test_no_rank_is_left_out_where_each_says_something_else(tmp_path: Path) -> None:
    for rank in range(300):
        raised = f'Traceback (most recent call last):\n  File "train.py", line 9, in main\nValueError: bad {rank}\n'
        (tmp_path / f"rank_{rank}.log").write_text(f"[rank {rank}] step 7\n" + raised * (rank % 2))
    diagnosis = diagnose(tmp_path)
    assert sorted(r for one in diagnosis.standings for r in parse_ranks(one.ranks)) == [*range(300)]
    assert len(diagnosis.standings) < 80
    (rest,) = [one for one in diagnosis.standings if "different ways" in one.what]
    assert re.fullmatch(r"in \d+ different ways; rank \d+: raised ValueError: bad \d+", rest.what)


def test_a_last_line_is_said_of_whom_it_is(tmp_path: Path) -> None:
    for rank in range(6):
        (tmp_path / f"rank_{rank}.log").write_text(f"step {rank}\n" if rank < 4 else "saved\n")
    stands = {one.ranks: one.what for one in diagnose(tmp_path, hung=True).standings}
    assert stands == {
        "0-3": "its last line differs in numbers alone; that of rank 0: 'step 0'",
        "4,5": "its last line: 'saved'",
    }


@pytest.mark.parametrize("runs", [True, False])
def test_a_process_that_is_listed_as_running_has_not_ended(tmp_path: Path, runs: bool) -> None:
    dumped(tmp_path, dict.fromkeys((0, 1, 3), IN_SUM))
    if runs:
        ends = [{"rank": rank, "pid": 100 + rank, "state": "running"} for rank in range(4)]
        (tmp_path / "exits.json").write_text(json.dumps(ends))
    (tmp_path / "rank_2.log").write_text("step 3\n")
    verdict = best(diagnose(tmp_path))
    assert [2] in named(verdict)
    others = {other.cause for other in verdict.alternatives}
    assert "host_blocked" in others
    assert ({"killed", "early_exit"} & others == set()) is runs


IN_RECEIVE = (
    f"    recv ({C10D}:2799)\n    collect (train.py:9)\n    main (train.py:21)\n    <module> (train.py:32)\n"
)


def left(folder: Path, others: str) -> Verdict:
    """Rank 3 has ended well, rank 0 receives from somebody, and the others are where they are."""
    dumped(folder, {0: IN_RECEIVE, 1: others, 2: others}, looks=1)
    ends = [{"rank": rank, "pid": 100 + rank, "state": "running"} for rank in range(3)]
    gone = {"rank": 3, "pid": 103, "state": "exited", "exitcode": 0}
    (folder / "exits.json").write_text(json.dumps([*ends, gone]))
    return best(diagnose(folder))


def test_who_ended_well_is_not_missed_by_one_that_receives_while_others_are_at_work(tmp_path: Path) -> None:
    verdict = left(tmp_path, COUNTS)
    assert (verdict.confidence, verdict.culprits) == ("hypothesis", [])
    assert verdict.cause != "early_exit"


def test_who_ended_well_is_missed_where_all_that_live_receive(tmp_path: Path) -> None:
    verdict = left(tmp_path, IN_RECEIVE)
    assert (verdict.cause, [one.rank for one in verdict.culprits]) == ("early_exit", [3])


IN_RENDEZVOUS = (
    "    _create_tcp_store (torch/distributed/rendezvous.py:198)\n"
    f"    init_process_group ({C10D}:1700)\n    main (train.py:18)\n    <module> (train.py:32)\n"
)


@pytest.mark.parametrize(
    ("first", "late"),
    [
        pytest.param(IN_RENDEZVOUS, [1, 2], id="those have not come to the setup yet, or were never told to"),
        pytest.param(IN_RECEIVE, [], id="those may be in transfers, which leave no frame"),
    ],
)
def test_one_waits_while_most_stand_in_code_of_their_own(tmp_path: Path, first: str, late: list[int]) -> None:
    stacks = dumped(tmp_path, {0: first, 1: COUNTS, 2: COUNTS}, looks=1)
    assert named(best(diagnose(stacks))) == ([], late)
    assert named(best(diagnose(stacks, hung=True))) == ([], late)


def test_who_ended_well_is_not_missed_in_a_group_that_it_was_not_in() -> None:
    """It left before the group was made; another of the group's ranks is on its way."""
    whole, part = Call("0", "all_reduce", 8, "train.py:14"), Call("1", "all_reduce", 8, "train.py:15")
    last = {0: [part, Call("1", "barrier", 1, "train.py:29")], 2: [], 3: [part, Stop()]}
    programs: dict[int, list[Step]] = {rank: [whole, *last[rank]] for rank in (0, 2, 3)}
    programs[1] = programs[0]
    seen = Witnesses(
        case_of(Job({"0": [0, 1, 2, 3], "1": [0, 1, 3]}, programs, backend="gloo"), waited_s=0.1)
    )
    for rank in (0, 1):
        seen.stack(rank, IN_BARRIER_OF_ALL)
    assert best_of(seen.exit(2, 0)).culprits == []


def in_transfers(folder: Path, with_: dict[int, tuple[str, int]]) -> Verdict:
    """Each rank sends to one, or receives from one, as the arguments in its stack show; nobody knows for how long."""
    for rank, (op, peer) in with_.items():
        asked = f"        Arguments:\n            {'dst' if op == 'send' else 'src'}: {peer}\n"
        told = f'Process 10{rank}: python train.py\n\nThread 10{rank} (idle): "MainThread"\n'
        (folder / f"stack_rank{rank}.txt").write_text(
            f"{told}    {op} ({C10D}:2799)\n{asked}    {op}_forward (wire.py:{20 + rank})\n"
        )
    return best(diagnose(folder))


def test_a_circle_of_sends_and_receives_is_suspected_with_whom_each_is_in_a_transfer(tmp_path: Path) -> None:
    verdict = in_transfers(tmp_path, {0: ("send", 2), 1: ("recv", 0), 2: ("recv", 1)})
    assert (verdict.cause, named(verdict)) == ("order_inversion", ([], [0, 1, 2]))
    assert "rank 0: sends to rank 2, which is busy with rank 1" in verdict.sentence.lower()


@pytest.mark.parametrize(
    "with_",
    [
        pytest.param({0: ("send", 1), 1: ("recv", 0), 2: ("recv", 1)}, id="one transfer is under way"),
        pytest.param({0: ("send", 1), 1: ("send", 2), 2: ("recv", 1)}, id="it ends at one that is"),
    ],
)
def test_transfers_that_lead_to_one_under_way_are_no_circle(
    tmp_path: Path, with_: dict[int, tuple[str, int]]
) -> None:
    assert in_transfers(tmp_path, with_).cause != "order_inversion"


def test_what_one_program_kept_when_it_asked_bears_its_own_time() -> None:
    """Rings, and what torch's server answered, are written one right after the other by whoever looked at the job."""
    made = [Call("0", "all_reduce", 64, "train.py:9")] * 3
    programs = {rank: [*made] for rank in range(4)}
    case = case_of(Job({"0": [0, 1, 2, 3]}, {**programs, 2: [made[0], Stop()]}), waited_s=600)
    written = [case.dumps["last_ns"].max() + TIMES["one after another"](rank) for rank in range(4)]  # type: ignore[operator]
    kept = case.dumps.with_columns(pl.Series("written_ns", written, pl.Int64), pl.lit("json").alias("format"))
    assert named(best(conclude(replace(case, dumps=kept)).diagnosis)) == ([2], [])


def test_what_holds_if_the_job_hung_is_no_hang_though_nobody_has_called_for_long() -> None:
    made = [Call("0", "all_reduce", 64, "train.py:9")] * 3
    seen = Witnesses(case_of(Job({"0": [0, 1, 2]}, {rank: [*made] for rank in range(3)}), waited_s=600))
    for rank in range(3):
        seen.stack(rank, IN_BARRIER_OF_ALL)
    verdict = best_of(seen)
    assert "Nothing shows that they stay there: this holds if the job hung." in verdict.sentence
    assert (verdict.cause, verdict.hang) == ("undetermined", None)
