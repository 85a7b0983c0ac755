"""Logs as people bring them: servers of models, Ray's words, who failed and who only dealt with something before."""

# ruff: noqa: E501 - lines of logs and stacks are as long as they are

from __future__ import annotations

from pathlib import Path

import pytest

from rankandfile import diagnose
from rankandfile.model.diagnosis import Verdict


def asked(folder: Path, files: dict[str, str]) -> Verdict:
    for name, text in files.items():
        (folder / name).write_text(text)
    return diagnose(folder).verdicts[0]


def culprits(verdict: Verdict) -> list[int]:
    return [one.rank for one in verdict.culprits]


def suspects(verdict: Verdict) -> list[int]:
    return [one.rank for one in verdict.suspects]


TRACEBACK = """Traceback (most recent call last):
  File "/usr/local/lib/python3.12/dist-packages/vllm/v1/executor/multiproc_executor.py", line 666, in worker_busy_loop
    output = func(*args, **kwargs)
  File "/opt/ext/routing.py", line 88, in select
    return self.table[key]
KeyError: 'tenant-31'
"""


@pytest.mark.parametrize("worker", ["Worker_TP2 pid=303", "VllmWorker rank=2 pid=303"])
def test_a_worker_of_vllm_that_raised(tmp_path: Path, worker: str) -> None:
    of_worker = f"({worker}) ERROR 10-02 09:20:14 [multiproc_executor.py:671] "
    engine = "(EngineCore_0 pid=211) "
    text = f"{engine}INFO 10-02 09:11:41 [core.py:77] Initializing a V1 LLM engine (v0.11.0)\n"
    text += "".join(
        of_worker + line + "\n" for line in ("WorkerProc hit an exception.", *TRACEBACK.splitlines())
    )
    text += f"{engine}INFO 10-02 09:21:14 [shm_broadcast.py:466] No available shared memory broadcast block found in 60 seconds.\n"
    verdict = asked(tmp_path, {"server.log": text})
    assert verdict.cause == "raised" and culprits(verdict) == [2]
    assert verdict.location is not None and verdict.location.line == 88


SCHEDULER = """Scheduler hit an exception: Traceback (most recent call last):
  File "/sgl-workspace/sglang/python/sglang/srt/managers/scheduler.py", line 2774, in run_scheduler_process
    scheduler.event_loop_overlap()
  File "/opt/hooks/prio.py", line 21, in order
    return sorted(reqs, key=lambda r: r.meta["w"])
TypeError: 'NoneType' object is not subscriptable

"""


def test_a_scheduler_of_sglang_that_raised_is_the_rank_in_its_prefix(tmp_path: Path) -> None:
    text = "".join(f"[2025-11-11 08:00:0{n} TP{n}] Init torch distributed begin.\n" for n in range(4))
    text += (
        f"[2025-11-11 08:09:04 TP3] {SCHEDULER}[2025-11-11 08:09:04] Received sigquit from a child process.\n"
    )
    text += "/entrypoint.sh: line 44:   117 Killed                  python3 -m sglang.launch_server\n"
    verdict = asked(tmp_path, {"server.log": text})
    assert verdict.cause == "raised" and culprits(verdict) == [3]


def test_where_its_place_does_not_tell_the_rank_the_place_is_said(tmp_path: Path) -> None:
    verdict = asked(tmp_path, {"server.log": f"[2025-11-11 08:09:04 DP1 TP1 EP1] {SCHEDULER}"})
    assert not culprits(verdict) and "DP1 TP1 EP1" in verdict.sentence


def of_ray(pid: int, rank: int) -> str:
    return f"(TrainWorker pid={pid}, ip=10.3.0.{5 + rank // 2}) [rank{rank}] shard {rank} ready\n"


READY = "".join(of_ray(5101 + rank, rank) for rank in range(4))
OOM = (
    "ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory.\n"
    "Memory on the node (IP: 10.3.0.6, ID: 8c3e0a) where the {what} (ID: 7be1104b, name=TrainWorker.step, pid=5104, "
    "memory used=241.80GB) was running was 961.44GB / 1007.49GB (0.954293), which exceeds the memory usage threshold of "
    "0.95. Ray killed this worker (ID: 5b87f7ad) because it was the most recently scheduled task.\n"
)
DIED = (
    "(raylet, ip=10.3.0.6) A worker died or was killed while executing a task by an unexpected system error. RayTask ID: "
    "ff Worker ID: 5e Node ID: 75 Worker IP address: 10.3.0.6 Worker port: 10230 Worker PID: 5104 Worker exit type: "
    "SYSTEM_ERROR Worker exit detail: Worker unexpectedly exits with a connection error code 2. End of file.\n"
)
ACTOR = (
    "ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task.\n\tclass_name: TrainWorker\n"
    "\tactor_id: 5b72\n\tpid: 5104\n\tnamespace: 94d6\n\tip: 10.3.0.6\nThe actor is dead because its worker process has "
    "died. Worker exit type: SYSTEM_ERROR Worker exit detail: Worker unexpectedly exits with a connection error code 2.\n"
)


@pytest.mark.parametrize("words", [OOM.format(what="task"), OOM.format(what="actor"), DIED, ACTOR])
def test_a_worker_of_ray_by_its_process(tmp_path: Path, words: str) -> None:
    verdict = asked(
        tmp_path, {"driver.log": READY + "(TrainWorker pid=5101, ip=10.3.0.5) step 10 loss 3.1\n" + words}
    )
    assert verdict.cause == "killed" and culprits(verdict) == [3]


STEPS = "".join(f"2025-01-01 10:0{n}:00 INFO step {n}\n" for n in range(3))
HANDLED = """2025-01-01 10:03:00 ERROR push failed: Traceback (most recent call last):
  File "/w/push.py", line 8, in push
    post(url)
ConnectTimeout: pushgw
2025-01-01 10:03:01 INFO will be retried
"""
UNCAUGHT = """Traceback (most recent call last):
  File "/w/tr.py", line 90, in <module>
    main()
  File "/w/data.py", line 14, in collate
    raise ValueError("empty batch")
ValueError: empty batch
"""
LOST = """Traceback (most recent call last):
  File "/w/tr.py", line 90, in <module>
    main()
  File "/w/tr.py", line 71, in main
    dist.all_reduce(loss)
RuntimeError: [../third_party/gloo/gloo/transport/tcp/{words}
"""
CLOSED = LOST.format(words="pair.cc:547] Connection closed by peer [10.0.0.5]:1234")
IN_VAIN = LOST.format(
    words="unbound_buffer.cc:81] Timed out waiting 1800000ms for recv operation to complete"
)


def test_who_dealt_with_an_exception_is_not_blamed_beside_who_did_not(tmp_path: Path) -> None:
    files = {f"rank_{n}.log": STEPS + CLOSED for n in range(3)}
    files |= {"rank_3.log": STEPS + HANDLED + CLOSED, "rank_1.log": STEPS + UNCAUGHT}
    assert culprits(asked(tmp_path, files)) == [1]


def test_of_one_rank_the_exception_counts_that_nobody_caught(tmp_path: Path) -> None:
    verdict = asked(tmp_path, {"rank_0.log": STEPS + CLOSED, "rank_1.log": STEPS + HANDLED + UNCAUGHT})
    assert culprits(verdict) == [1] and verdict.location is not None
    assert verdict.location.file == "/w/data.py"


def test_who_raised_nothing_where_all_others_waited_in_vain(tmp_path: Path) -> None:
    files = {f"rank_{n}.log": STEPS + ("" if n == 2 else IN_VAIN) for n in range(4)}
    verdict = asked(tmp_path, files)
    assert suspects(verdict) == [2] and not culprits(verdict)
    everyone = {f"rank_{n}.log": STEPS + IN_VAIN for n in range(4)}
    assert not suspects(asked(tmp_path, everyone))


GAVE_UP = (
    "[rank{r}]:[E401 10:31:19.310440000 ProcessGroupNCCL.cpp:632] [Rank {r}] Watchdog caught collective operation "
    "timeout: WorkNCCL(SeqNum=4, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=1800000) ran for 1800051 "
    "milliseconds before timing out.\n[rank{r}]:[E401 10:31:19.310644117 ProcessGroupNCCL.cpp:2268] [PG ID 0 PG GUID "
    "0(default_pg) Rank {r}]  failure detected by watchdog at work sequence id: 4 PG status: last enqueued work: 4, "
    "last completed work: 3\n"
)
TOLD = (
    "[rank0]:[E401 10:31:20.551200814 ProcessGroupNCCL.cpp:1682] [PG ID 0 PG GUID 0(default_pg) Rank 0] Observed flight "
    "recorder dump signal from another rank via TCPStore.\n[rank0]:[E401 10:31:20.551388120 ProcessGroupNCCL.cpp:1743] "
    "[PG ID 0 PG GUID 0(default_pg) Rank 0] Received a dump signal due to a collective timeout from  rank 2 and we will "
    "try our best to dump the debug info. Last enqueued NCCL work: 3, last completed NCCL work: 3.\n"
)
BEFORE = "2025-04-01 10:20:00 INFO rank 0: tokenised 400 of 1200 files\n2025-04-01 10:30:00 INFO rank 0: tokenised 700 of 1200 files\n"


@pytest.mark.parametrize(
    ("after", "cause"),
    [
        ("2025-04-01 10:52:02 INFO rank 0: corpus saved in 3102 s\n", "too_short_timeout"),
        ("2025-04-01 10:40:02 INFO rank 0: tokenised 900 of 1200 files\n", "host_slow"),
        ("", "host_blocked"),
        # What stood in a buffer, and what the launcher says, is no work.
        ("2025-04-01 10:30:30 INFO rank 0: tokenised 720 of 1200 files\n", "host_blocked"),
        ("2025-04-01 10:52:02 INFO rank 0: saved the stack trace of the failure\n", "host_blocked"),
    ],
)
def test_who_goes_on_behind_the_watchdogs_is_late_and_not_stuck(
    tmp_path: Path, after: str, cause: str
) -> None:
    files = {f"rank{r}.log": GAVE_UP.format(r=r) for r in (1, 2, 3)}
    verdict = asked(tmp_path, {**files, "rank0.log": BEFORE + TOLD + after})
    assert verdict.cause == cause and culprits(verdict) == [0]
    assert bool(verdict.hang) is (cause == "host_blocked")


def test_a_fault_of_a_device_by_the_process_that_deepspeed_started(tmp_path: Path) -> None:
    log = (
        "[2024-05-08 21:20:15,220] [INFO] [launch.py:145:main] WORLD INFO DICT: {'localhost': [0, 1, 2, 3]}\n"
        + "".join(
            f"[2024-05-08 21:20:15,221] [INFO] [launch.py:253:main] process {3100 + n} spawned with command: ['python', '-u', "
            f"'train.py', '--local_rank={n}']\n"
            for n in range(4)
        )
    )
    xid = "[Thu May  9 02:32:04 2024] NVRM: Xid (PCI:0000:87:00): 119, pid={pid}, name=python3, Timeout after 6s of waiting\n"
    verdict = asked(tmp_path, {"train.log": log, "dmesg.txt": xid.format(pid=3102)})
    assert verdict.cause == "gpu_error" and culprits(verdict) == [2]
    assert not culprits(asked(tmp_path, {"train.log": log, "dmesg.txt": xid.format(pid=999)}))
