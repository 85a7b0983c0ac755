"""Logs and stacks as people bring them: Ctrl-C, folders of torchrun, newest lines first, retries, work that is done."""

# ruff: noqa: E501 - lines of logs and stacks are as long as they are

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rankandfile import diagnose
from rankandfile.model.diagnosis import Verdict


def asked(folder: Path, files: dict[str, str], *, hung: bool = False) -> Verdict:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return diagnose(folder, hung=hung).verdicts[0]


def culprits(verdict: Verdict) -> list[int]:
    return [one.rank for one in verdict.culprits]


def suspects(verdict: Verdict) -> list[int]:
    return [one.rank for one in verdict.suspects]


# Ctrl-C

STEPS = "".join(
    f"2025-02-11 09:{10 + n // 6:02}:{n % 6 * 10:02} step {n * 20} loss 2.{900 - n}\n" for n in range(40)
)


def interrupted(rank: int, *frames: str) -> str:
    lines = ["Traceback (most recent call last):", *frames, "KeyboardInterrupt"]
    return "".join(f"[rank{rank}]: {line}\n" for line in lines)


REDUCES = (
    '  File "/home/u/seg/run.py", line 71, in <module>',
    "    fit()",
    '  File "/home/u/seg/run.py", line 52, in fit',
    "    dist.all_reduce(grads)",
    '  File "/opt/venv/lib/python3.11/site-packages/torch/distributed/distributed_c10d.py", line 2806, in all_reduce',
    "    work.wait()",
)
READS = (
    '  File "/home/u/seg/run.py", line 71, in <module>',
    "    fit()",
    '  File "/home/u/seg/run.py", line 44, in fit',
    "    rows = source.pull()",
    '  File "/home/u/seg/source.py", line 19, in pull',
    "    return self.queue.get()",
    '  File "/usr/lib/python3.11/queue.py", line 171, in get',
    "    self.not_empty.wait()",
)


@pytest.mark.parametrize("signal", ["2", "Signals.SIGINT"])
def test_who_is_interrupted_while_it_moves_did_not_hang(tmp_path: Path, signal: str) -> None:
    agent = f"^CW0211 09:16:38.120000 4411 torch/distributed/elastic/agent/server/api.py:719] Received {signal} death signal, shutting down workers\n"
    text = STEPS + agent + interrupted(1, *REDUCES) + interrupted(0, *READS)
    verdict = asked(tmp_path, {"console.txt": text})
    assert verdict.cause == "no_hang" and verdict.hang is False
    assert "Ctrl-C" in verdict.sentence and not culprits(verdict)


def test_ctrl_c_on_a_job_that_hung_shows_where_the_ranks_stood(tmp_path: Path) -> None:
    text = STEPS + "".join(interrupted(rank, *REDUCES) for rank in (0, 2)) + interrupted(1, *READS)
    verdict = asked(tmp_path, {"console.txt": text}, hung=True)
    assert verdict.cause == "host_blocked" and (culprits(verdict) or suspects(verdict)) == [1]
    assert verdict.location is not None and verdict.location.line == 19
    assert "raised" not in verdict.sentence


def test_an_interrupt_is_nobodys_exception(tmp_path: Path) -> None:
    verdict = asked(tmp_path, {"console.txt": interrupted(0, *REDUCES) + interrupted(1, *REDUCES)})
    assert verdict.cause != "raised" and not culprits(verdict) and not suspects(verdict)


# Stacks in the folders of torchrun, debuggers, locks

THREAD = "Timeout (0:15:00)!\nThread 0x00007f0d5a1e8740 (most recent call first):\n"
IN_BARRIER = """  File "/opt/py/lib/python3.12/site-packages/torch/distributed/distributed_c10d.py", line 4714, in barrier
  File "/job/loop.py", line 60 in epoch
  File "/job/loop.py", line 90 in <module>
""".replace(", in", " in")
AT_PROMPT = """  File "/opt/py/lib/python3.12/cmd.py", line 126 in cmdloop
  File "/opt/py/lib/python3.12/pdb.py", line 437 in interaction
  File "/job/metric.py", line 33 in check
  File "/job/loop.py", line 58 in epoch
  File "/job/loop.py", line 90 in <module>
"""
AT_LOCK = """  File "/opt/py/lib/python3.12/threading.py", line 359 in wait
  File "/job/metric.py", line 33 in check
  File "/job/loop.py", line 58 in epoch
  File "/job/loop.py", line 90 in <module>
"""


@pytest.mark.parametrize(("odd", "sure"), [(AT_PROMPT, True), (AT_LOCK, False)])
def test_what_torchrun_keeps_of_each_process_of_one_machine(tmp_path: Path, odd: str, sure: bool) -> None:
    stacks = [IN_BARRIER, IN_BARRIER, odd, IN_BARRIER]
    files = {f"run_x/attempt_0/{n}/stderr.log": THREAD + stack for n, stack in enumerate(stacks)}
    verdict = asked(tmp_path, files)
    assert verdict.cause == "host_blocked"
    # A prompt waits until somebody types; a lock may be held for a moment.
    assert (culprits(verdict), suspects(verdict)) == (([2], []) if sure else ([], [2]))
    assert verdict.location is not None and verdict.location.line == 33


def test_folders_of_two_agents_tell_no_ranks(tmp_path: Path) -> None:
    stacks = [IN_BARRIER, AT_PROMPT]
    files = {
        f"{run}/attempt_0/{n}/stderr.log": THREAD + s for run in ("a_1", "a_2") for n, s in enumerate(stacks)
    }
    verdict = asked(tmp_path, files)
    assert not culprits(verdict) and not suspects(verdict)


BUILDS = """Process {pid}: python serve.py
Python v3.12.3 (/usr/bin/python3.12)

Thread {pid} (idle): "MainThread"
    wait (torch/utils/file_baton.py:55)
    _jit_compile (torch/utils/cpp_extension.py:2131)
    load (torch/utils/cpp_extension.py:1681)
    kernels (plug/kernels.py:12)
    <module> (serve.py:8)
"""


def test_all_wait_for_a_lock_that_nobody_of_them_holds(tmp_path: Path) -> None:
    files = {f"rank{n}.txt": BUILDS.format(pid=700 + n) for n in range(2)}
    verdict = asked(tmp_path, files, hung=True)
    assert verdict.cause == "host_blocked" and suspects(verdict) == [0, 1] and not culprits(verdict)
    assert verdict.location is not None and verdict.location.line == 12
    builder = files["rank0.txt"].replace("    wait (torch/utils/file_baton.py:55)\n", "")
    builder = builder.replace("_jit_compile", "_build_extension_module")
    verdict = asked(tmp_path, {"rank0.txt": builder}, hung=True)
    assert not culprits(verdict) and suspects(verdict) != [0, 1]


# Sends

SENDS = """Process {pid}: python stage.py
Python v3.11.9 (/usr/bin/python3.11)

Thread {pid} (idle): "MainThread"
    {op} (torch/distributed/distributed_c10d.py:2162)
    {where}
    <module> (stage.py:80)
"""


def test_two_that_send_to_each_other(tmp_path: Path) -> None:
    log = "stage world_size=2 ready\n"
    first = SENDS.format(pid=41, op="send", where="push (stage.py:31)")
    files = {
        "job.log": log,
        "rank0.txt": first,
        "rank1.txt": SENDS.format(pid=42, op="send", where="pull (stage.py:55)"),
    }
    verdict = asked(tmp_path, files, hung=True)
    assert verdict.cause == "order_inversion" and culprits(verdict) == [0, 1]
    files["rank1.txt"] = SENDS.format(pid=42, op="recv", where="pull (stage.py:55)")
    assert asked(tmp_path, files, hung=True).cause != "order_inversion"


# Newest first


def told(rank: int, at: str, line: str) -> str:
    labels = {"app": "enc", "pod": f"enc-{rank}", "stream": "stdout"}
    return json.dumps({"labels": labels, "line": line, "timestamp": f"2025-03-02T{at}.5Z"}) + "\n"


def ended(late: str) -> list[str]:
    lines = [told(0, f"10:{n:02}:00", f"step {n}/20 loss 0.{n}") for n in range(20)]
    lines += [
        told(rank, f"10:20:0{rank}", f"[rank {rank}] training done after 20 steps") for rank in range(3)
    ]
    lines += [told(rank, f"10:20:1{rank}", f"[rank {rank}] goodbye") for rank in (0, 2)]
    return [*lines, told(1, late, "[rank 1] flushing 12 event files to the collector")]


@pytest.mark.parametrize("backwards", [True, False])
def test_a_rank_that_still_speaks_long_after_all_were_done(tmp_path: Path, backwards: bool) -> None:
    lines = ended("11:05:00")
    verdict = asked(tmp_path, {"loki.jsonl": "".join(lines[::-1] if backwards else lines)})
    assert verdict.cause == "teardown_only" and culprits(verdict) == [1]
    assert "flushing 12 event files" in verdict.sentence


def test_a_rank_that_spoke_a_moment_later_has_not_stayed(tmp_path: Path) -> None:
    verdict = asked(tmp_path, {"loki.jsonl": "".join(ended("10:20:19")[::-1])})
    assert not culprits(verdict) and not suspects(verdict)


def test_a_traceback_that_was_answered_backwards_is_one(tmp_path: Path) -> None:
    lines = [
        "Traceback (most recent call last):",
        '  File "/app/prep.py", line 14, in run',
        "    x = table[key]",
        "KeyError: 'fr'",
    ]
    told_lines = [told(1, f"10:00:0{n}", f"batch {n}") for n in range(5)] + [
        told(1, "10:00:07", line) for line in lines
    ]
    verdict = asked(tmp_path, {"export.jsonl": "".join(told_lines[::-1])})
    assert verdict.cause == "raised" and verdict.location is not None and verdict.location.line == 14


# Exceptions that are logged

KEY_ERROR = """Traceback (most recent call last):
  File "/app/main.py", line 40, in work
    step(batch)
  File "/app/main.py", line 21, in step
    return vocab[word]
KeyError: 'zz'
"""
LOST = """Traceback (most recent call last):
  File "/app/main.py", line 40, in work
    step(batch)
  File "/app/main.py", line 25, in step
    dist.all_reduce(x)
RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:534] Connection closed by peer [10.0.0.4]:2231
"""


@pytest.mark.parametrize("name", ["[rank {}]", "rank={} |", "worker[{}]", "trainer-{}"])
def test_whoever_logs_an_exception_has_raised_it(tmp_path: Path, name: str) -> None:
    text = "".join(f"2025-04-01 10:00:0{n} {name.format(n)} INFO chunk 3 of 9\n" for n in range(3))
    text += (
        f"2025-04-01 10:00:05 {name.format(2)} ERROR unhandled exception in the loop, leaving\n{KEY_ERROR}"
    )
    text += "".join(
        f"2025-04-01 10:00:06 {name.format(n)} ERROR unhandled exception in the loop, leaving\n{LOST}"
        for n in (0, 1)
    )
    verdict = asked(tmp_path, {"all.log": text})
    assert verdict.cause == "raised" and culprits(verdict) == [2]
    assert verdict.location is not None and verdict.location.line == 21


def test_a_line_of_another_matter_above_a_traceback_tells_nobody(tmp_path: Path) -> None:
    text = "".join(f"2025-04-01 10:00:0{n} [rank {n}] INFO chunk 3 of 9\n" for n in range(3)) + KEY_ERROR
    assert not culprits(asked(tmp_path, {"all.log": text}))


def test_a_launcher_that_numbers_its_tasks_before_tracebacks(tmp_path: Path) -> None:
    said = "[rank{n}]:[E1201 20:05:1{n}.300118204 ProcessGroupNCCL.cpp:685] [Rank {n}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=81, OpType=ALLREDUCE, NumelIn={size}, NumelOut={size}, Timeout(ms)=600000) ran for 600000 milliseconds before timing out.\n"
    group = "[rank{n}]:[E1201 20:05:1{n}.300311900 ProcessGroupNCCL.cpp:2252] [PG ID 0 PG GUID 0(default_pg) Rank {n}]  failure detected by watchdog at work sequence id: 81 PG status: last enqueued work: 84, last completed work: 80\n"
    text = "".join(f"[3] {line}\n" for line in KEY_ERROR.splitlines())
    text += "[3] epoch 1 done, one batch left out\n"
    text += "".join(
        f"[{n}] " + line.format(n=n, size=1 if n == 3 else 4096) for n in range(4) for line in (said, group)
    )
    verdict = asked(tmp_path, {"mpi.log": text})
    assert verdict.cause == "swallowed_exception" and culprits(verdict) == [3]
    assert verdict.location is not None and verdict.location.line == 21


# Who did not come to a barrier

STALLED = (
    "[1,0]<stderr>:[2024-05-02 08:5{n}:12.441118: W horovod/common/stall_inspector.cc:107] One or more tensors were submitted to be "
    "reduced, gathered or broadcasted by subset of ranks and are waiting for remainder of ranks for more than 60 seconds. This may "
    "indicate that different ranks are trying to submit different tensors or that only subset of ranks is submitting tensors, which will cause deadlock. \n"
    "[1,0]<stderr>:Missing ranks:\n[1,0]<stderr>:3: [grad.layer1, grad.layer2 ...]\n"
)


@pytest.mark.parametrize(
    ("line", "blamed"),
    [
        ("reader.py:88 lock /data/idx.lck is taken, try again in 30 s (try {n})", True),
        ("s3 503 SlowDown for shard-0007, retrying, attempt {n}", True),
        ("waiting for the other ranks at the barrier, attempt {n}", False),
    ],
)
def test_who_tries_one_thing_again_and_again(tmp_path: Path, line: str, blamed: bool) -> None:
    text = "".join(f"[1,{n % 4}]<stdout>:step {n // 4} ok\n" for n in range(16))
    for n in range(5):
        text += f"[1,3]<stderr>:WARNING {line.format(n=n)}\n" + STALLED.format(n=n)
    verdict = asked(tmp_path, {"mpi.log": text})
    assert culprits(verdict) == [3] and (verdict.cause == "host_blocked") is blamed
    if "reader.py" in line:
        assert verdict.location is not None and verdict.location.line == 88


@pytest.mark.parametrize("ran", [40, 20])
def test_a_bar_that_goes_on_after_the_others_gave_up(tmp_path: Path, ran: int) -> None:
    """Bars have no times: the line before them has, and how long they ran they say themselves."""
    logs = {
        f"rank{n}.log": f"2025-10-02 13:00:0{n} index found\n[rank{n}]:[E1002 13:30:04.80{n} ProcessGroupGloo.cpp:144] Rank {n} successfully reached monitoredBarrier, but received errors while waiting for send/recv from rank 0. Please check rank 0 logs for faulty rank.\n"
        for n in (2, 3)
    }
    logs["rank0.log"] = (
        "2025-10-02 13:00:00 index found\n[rank0]:[E1002 13:30:04.771820443 ProcessGroupGloo.cpp:144] [Rank 0]: Rank 1 failed to pass monitoredBarrier in 1800000 ms\n"
    )
    logs["rank1.log"] = "2025-10-02 13:00:01 no index here, making one\n" + "".join(
        f"index: {n}%|███   | {n * 100}/10000 [{n:02}:00<{100 - n}:00, 1.6rows/s]\n" for n in range(ran)
    )
    verdict = asked(tmp_path, logs)
    assert culprits(verdict) == [1] and (verdict.cause == "host_slow") is (ran == 40)


# Devices and pods


def test_the_device_of_the_rank_that_the_desync_report_names(tmp_path: Path) -> None:
    report = """[rank2]:[E917 03:14:53.331120557 ProcessGroupNCCL.cpp:607] [Rank 2] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=720, OpType=ALLREDUCE, NumelIn=218, NumelOut=218, Timeout(ms)=300000) ran for 300071 milliseconds before timing out.
[rank2]:[E917 03:14:53.790021184 ProcessGroupNCCL.cpp:1587] [PG 0 (default_pg) Rank 2]
[rank2]:	 - [2] Timeout at collective: ALLREDUCE, #720
[rank2]:	 - To our best knowledge, the lagging/dead/mismatched ranks that caused the desync are:
[rank2]:	   - [1] joined but didn't finish collective #719 (count from 1)
[rank2]:	 - Snapshot of ranks' latest states:
[rank2]:	   #719 started ranks:
[rank2]:	     [1] started ALLREDUCE
[rank2]:	   #720 started ranks:
[rank2]:	     [0, 2, 3] started ALLREDUCE
[rank2]:[E917 03:14:53.790088211 ProcessGroupNCCL.cpp:1664] [PG 0 (default_pg) Rank 2] Exception (either an error or timeout) detected by watchdog at work: 720, last enqueued NCCL work: 723, last completed NCCL work: 719.
"""
    xid = "Sep 17 03:09:51 n4 kernel: NVRM: Xid (PCI:0000:bd:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.\n"
    verdict = asked(tmp_path, {"train.log": report, "kern.log": xid})
    assert verdict.cause == "gpu_error" and culprits(verdict) == [1]
    assert verdict.culprits[0].doing is not None and "Xid 79" in verdict.culprits[0].doing
    others = report.replace("[1] joined", "[0, 1] joined")
    assert not culprits(asked(tmp_path, {"train.log": others}))


DESCRIBED = """Name:             pt-worker-1
Status:           Pending
    Environment:
      WORLD_SIZE:   3
      RANK:         2
Events:
  Warning  Failed   2m  kubelet  Failed to pull image "reg.example/pt:1": not found
"""
DOCUMENT = """apiVersion: v1
kind: Pod
metadata:
  name: pt-worker-1
spec:
  containers:
  - env:
    - name: RANK
      value: "2"
Events:
  Warning  FailedMount  2m  kubelet  MountVolume.SetUp failed for volume "data" : secret "s" not found
"""


@pytest.mark.parametrize("described", [DESCRIBED, DOCUMENT])
def test_the_environment_of_a_pod_tells_its_rank(tmp_path: Path, described: str) -> None:
    logs = {
        f"{name}.log": f"2025-06-18 11:02:4{n} INFO env RANK={n} WORLD_SIZE=3\n2025-06-18 11:02:4{n} INFO init_process_group\n"
        for n, name in enumerate(("master-0", "worker-0"))
    }
    verdict = asked(tmp_path, {**logs, "describe.txt": described})
    assert verdict.cause == "init_stuck" and culprits(verdict) == [2]
