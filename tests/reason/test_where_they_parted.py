"""The line of a verdict by stacks: where the odd ones left the others' way, or where they stand."""

from __future__ import annotations

import os
from pathlib import Path

from rankandfile import diagnose
from rankandfile.model.diagnosis import Verdict

C10D = "torch/distributed/distributed_c10d.py"
TAIL = "    fit (lab/loop.py:{line})\n    <module> (lab/main.py:12)\n"
REDUCES = f"    all_reduce ({C10D}:2501)\n    mean_of (lab/stats.py:14)\n" + TAIL
GATHERS = f"    all_gather_object ({C10D}:2601)\n    collect (lab/eval.py:33)\n" + TAIL
BACKWARD = (
    "    _engine_run_backward (torch/autograd/graph.py:825)\n    backward (torch/_tensor.py:626)\n" + TAIL
)
ITEM = "    cudaStreamSynchronize (libcudart.so.12)\n    {function} (lab/{file}.py:{at})\n" + TAIL


def spied(folder: Path, stacks: dict[int, str], state: str = "idle") -> Verdict:
    for rank, stack in stacks.items():
        head = f"Process {rank + 70}: python main.py\n\nThread {rank + 70} ({state}): "
        (folder / f"spy_rank{rank}.txt").write_text(f'{head}"MainThread"\n{stack}')
    return diagnose(folder).verdicts[0]


def place(verdict: Verdict) -> tuple[str, int | None] | None:
    return (verdict.location.file, verdict.location.line) if verdict.location else None


def test_the_line_from_which_it_left_the_others(tmp_path: Path) -> None:
    stacks = dict.fromkeys(range(4), REDUCES.format(line=50)) | {1: GATHERS.format(line=61)}
    verdict = spied(tmp_path, stacks)
    assert [one.rank for one in verdict.suspects] == [1]
    assert place(verdict) == ("lab/eval.py", 33)
    assert "on another path than the others from loop.py:61 on" in (verdict.suspects[0].doing or "")


def test_its_own_place_where_no_function_is_shared(tmp_path: Path) -> None:
    other = GATHERS.replace("fit (lab/loop.py:{line})", "close (lab/end.py:7)")
    verdict = spied(tmp_path, dict.fromkeys(range(4), REDUCES.format(line=50)) | {3: other})
    assert place(verdict) == ("lab/eval.py", 33)


def test_a_device_that_does_not_end_its_work(tmp_path: Path) -> None:
    usual = ITEM.format(function="fit_step", file="step", at=90, line=50)
    own = ITEM.format(function="hash_cells", file="cells", at=21, line=44)
    verdict = spied(tmp_path, {0: usual, 1: usual, 2: own, 3: usual})
    assert (verdict.cause, [one.rank for one in verdict.suspects]) == ("gpu_stuck", [2])
    assert place(verdict) == ("lab/cells.py", 21)


def test_one_look_at_a_backward_pass_does_not_tell_work_from_waiting(tmp_path: Path) -> None:
    at_end = f"    barrier ({C10D}:4551)\n    close (lab/end.py:7)\n" + TAIL.format(line=70)
    for rank in range(4):
        stack, state = (at_end, "idle") if rank == 3 else (BACKWARD.format(line=50), "active")
        head = f"Process {rank + 70}: python main.py\n\nThread {rank + 70} ({state}): "
        (tmp_path / f"spy_rank{rank}.txt").write_text(f'{head}"MainThread"\n{stack}')
    verdict = diagnose(tmp_path).verdicts[0]
    assert ([one.rank for one in verdict.suspects], verdict.culprits, verdict.hang) == ([3], [], None)
    assert "one look does not tell" in verdict.sentence


def two_looks(folder: Path, first: dict[int, str], second: dict[int, str]) -> Verdict:
    for clock, stacks in (("0905", first), ("0912", second)):
        text = "".join(
            f'Process {rank + 70}: python main.py --rank {rank}\n\nThread {rank + 70} (idle): "MainThread"\n{stack}\n'
            for rank, stack in stacks.items()
        )
        (folder / f"looks_{clock}.txt").write_text(text)
        os.utime(folder / f"looks_{clock}.txt", (1_700_000_000,) * 2)
    return diagnose(folder).verdicts[0]


def test_a_job_whose_ranks_all_went_on_between_two_looks(tmp_path: Path) -> None:
    forward = "    forward (lab/net.py:{at})\n" + TAIL.format(line=40)
    first = dict.fromkeys(range(4), REDUCES.format(line=50)) | {
        0: "    save (torch/serialization.py:850)\n" + TAIL.format(line=55)
    }
    second = {rank: forward.format(at=10 + rank) for rank in range(3)} | {3: BACKWARD.format(line=45)}
    verdict = two_looks(tmp_path, first, second)
    assert (verdict.cause, verdict.hang, verdict.suspects) == ("no_hang", False, [])


def test_a_job_of_which_one_rank_stood_in_both(tmp_path: Path) -> None:
    forward = "    forward (lab/net.py:{at})\n" + TAIL.format(line=40)
    stays = REDUCES.format(line=50)
    second = {rank: forward.format(at=10 + rank) for rank in range(3)} | {3: stays}
    assert two_looks(tmp_path, dict.fromkeys(range(4), stays), second).hang is not False
