"""Waits that only a framework's or a driver's frames show; processors that spin; debuggers; one look and two."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rankandfile import diagnose
from rankandfile.model.diagnosis import Diagnosis, Verdict

C10D = "torch/distributed/distributed_c10d.py"
MAIN = "    main (tune.py:80)\n    <module> (tune.py:91)\n"
ZERO = "deepspeed/runtime/zero/partition_parameters.py"
FETCH = (
    f"    wait ({ZERO}:107)\n    fetch_sub_module (deepspeed/runtime/zero/partitioned_param_coordinator.py:337)\n"
    "    forward (deepspeed/runtime/engine.py:1914)\n    one_step (tune/steps.py:31)\n"
)
GATHER = f"    wait ({ZERO}:107)\n    all_gather ({ZERO}:1159)\n    norm_of (tune/report.py:17)\n"
SPINS = (
    "    sched_yield (libc.so.6)\n    0x7f31e6 (libcuda.so.550.54)\n    cudaDeviceSynchronize (libcudart.so.12.4)\n"
    "    synchronize (torch/cuda/__init__.py:791)\n    measure (tune/clock.py:12)\n"
)
BARRIER = (
    f"    barrier ({C10D}:4159)\n    wait_for_everyone (accelerate/state.py:418)\n    rounds (tune.py:44)\n"
)
PROMPT = "    cmdloop (cmd.py:126)\n    interaction (pdb.py:544)\n    set_trace (bdb.py:9)\n    blend (tune/mix.py:5)\n"
SCORES = "    ngrams (sacrebleu/metrics/helpers.py:21)\n    judge (tune/score.py:{line})\n"


def taken(folder: Path, stacks: dict[int, str], *, state: str = "active", look: int = 0) -> Path:
    for rank, stack in stacks.items():
        name = folder / f"spy_rank{rank}_{look}.txt"
        told = f'Process {rank + 50}: python tune.py\n\nThread {rank + 50} ({state}): "MainThread"\n{stack}{MAIN}'
        name.write_text(told)
        os.utime(name, (1_700_000_000 + 90 * look,) * 2)
    return folder


def verdict_of(diagnosis: Diagnosis) -> Verdict:
    return diagnosis.verdicts[0]


def named(verdict: Verdict) -> tuple[list[int], list[int]]:
    return [one.rank for one in verdict.culprits], [one.rank for one in verdict.suspects]


def place(verdict: Verdict) -> str:
    return f"{verdict.location.file}:{verdict.location.line}" if verdict.location else ""


def test_a_rank_that_gathers_parameters_while_the_others_are_in_the_forward_pass(tmp_path: Path) -> None:
    verdict = verdict_of(diagnose(taken(tmp_path, {0: FETCH, 1: FETCH, 2: GATHER, 3: FETCH})))
    assert (verdict.cause, named(verdict), verdict.hang) == ("different_collective", ([], [2]), None)
    assert place(verdict) == "tune/report.py:17"


def test_all_in_one_place_of_the_framework_accuses_nobody(tmp_path: Path) -> None:
    assert named(verdict_of(diagnose(taken(tmp_path, dict.fromkeys(range(4), FETCH))))) == ([], [])


def test_a_processor_that_spins_for_its_device_does_not_move(tmp_path: Path) -> None:
    diagnosis = diagnose(taken(tmp_path, dict.fromkeys(range(3), SPINS)))
    verdict = verdict_of(diagnosis)
    assert (verdict.cause, named(verdict)) == ("undetermined", ([], []))
    assert "move" not in verdict.sentence.partition(".")[0]
    assert [(one.ranks, one.moving) for one in diagnosis.standings] == [("0-2", None)]


def test_a_breakpoint_that_one_rank_came_to(tmp_path: Path) -> None:
    taken(tmp_path, {0: BARRIER, 2: BARRIER})
    verdict = verdict_of(diagnose(taken(tmp_path, {1: PROMPT}, state="idle")))
    assert (verdict.cause, named(verdict), place(verdict)) == ("host_blocked", ([1], []), "tune/mix.py:5")
    assert "debugger" in verdict.sentence


@pytest.mark.parametrize("others", [BARRIER, SPINS])
def test_one_look_at_work_makes_a_suspect_of_nothing_in_particular(tmp_path: Path, others: str) -> None:
    stacks = {0: SCORES.format(line=8), 1: others, 2: others}
    verdict = verdict_of(diagnose(taken(tmp_path, stacks, state="active+gil")))
    assert (verdict.cause, verdict.hang, named(verdict)) == ("undetermined", None, ([], [0]))
    assert place(verdict) == "tune/score.py:8"


def test_a_library_that_computes_was_seen_by_a_tool_that_tells_no_state(tmp_path: Path) -> None:
    site = "/venv/lib/python3.11/site-packages/torch"
    waits = f'  File "{site}/distributed/distributed_c10d.py", line 3703 in barrier\n'
    waits += '  File "/job/tune.py", line 44 in rounds\n'
    works = (
        f'  File "{site}/nn/functional.py", line 2237 in embedding\n  File "/job/beam.py", line 9 in look\n'
    )
    for rank in range(3):
        told = f"Thread 0x00007f2{rank} (most recent call first):\n{works if rank == 1 else waits}"
        (tmp_path / f"fault_rank{rank}.txt").write_text(f'{told}  File "/job/tune.py", line 91 in <module>\n')
    verdict = verdict_of(diagnose(tmp_path))
    assert (verdict.cause, verdict.hang, named(verdict)) == ("undetermined", None, ([], [1]))
    assert place(verdict) == "/job/beam.py:9"


def test_who_moves_between_two_looks_is_slow_and_nobody_is_stuck(tmp_path: Path) -> None:
    for look in range(2):
        stacks = {0: SCORES.format(line=8 + look), 1: BARRIER, 2: BARRIER}
        taken(tmp_path, stacks, state="active+gil", look=look)
    verdict = verdict_of(diagnose(tmp_path))
    assert (verdict.cause, verdict.hang, named(verdict)) == ("host_slow", None, ([], [0]))
    assert place(verdict) == "tune/score.py:9"


def test_what_the_odd_rank_had_read_says_why(tmp_path: Path) -> None:
    ends = f"    barrier ({C10D}:4159)\n    finish (tune.py:70)\n"
    sums = "    backward (torch/autograd/__init__.py:251)\n    one_step (tune/steps.py:33)\n"
    taken(tmp_path, {0: sums, 1: sums, 2: ends, 3: sums}, state="idle")
    for rank in range(4):
        count = 611 if rank == 2 else 612
        log = f"worker of rank {rank} up\nthis rank has {40000 + count} documents in {count} batches\n"
        (tmp_path / f"train_rank{rank}.log").write_text(log)
    verdict = verdict_of(diagnose(tmp_path))
    assert (verdict.cause, named(verdict)) == ("uneven_inputs", ([], [2]))
    assert "611 batches" in verdict.sentence
