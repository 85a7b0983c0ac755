"""What other libraries' lines tell of calls, and a wait or an exception that was over."""

# ruff: noqa: E501 - log lines are as long as they are

from __future__ import annotations

from pathlib import Path

import pytest

import rankandfile
from rankandfile.model.diagnosis import Verdict


def best(folder: Path, text: str) -> Verdict:
    (folder / "job.log").write_text(text)
    return rankandfile.diagnose([folder]).verdicts[0]


def sure(found: Verdict) -> list[int]:
    return [one.rank for one in found.culprits]


def xccl(rank: int, op: str, size: int, dtype: str) -> str:
    return f"[rank{rank}]:[I205 15:33:30.003735251 ProcessGroupXCCL.cpp:1130] collective_name: {op}, inNelems: {size}, outNelems: {size}, dType: {dtype}, root/src rank: {rank}, worldSize: 4, async_op: true\n"


@pytest.mark.parametrize(
    ("odd", "cause"),
    [
        (("allreduce", 64, "Half"), "dtype_mismatch"),
        (("allreduce", 65, "Float"), "size_mismatch"),
        (("allgather", 64, "Float"), "different_collective"),
    ],
)
def test_calls_that_nobody_numbers(tmp_path: Path, odd: tuple[str, int, str], cause: str) -> None:
    text = "".join(xccl(rank, "allreduce", 900, "Float") for _ in range(300) for rank in range(4))
    found = best(
        tmp_path,
        text + "".join(xccl(rank, *(odd if rank == 2 else ("allreduce", 64, "Float"))) for rank in range(4)),
    )
    assert (found.cause, sure(found)) == (cause, [2])
    assert not sure(best(tmp_path, text))


@pytest.mark.parametrize("library", ["NCCL", "RCCL"])
def test_calls_of_one_host_without_any_rank(tmp_path: Path, library: str) -> None:
    def call(dev: int, number: int, op: str) -> str:
        return f"f031:{8110 + dev}:{8110 + dev} [{dev}] {library} INFO {op}: opCount {number:x} sendbuff 0x1 recvbuff 0x2 count 512 datatype 7 op 0 root 0 comm 0x5{dev} [nranks=4] stream 0x7\n"

    text = "".join(call(dev, n, "AllReduce") for n in range(40) for dev in range(4))
    found = best(
        tmp_path, text + "".join(call(dev, 40, "Broadcast" if dev == 3 else "AllReduce") for dev in range(4))
    )
    assert (found.cause, sure(found)) == ("different_collective", [3])
    assert "opCount 28" in found.sentence


@pytest.mark.parametrize("label", ["[1,{rank}]<stderr>:", "Tue Sep 30 07:10:35 2025[{rank}]<stderr>:"])
def test_each_side_lacks_what_the_other_submitted(tmp_path: Path, label: str) -> None:
    at = label.format(rank=0)
    text = f"{at}[2025-09-30 07:11:39.405836: W horovod/common/stall_inspector.cc:107] One or more tensors were submitted to be reduced, gathered or broadcasted by subset of ranks and are waiting for remainder of ranks for more than 60 seconds. This may indicate that different ranks are trying to submit different tensors.\n{at}Missing ranks:\n"
    text += "".join(f"{at}{rank}: [{'grads_9' if rank == 2 else 'metric_mean'}]\n" for rank in range(4))
    found = best(
        tmp_path,
        "$ horovodrun -np 4 python fit.py\n" + text + label.format(rank=2) + "rank 2: no more batches\n",
    )
    assert (found.cause, sure(found)) == ("uneven_inputs", [2])
    assert "grads_9" in found.sentence and "metric_mean" in found.sentence


def test_whose_an_exception_is_by_who_fell_silent(tmp_path: Path) -> None:
    text = "".join(f"[{rank}] 22:04:5{rank} member {rank} integrated\n" for rank in range(5))
    text += 'Traceback (most recent call last):\n  File "/e/run.py", line 118, in <module>\n    post(m)\n  File "/e/post.py", line 66, in post\n    q = t[k]\nKeyError: 36\n'
    text += "".join(f"[{rank}] 22:05:04 gathering\n" for rank in range(5) if rank != 3)
    found = best(tmp_path, "mpirun -np 5 python run.py\n" + text)
    assert (found.cause, sure(found)) == ("raised", [3])
    assert found.location is not None and (found.location.file, found.location.line) == ("/e/post.py", 66)


def test_a_long_wait_that_passed(tmp_path: Path) -> None:
    waits = "".join(
        f"[rank {rank}] WARNING still waiting at barrier eval ({s} s)\n"
        for s in (300, 600)
        for rank in (1, 2)
    )
    went = "".join(f"[rank {rank}] INFO barrier eval passed\n" for rank in range(3)) + "".join(
        f"[rank 0] INFO step {n} loss 0.4\n" for n in range(8)
    )
    assert best(tmp_path, waits + went).cause == "no_hang"
    assert best(tmp_path, went + waits).cause != "no_hang"
