"""What is left of jobs that launchers, clusters and other programs than torch ran: who ended first, and who only waited."""

# ruff: noqa: E501 - log lines are as long as they are

from __future__ import annotations

import json
from pathlib import Path

import pytest

import rankandfile
from rankandfile.model.diagnosis import Verdict


def verdict(folder: Path, files: dict[str, str]) -> Verdict:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return rankandfile.diagnose([folder], jobs=1).verdicts[0]


def sure(found: Verdict) -> list[int]:
    return [one.rank for one in found.culprits]


def suspected(found: Verdict) -> list[int]:
    return [one.rank for one in found.suspects]


def raised(prefix: str, place: str, error: str) -> str:
    file, line = place.split(":")
    lines = (
        "Traceback (most recent call last):",
        '  File "/w/run.py", line 9, in <module>',
        "    main()",
        f'  File "/w/{file}", line {line}, in step',
        "    x = f(x)",
        error,
    )
    return "".join(f"{prefix}{one}\n" for one in lines)


# MPI's tags.


@pytest.mark.parametrize("tag", ["[1,{}]<stderr>:", "[1,mpirank:{},algo-2]<stderr>:", "[31337,{}]<stderr>: "])
def test_the_tag_of_mpirun_is_the_rank(tmp_path: Path, tag: str) -> None:
    log = "".join(f"{tag.format(rank)}grid part {rank} ready\n" for rank in range(4))
    found = verdict(
        tmp_path,
        {
            "job.out": f"$ mpirun -np 4 python run.py\n{log}{raised(tag.format(2), 'solve.py:31', 'ZeroDivisionError: division by zero')}"
        },
    )
    assert (sure(found), found.cause) == ([2], "raised")
    assert found.location is not None
    assert (found.location.file, found.location.line) == ("/w/solve.py", 31)


def test_the_tag_of_an_agent_is_no_rank(tmp_path: Path) -> None:
    """One process of mpirun on each host starts four ranks there."""
    log = "[1,0]<stderr>:[rank3]: loaded\n[1,1]<stderr>:[rank6]: loaded\n" + raised(
        "[1,1]<stderr>:", "solve.py:31", "ZeroDivisionError: division by zero"
    )
    found = verdict(tmp_path, {"job.out": log})
    assert sure(found) == []


# Jobs that were ended, started anew, or came up.


def steps(first: int, last: int, minute: int, rank: int = 0) -> str:
    return "".join(
        f"2026-03-02 10:{minute + n // 6:02}:{n % 6 * 10:02} rank {rank} it {first + n} loss {1 / (n + 1):.4f}\n"
        for n in range(last - first)
    )


def test_a_job_that_was_started_anew_and_then_stopped_by_hand_did_not_hang(tmp_path: Path) -> None:
    failed = raised(
        "",
        "fit.py:12",
        "RuntimeError: [/t/gloo/transport/tcp/unbound_buffer.cc:81] Timed out waiting 60000ms for recv operation to complete",
    )
    agent = "[2026-03-02 10:20:00,100] torch.distributed.elastic.agent.server.api: [INFO] [default] Worker group FAILED. 2/3 attempts left; will restart worker group\n  restart_count=1\n"
    end = "^C[2026-03-02 10:36:44,100] torch.distributed.elastic.agent.server.api: [WARNING] Received 2 death signal, shutting down workers\n"
    found = verdict(tmp_path, {"node.log": steps(0, 60, 5) + failed + agent + steps(60, 150, 22) + end})
    assert (found.hang, found.cause) == (False, "no_hang")
    assert "earlier attempt" in found.sentence


def test_a_job_that_is_started_anew_and_fails_again_is_told_by_its_last_attempt(tmp_path: Path) -> None:
    first = raised("[rank1]: ", "data.py:5", "OSError: stale file handle")
    agent = "[2026-03-02 10:20:00,100] torch.distributed.elastic.agent.server.api: [INFO] Restarting worker group\n"
    second = raised("[rank2]: ", "loss.py:8", "ValueError: bad label")
    found = verdict(tmp_path, {"node.log": steps(0, 60, 5) + first + agent + steps(60, 90, 22) + second})
    assert sure(found) == [2]


def test_retries_that_worked_are_no_failure_of_a_job_that_its_scheduler_ended(tmp_path: Path) -> None:
    retried = (
        "2026-03-02 10:06:00 rank 1 read failed, again in 2 s\n"
        + 'Traceback (most recent call last):\n  File "/w/io.py", line 40, in fetch\n    return get(url)\nTimeoutError: the read operation timed out\n'
    )
    slurm = "slurmstepd: error: *** STEP 77.0 ON n1 CANCELLED AT 2026-03-02T10:20:05 DUE TO TIME LIMIT ***\n"
    found = verdict(tmp_path, {"slurm.out": steps(0, 12, 4) + retried + steps(12, 90, 7) + slurm})
    assert (found.hang, found.cause) == (False, "no_hang")


SLOW = "(EngineCore_DP0 pid=90) INFO 02-03 09:0{}:00 [shm_broadcast.py:466] No available shared memory broadcast block found in 60 seconds. This typically happens when some processes are hanging.\n"


@pytest.mark.parametrize(
    "came_up",
    [
        "(APIServer pid=1) INFO:     Application startup complete.\n",
        "".join(
            f"(APIServer pid=1) INFO 02-03 09:1{n}:00 [loggers.py:127] Engine 000: Avg prompt throughput: {90 + n}.5 tokens/s, Running: {n} reqs, Waiting: 0 reqs\n"
            for n in range(5)
        ),
    ],
)
def test_a_server_that_came_up_late_did_not_hang(tmp_path: Path, came_up: str) -> None:
    waits = SLOW.format(4) + SLOW.format(5)
    assert verdict(tmp_path / "up", {"serve.log": waits + came_up}).hang is False
    still = "(APIServer pid=1) INFO 02-03 09:19:00 [loggers.py:127] Engine 000: Avg prompt throughput: 0.0 tokens/s, Running: 2 reqs, Waiting: 3 reqs\n"
    assert verdict(tmp_path / "not", {"serve.log": waits + still * 5}).hang is not False


# Pods.


def pod_of(rank: int, line: str) -> str:
    return (
        json.dumps(
            {"message": line, "podName": f"emb-{rank}", "containerName": "main", "nodeName": f"n{rank}"}
        )
        + "\n"
    )


@pytest.mark.parametrize(
    "says", ["rank {}/4 ready", "RANK={} WORLD_SIZE=4", "process {} of 4, 8 local devices"]
)
@pytest.mark.parametrize(
    "told",
    [
        "NAME    READY   STATUS      RESTARTS   AGE\nemb-2   0/1     OOMKilled   0          9m\n",
        "kind: Pod\nmetadata:\n  name: emb-2\nspec:\n  containers:\n  - name: main\nstatus:\n  containerStatuses:\n  - name: main\n    state:\n      terminated:\n        exitCode: 137\n        reason: OOMKilled\n",
        "Name:             emb-2\nStatus:           Failed\n    State:          Terminated\n      Reason:       OOMKilled\n      Exit Code:    137\n",
    ],
)
def test_a_pod_is_the_rank_that_its_lines_name(tmp_path: Path, says: str, told: str) -> None:
    logs = "".join(pod_of(rank, says.format(rank)) for rank in range(4))
    found = verdict(tmp_path, {"stern.jsonl": logs, "kubectl.txt": told})
    assert (sure(found), found.cause) == ([2], "killed")


def test_a_pod_that_was_never_scheduled_is_the_rank_that_is_left(tmp_path: Path) -> None:
    logs = "".join(f"[pod/bert-{rank}/main] RANK={rank} WORLD_SIZE=4\n" for rank in range(3))
    logs += "[pod/bert-0/main] torch.distributed.DistStoreError: Timed out after 601 seconds waiting for clients. 3/4 clients joined.\n"
    found = verdict(
        tmp_path,
        {
            "logs.txt": logs,
            "pods.txt": "NAME     READY   STATUS    RESTARTS   AGE\nbert-3   0/1     Pending   0          12m\n",
        },
    )
    assert (sure(found), found.cause) == ([3], "init_stuck")


def test_events_of_a_cluster_tell_which_rank_it_took_away(tmp_path: Path) -> None:
    logs = "".join(
        f"[pod/tpu-{rank}-x/main] jax.process_index()={rank} jax.process_count()=4\n" for rank in range(4)
    )
    lost = "tasks are unhealthy (stopped sending heartbeats):\n[pod/tpu-0-x/main] /job:jax_worker/replica:0/task:1\n"
    event = {
        "type": "Normal",
        "reason": "TaintManagerEviction",
        "message": "Marking for deletion Pod ft/tpu-1-x",
        "involvedObject": {"kind": "Pod", "name": "tpu-1-x"},
        "lastTimestamp": "2026-03-02T10:00:00Z",
    }
    found = verdict(
        tmp_path,
        {
            "logs.txt": f"{logs}[pod/tpu-0-x/main] F0302 10:02:00.1 9 client.h:77] UNAVAILABLE: The following {lost}",
            "events.json": json.dumps({"kind": "List", "items": [event]}),
        },
    )
    assert (sure(found), found.cause) == ([1], "killed")
    assert "dump" not in " ".join(
        f"{one.what} {one.how}" for one in found.missing_evidence if "py-spy" not in one.how
    )


def test_tasks_without_heartbeats_and_nothing_else_are_suspected(tmp_path: Path) -> None:
    logs = "".join(f"w-{n} | process {n} of 4\n" for n in range(4))
    lost = "w-0 | E0302 10:02:00.1 9 x.cc:7] UNAVAILABLE: The following tasks are unhealthy (stopped sending heartbeats):\nw-0 | /job:jax_worker/replica:0/task:3\n"
    found = verdict(tmp_path, {"compose.log": logs + lost})
    assert (sure(found), suspected(found)) == ([], [3])


# HCCL.


def notify(rank: int, peer: str, device: str) -> str:
    return raised(
        f"[rank{rank}]: ", "run.py:40", "RuntimeError: ACL stream synchronize failed, error code:507048"
    ) + (
        f"EI0002: [PID: {900 + rank}] The wait execution of the Notify register times out. Reason: The Notify register has not received the Notify record from remote rank: [unknown]. base information: [tag[AllReduce_10.0.0.1%eth0_60000_0_17], ]\n"
        f"        Cluster Exception Location[IP/ID]:[{peer}/{device}], Arrival Time:[Mon], Discoverer:[{peer}/0], ExceptionType:[Heartbeat Lost Occurred], Possible Reason:1. Process has exited\n"
        "]. group information: [rankSize[8], rankId[0].]\n"
    )


def test_who_waited_for_a_notification_of_hccl_did_not_fail(tmp_path: Path) -> None:
    found = verdict(
        tmp_path,
        {"npu.log": "import torch_npu\n" + "".join(notify(rank, "10.0.0.2", "3") for rank in range(4))},
    )
    assert sure(found) == []
    assert suspected(found) == [7]


def test_on_the_host_of_the_root_a_device_is_its_rank(tmp_path: Path) -> None:
    found = verdict(
        tmp_path, {"npu.log": "".join(notify(rank, "10.0.0.1", "5") for rank in (0, 1, 2, 3, 4, 6, 7))}
    )
    assert (sure(found), suspected(found)) == ([], [5])


def test_a_fault_of_an_npu_is_its_rank_s_own(tmp_path: Path) -> None:
    fault = raised(
        "[rank5]: ",
        "run.py:40",
        "RuntimeError: NPU function error: HBM MULTI BIT ECC ERROR, error code is 507054",
    )
    waits = "".join(notify(rank, "10.0.0.1", "5") for rank in (0, 1, 2, 3, 4, 6, 7))
    found = verdict(tmp_path, {"npu.log": f" [2026-03-02 10:00:00] iteration 1\n{fault}{waits}"})
    assert (sure(found), found.cause) == ([5], "gpu_error")


# Who is missing, who was at work, who never met.


def timeout(rank: int, seq: int = 9) -> str:
    return f"[rank{rank}]:[E ProcessGroupNCCL.cpp:523] [Rank {rank}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum={seq}, OpType=ALLREDUCE, NumelIn=4, NumelOut=4, Timeout(ms)=600000) ran for 600010 milliseconds before timing out.\n"


def test_an_exception_that_ended_a_process_is_of_the_one_rank_that_is_missing(tmp_path: Path) -> None:
    handled = 'Traceback (most recent call last):\n  File "/w/img.py", line 4, in safe_open\n    return open(p)\nOSError: bad image\n'
    found = verdict(
        tmp_path,
        {
            "n0.log": "".join(timeout(rank) for rank in range(4)),
            "n1.log": handled
            + raised("", "collate.py:66", "KeyError: 'caption'")
            + "".join(timeout(rank) for rank in (4, 5, 7)),
        },
    )
    assert (sure(found), found.cause) == ([6], "raised")
    assert found.location is not None
    assert found.location.line == 66


def test_processes_that_an_agent_ends_are_no_progress(tmp_path: Path) -> None:
    agent = "".join(
        f"[2026-03-02 10:31:00,0{n}0] torch.distributed.elastic.multiprocessing.api: [WARNING] Sending process {330 + n} closing signal SIGTERM\n"
        for n in range(8)
    )
    found = verdict(tmp_path, {"n0.log": "".join(timeout(rank) for rank in range(3)) + agent})
    assert found.cause != "too_short_timeout"


def test_who_caught_an_exception_before_the_call_in_which_all_wait_is_suspected(tmp_path: Path) -> None:
    oom = "10:01:00 | WARNING | trainer r3 | CUDA out of memory. Tried to allocate 2.00 GiB (GPU 3; 23.6 GiB total capacity), skipping batch\n"
    found = verdict(tmp_path, {"nohup.out": oom + "".join(timeout(rank) for rank in range(6))})
    assert (sure(found), suspected(found), found.cause) == ([], [3], "swallowed_exception")


def test_a_rank_that_still_copies_when_a_barrier_gives_up_is_late_and_not_lost(tmp_path: Path) -> None:
    copies = "".join(f"2026-03-02 10:0{n}:00,000 [rank 2] copied {n * 10} of 100 shards\n" for n in range(10))
    waits = "[E302 10:06:00.1 ProcessGroupGloo.cpp:138] [Rank 0]: Rank 2 failed to pass monitoredBarrier in 300000 ms\n"
    found = verdict(
        tmp_path,
        {
            "a.log": "2026-03-02 10:00:00,000 [rank 0] ready\n2026-03-02 10:00:01,000 [rank 1] ready\n"
            + waits,
            "b.log": copies,
        },
    )
    assert (sure(found), suspected(found), found.cause) == ([], [2], "too_short_timeout")
    assert found.hang is None


@pytest.mark.parametrize("unit", ["1800s", "1800000ms"])
def test_whom_the_store_lacks_are_those_that_never_reached_it(tmp_path: Path, unit: str) -> None:
    files = {
        f"log-{node}.txt": "".join(
            f"[n{node}] rank {rank} starts\n" for rank in range(node * 2, node * 2 + 2)
        )
        for node in range(4)
    }
    files["log-0.txt"] += (
        "torch.distributed.DistStoreError: Timed out after 1801 seconds waiting for clients. 6/8 clients joined.\n"
    )
    files["log-3.txt"] += (
        f"[E socket.cpp:719] [c10d] The client socket has timed out after {unit} while trying to connect to (n0, 29500).\n"
        * 2
    )
    found = verdict(tmp_path, files)
    assert (sure(found), found.cause) == ([6, 7], "init_stuck")


def test_what_is_read_of_hosts_is_in_the_answer(tmp_path: Path) -> None:
    xid = json.dumps(
        {
            "log": "NVRM: Xid (PCI:0000:ab:00): 79, GPU has fallen off the bus.",
            "host": "gpu-w-5",
            "tag": "kmsg",
        }
    )
    found = verdict(
        tmp_path,
        {
            "all.ndjson": f"{xid}\n{xid}\n",
            "job.log": "".join(timeout(rank) for rank in (0, 1, 3))
            + raised("[rank2]: ", "run.py:4", "RuntimeError: CUDA error: unspecified launch failure"),
        },
    )
    assert sure(found) == [2]
    assert "Xid" in found.sentence
    assert "gpu-w-5" in found.sentence


def test_a_rank_that_skipped_and_stands_elsewhere_is_suspected(tmp_path: Path) -> None:
    def line(rank: int, text: str) -> str:
        return (
            json.dumps({"jsonPayload": {"message": text, "rank": rank}, "timestamp": "2026-03-02T10:00:00Z"})
            + "\n"
        )

    log = "".join(line(rank, f"step {n} loss 0.{n}") for n in range(4) for rank in range(4))
    odd = line(1, "WARNING step 4: grad not finite, batch skipped")
    ends = "".join(
        line(rank, "validation, gathering" if rank == 1 else "still in backward of step 9")
        for rank in range(4)
    )
    found = verdict(tmp_path, {"gcp.json": log + odd + ends})
    assert (sure(found), suspected(found)) == ([], [1])
