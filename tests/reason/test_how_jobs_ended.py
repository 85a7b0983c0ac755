"""Logs alone of jobs that ended: at once, well, from outside, while one rank still worked; and of whom an end is."""

# ruff: noqa: E501 - log lines are as long as they are

from __future__ import annotations

from pathlib import Path

import pytest

import rankandfile
from rankandfile.model.diagnosis import Verdict

TIMEOUT = "[rank{rank}]:[E1112 {at}.101 ProcessGroupNCCL.cpp:632] [Rank {rank}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=77, OpType=ALLREDUCE, NumelIn=64, NumelOut=64, Timeout(ms)=600000) ran for 600021 milliseconds before timing out."


def verdict(folder: Path, files: dict[str, str]) -> Verdict:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return rankandfile.diagnose([folder]).verdicts[0]


def named(found: Verdict) -> list[int]:
    return [one.rank for one in found.culprits]


def suspected(found: Verdict) -> list[int]:
    return [one.rank for one in (*found.culprits, *found.suspects)]


def steps(
    first: int, last: int, words: str = "[2025-11-12 08:{:02}:{:02}] step {} loss 2.1 lr 0.0003"
) -> str:
    """A step every ten seconds from eight o'clock on."""
    return "".join(words.format(n // 6, n % 6 * 10, n) + "\n" for n in range(first, last))


def waits(ranks: tuple[int, ...], at: str = "08:20:00") -> str:
    return "".join(TIMEOUT.format(rank=rank, at=at) + "\n" for rank in ranks)


TABLE = """\
W1112 08:10:03.120000 900 torch/distributed/elastic/multiprocessing/api.py:897] Sending process 901 closing signal SIGTERM
E1112 08:10:03.400000 900 torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: {code}) local_rank: 2 (pid: 903) of binary: /usr/bin/python
============================================================
fit.py FAILED
------------------------------------------------------------
Failures:
  <NO_OTHER_FAILURES>
------------------------------------------------------------
Root Cause (first observed failure):
[0]:
  time      : 2025-11-12_08:10:03
  host      : ab12
  rank      : {rank} (local_rank: 2)
  exitcode  : {code} (pid: 903)
  error_file: <N/A>
  traceback : Signal {signal} received by PID 903
============================================================
"""
PRTE = """\
--------------------------------------------------------------------------
prterun detected that one or more processes exited with non-zero status,
thus causing the job to be terminated. The first process to do so was:

   Process name: [prterun-m01-4410@1,{rank}]
   Exit code:    {code}
--------------------------------------------------------------------------
"""
ORTE = """\
mpiexec detected that one or more processes exited with non-zero status, thus causing
the job to be terminated. The first process to do so was:

  Process name: [[43917,1],{rank}]
  Exit code:    {code}
"""
LONG_NAME = """\
mpirun noticed that process rank {rank} with PID 88123 on node
node-with-a-rather-long-name.cluster.example exited on signal 9 (Killed).
"""
HYDRA = """\
===================================================================================
=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES
=   RANK {rank} PID 4711 RUNNING AT m03
=   KILLED BY SIGNAL: 11 (Segmentation fault)
===================================================================================
"""
ABORT = """\
MPI_ABORT was invoked on rank {rank} in communicator MPI_COMM_WORLD
  Proc: [[1,1],{rank}]
with errorcode 17.
"""


@pytest.mark.parametrize(
    "text", [PRTE, ORTE, LONG_NAME, HYDRA, ABORT], ids=["prrte", "orte", "wrapped", "hydra", "abort"]
)
def test_launchers_of_mpi_say_who_ended_the_job(tmp_path: Path, text: str) -> None:
    lost = "m02:70:99 [1] misc/socket.cc:49 NCCL WARN socketProgress: Connection closed by remote peer m03<52006>\n"
    raised = 'Traceback (most recent call last):\n  File "/w/solve.py", line 9, in <module>\n    comm.allReduce(a, b)\ncupy_backends.cuda.libs.nccl.NcclError: NCCL_ERROR_REMOTE_ERROR: remote process exited or there was a network error\n'
    found = verdict(tmp_path, {"job.log": steps(0, 40) + lost + raised + text.format(rank=5, code=3)})
    assert named(found) == [5]
    assert found.hang is None
    assert found.cause in ("killed", "exited")


def test_a_rank_that_fails_breaks_a_job_off_and_one_that_others_wait_for_hangs_it(tmp_path: Path) -> None:
    raised = "".join(
        f"[rank6]: {line}\n"
        for line in (
            "Traceback (most recent call last):",
            '  File "/w/data/pack.py", line 31, in pack',
            "    raise IndexError(i)",
            "IndexError: 4096",
        )
    )
    ended = TABLE.format(rank=6, code=1, signal="?").replace(
        "Signal ? received by PID 903", "To enable traceback see"
    )
    at_once = verdict(tmp_path / "at_once", {"job.log": steps(0, 60) + raised + ended})
    assert (named(at_once), at_once.cause, at_once.hang) == ([6], "raised", None)
    waited = verdict(
        tmp_path / "waited", {"job.log": steps(0, 60) + raised + waits((0, 1, 2, 3, 4, 5, 7)) + ended}
    )
    assert (named(waited), waited.cause, waited.hang) == ([6], "raised", True)


@pytest.mark.parametrize(
    "line",
    [
        "Memory access fault by GPU node-4 (Agent handle: 0x55d) on address 0x7f0. Reason: Unknown.",
        ":0:rocdevice.cpp :2984: Callback: Queue 0x7f error: HSA_STATUS_ERROR_EXCEPTION: An HSAIL operation resulted in a hardware exception. code: 0x1016",
    ],
)
def test_a_devices_last_line_without_a_rank_is_of_the_one_that_aborted(tmp_path: Path, line: str) -> None:
    text = steps(0, 50) + line + "\n" + TABLE.format(rank=10, code=-6, signal="6 (SIGABRT)")
    found = verdict(tmp_path, {"slurm-1.out": text})
    assert (named(found), found.cause, found.hang) == ([10], "gpu_error", None)
    assert "Xid" not in str(rankandfile.diagnose([tmp_path]))


def test_a_devices_last_line_is_nobodys_where_two_aborted(tmp_path: Path) -> None:
    row = "[1]:\n  time      : 2025-11-12_08:10:03\n  host      : ab12\n  rank      : 11 (local_rank: 3)\n  exitcode  : -6 (pid: 904)\n  error_file: <N/A>\n  traceback : Signal 6 (SIGABRT) received by PID 904\n"
    table = TABLE.format(rank=10, code=-6, signal="6 (SIGABRT)").replace("  <NO_OTHER_FAILURES>\n", row)
    found = verdict(
        tmp_path, {"o.log": "HW Exception by GPU node-4 (Agent handle: 0x5) reason :GPU Hang\n" + table}
    )
    assert not found.culprits


@pytest.mark.parametrize(
    "last",
    [
        "I1112 09:01:00.001 700 torch/distributed/elastic/agent/server/api.py:946] [default] worker group successfully finished. Waiting 300 seconds for other agents to finish.\nI1112 09:01:02.001 700 torch/distributed/elastic/agent/server/api.py:960] Done waiting for other agents. Elapsed: 2.0004 seconds\n",
        "------------------------------------------\nJob 'raysubmit_Hx7' succeeded\n------------------------------------------\n",
        "2025-11-12 09:01:00,100 INFO run.py: All 16 processes finished successfully\n",
        "2025-11-12 09:01:00,100 sagemaker-training-toolkit INFO     Reporting training SUCCESS\n",
    ],
)
def test_a_job_that_went_to_its_end_did_not_hang(tmp_path: Path, last: str) -> None:
    noise = "[Wed Nov 12 08:02:11 2025] NVRM: Xid (PCI:0000:3b:00): 63, pid='<unknown>', name=<unknown>, Row Remapper: New row marked for remapping, reset gpu to activate.\n"
    found = verdict(tmp_path / "well", {"job.log": steps(0, 70) + last, "dmesg.txt": noise})
    assert (found.cause, found.hang, found.culprits) == ("no_hang", False, [])
    hung = verdict(tmp_path / "hung", {"job.log": steps(0, 70) + waits((0, 1, 3)) + last})
    assert hung.cause != "no_hang"


def test_xids_that_inform_accuse_nobody_and_others_do(tmp_path: Path) -> None:
    line = "[88121.{n:06}] NVRM: Xid (PCI:0000:3b:00): {code}, pid=412, name=python3, {what}\n"
    told = {
        63: "Row Remapper",
        154: "GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)",
        92: "High single-bit ECC error rate",
    }
    quiet = "".join(line.format(n=n, code=code, what=what) for n, (code, what) in enumerate(told.items()))
    assert verdict(tmp_path / "quiet", {"dmesg": quiet, "a.log": steps(0, 9)}).cause != "gpu_error"
    assert (
        verdict(
            tmp_path / "loud", {"dmesg": quiet + line.format(n=9, code=48, what="DBE"), "a.log": steps(0, 9)}
        ).cause
        == "gpu_error"
    )


@pytest.mark.parametrize("why", ["DUE TO TIME LIMIT ***", "DUE TO PREEMPTION ***", "***"])
def test_a_job_that_moved_until_it_was_ended_did_not_hang(tmp_path: Path, why: str) -> None:
    end = f"slurmstepd: error: *** STEP 4.0 ON c1 CANCELLED AT 2025-11-12T08:10:06 {why}\nsrun: error: c1: task 0: Terminated\n"
    found = verdict(tmp_path / "moved", {"slurm-4.out": steps(0, 60) + end})
    assert (found.cause, found.hang, found.culprits) == ("no_hang", False, [])
    stood = verdict(tmp_path / "stood", {"slurm-4.out": steps(0, 60) + end.replace("08:10:06", "11:40:00")})
    if "PREEMPTION" not in why:
        assert stood.cause != "no_hang"
    assert stood.cause != "no_hang" or stood.confidence == "hypothesis"


def test_a_rank_still_at_work_when_the_others_gave_up_did_not_hang(tmp_path: Path) -> None:
    work = steps(0, 130, "2025-11-12 08:{:02}:{:02} | rank 2 | hashed shard {} of 4096")
    found = verdict(tmp_path / "works", {"all.log": work + waits((0, 1, 3))})
    assert (suspected(found), found.cause, found.hang) == ([2], "too_short_timeout", None)
    assert "hashed shard 129" in found.sentence
    stopped = steps(0, 30, "2025-11-12 08:{:02}:{:02} | rank 2 | hashed shard {} of 4096")
    found = verdict(tmp_path / "stopped", {"all.log": stopped + waits((0, 1, 3))})
    assert found.cause != "too_short_timeout"
    tries = steps(0, 130, "2025-11-12 08:{:02}:{:02} | rank 2 | connection refused, retry {}")
    assert verdict(tmp_path / "tries", {"all.log": tries + waits((0, 1, 3))}).cause != "too_short_timeout"


KILLED = "[91121.120441] Memory cgroup out of memory: Killed process 551 (pt_main_thread) total-vm:9kB, anon-rss:90000kB\n"
DESCRIBED = "Name:             sft-{n}\nNamespace:        ml\nContainers:\n  main:\n    State:          Terminated\n      Reason:       OOMKilled\n      Exit Code:    137\n"


def test_the_one_end_that_is_told_is_of_the_one_that_is_missing(tmp_path: Path) -> None:
    found = verdict(tmp_path / "one", {"job.log": steps(0, 50) + waits((0, 1, 3)), "dmesg.txt": KILLED})
    assert (named(found), found.cause) == ([2], "killed")
    two = KILLED + KILLED.replace("551", "552")
    assert not named(
        verdict(tmp_path / "two", {"job.log": steps(0, 50) + waits((0, 1, 3)), "dmesg.txt": two})
    )


def test_a_pod_that_ended_is_of_the_missing_ranks_and_not_where_one_of_its_ranks_waits(
    tmp_path: Path,
) -> None:
    logs = {f"logs/sft-{n}.log": waits((2 * n, 2 * n + 1)) for n in (0, 2)} | {"logs/sft-1.log": steps(0, 9)}
    found = verdict(tmp_path / "gone", {**logs, "pod.txt": DESCRIBED.format(n=1)})
    assert (named(found), found.cause) == ([2, 3], "killed")
    carried = "".join(f"[pod/sft-0/main] {line}\n" for line in waits((0, 1, 3)).splitlines())
    assert not named(verdict(tmp_path / "waits", {"all.log": carried, "pod.txt": DESCRIBED.format(n=0)}))


def init(rank: int, host: str, pid: int, phase: str) -> str:
    return f"{host}:{pid}:{pid + 90} [{rank % 4}] NCCL INFO ncclCommInitRankConfig comm 0x55{rank:02x} rank {rank} nranks 8 cudaDev {rank % 4} nvmlDev {rank % 4} busId {rank}b000 commId 0x7ea1 - {phase}\n"


@pytest.mark.parametrize(
    "said", ["", "[rank3]: waiting for lock file /nfs/cache/tok.lock (cache.py:118)\n[rank1]: ready\n"]
)
def test_who_has_not_begun_nccls_setup_is_waited_for(tmp_path: Path, said: str) -> None:
    begun = "".join(init(rank, f"n{rank // 4}", 100 + rank, "Init START") for rank in range(8) if rank != 3)
    found = verdict(tmp_path, {"nohup.out": said + begun})
    assert (suspected(found), found.cause) == ([3], "init_stuck")
    assert bool(named(found)) == bool(said)
    done = begun + "".join(init(rank, f"n{rank // 4}", 100 + rank, "Init COMPLETE") for rank in range(8))
    assert verdict(tmp_path / "done", {"nohup.out": done}).cause != "init_stuck"


def test_a_hosts_log_is_of_all_its_ranks_and_its_devices_tell_them_apart(tmp_path: Path) -> None:
    event = (
        "node-2:33:44 [1] transport/net_ib.cc:126 NCCL WARN NET/IB : mlx5_1:1 Got async event : port error\n"
    )
    lost = "node-1:21:31 [1] transport/net_ib/p2p.cc:418 NCCL WARN NET/IB: Got completion from peer 10.0.0.2<381> with status=IBV_WC_RETRY_EXC_ERR(12) opcode=IBV_WC_RDMA_WRITE(1) vendor_err=129  hca mlx5_1\n"
    logs = {
        "node-1.log": steps(0, 9) + lost + waits((0, 2, 3)),
        "node-2.log": steps(0, 9) + event + waits((4, 6, 7)),
    }
    logs = {
        name: text + "".join(f"[rank{r}]: bye\n" for r in ((0, 1, 2, 3) if name < "node-2" else (4, 5, 6, 7)))
        for name, text in logs.items()
    }
    found = verdict(tmp_path, logs)
    assert (named(found), found.cause) == ([5], "link_error")


def test_devices_tell_no_ranks_apart_where_each_process_sees_one(tmp_path: Path) -> None:
    lines = "".join(
        f"node-2:{pid}:44 [0] transport/net_ib.cc:126 NCCL WARN NET/IB : mlx5_{pid}:1 Got async event : port error\n"
        for pid in (33, 34)
    )
    text = lines + "".join(f"[rank{rank}]: bye\n" for rank in (4, 5, 6, 7))
    assert not verdict(tmp_path, {"node-2.log": text}).culprits


def test_what_a_launcher_exits_with_is_no_end_of_the_one_that_is_missing(tmp_path: Path) -> None:
    text = steps(0, 50) + waits((0, 1, 3)) + "srun: error: c1: task 0: Exited with exit code 1\n"
    assert not named(verdict(tmp_path, {"slurm-9.out": text}))


@pytest.mark.parametrize(
    "event",
    [
        "5m   Normal   Preempted            pod/sft-1-x   Preempted by pod 5e1f on node gke-a\n",
        "5m   Warning  Terminated           pod/sft-1-x   Pod was terminated in response to imminent node shutdown.\n",
        "5m   Warning  Evicted              pod/sft-1-x   The node was low on resource: memory. Threshold quantity: 100Mi\n",
    ],
)
def test_a_pod_that_its_cluster_ended(tmp_path: Path, event: str) -> None:
    found = verdict(tmp_path, {"all.log": steps(0, 30) + waits((0, 2, 3)), "events.txt": event})
    assert (named(found), found.cause) == ([1], "killed")


def test_a_shell_says_whom_it_lost(tmp_path: Path) -> None:
    shell = "/var/spool/run.sh: line 14: 40112 Killed                  python -u fit.py --rank 2\n"
    found = verdict(tmp_path, {"run.out": steps(0, 30) + waits((0, 1, 3)) + shell})
    assert (named(found), found.cause) == ([2], "killed")


def test_a_container_that_was_not_killed_for_memory_is_not_said_to_be(tmp_path: Path) -> None:
    state = '[{"State": {\n  "Status": "exited",\n  "OOMKilled": false,\n  "ExitCode": 0\n}}]\n'
    found = verdict(tmp_path, {"inspect.txt": state, "a.log": steps(0, 9)})
    assert found.cause != "killed"


SIGNAL = "[rank2]:[E1112 {at}.881 ProcessGroupNCCL.cpp:1746] [PG ID 0 PG GUID 0(default_pg) Rank 2] Received a dump signal due to a collective timeout from  rank 1 and we will try our best to dump the debug info. Last enqueued NCCL work: 90, last completed NCCL work: 90.\n"


@pytest.mark.parametrize(
    "count",
    ["uploaded part {n} of 400", "shard {n}% packed", "wrote {n}/400 rows"],
    ids=["of", "percent", "slash"],
)
@pytest.mark.parametrize("late", [True, False])
def test_work_in_another_file_behind_what_the_others_gave_up_on(
    tmp_path: Path, count: str, late: bool
) -> None:
    """The one that was late gives up on nothing, and hears of it when its own work is done."""
    last = 130 if late else 110
    work = steps(80, last, f"[2025-11-12 08:{{:02}}:{{:02}}] {count.replace('{n}', '{}')}")
    logs = {f"{rank}/stderr.log": steps(0, 30) + waits((rank,)) for rank in (0, 1, 3)}
    found = verdict(tmp_path, {**logs, "2/stderr.log": work + SIGNAL.format(at="08:31:00")})
    assert suspected(found) == [2]
    if late:
        assert found.cause in ("host_slow", "too_short_timeout")
        assert "129" in found.sentence
        assert "held up on the host" not in str(found.sentence)
    else:
        assert found.cause not in ("host_slow", "too_short_timeout")
