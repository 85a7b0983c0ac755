"""Nothing but logs: what single lines carry, whose they are, and what is said where nothing decides."""

# ruff: noqa: E501 - log lines are as long as they are

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import rankandfile
from rankandfile.lab.sim.run import simulate
from rankandfile.model.diagnosis import Verdict

WORK = "WorkNCCL(SeqNum={seq}, OpType=ALLREDUCE, NumelIn=4096, NumelOut=4096, Timeout(ms)=600000) ran for 600012 milliseconds before timing out."
CAUGHT = "[Rank {rank}] Watchdog caught collective operation timeout: " + WORK
TRACEBACK = (
    "Traceback (most recent call last):",
    '  File "/app/fit.py", line 88, in step',
    '    x = cfg["bucket"]',
    "KeyError: 'bucket'",
)


def verdict(folder: Path, **files: str) -> Verdict:
    for name, text in files.items():
        (folder / f"{name}.log").write_text(text)
    return rankandfile.diagnose([folder]).verdicts[0]


def blamed(found: Verdict) -> list[int]:
    return [culprit.rank for culprit in found.culprits]


@pytest.mark.parametrize(
    "line",
    [
        "[E ProcessGroupNCCL.cpp:475] " + CAUGHT,
        "[rank{rank}]:[E ProcessGroupNCCL.cpp:563] [PG 1 Rank 0] " + CAUGHT,
        "[rank{rank}]:[E ProcessGroupNCCL.cpp:563] [PG 0 (default_pg) Rank {rank}] " + CAUGHT,
        "  what():  [PG ID 0 PG GUID 0(default_pg) Rank {rank}] Process group watchdog thread terminated with exception: "
        + CAUGHT,
    ],
)
def test_a_watchdog_of_any_release_says_who_waits(tmp_path: Path, line: str) -> None:
    found = verdict(
        tmp_path,
        **{f"rank_{rank}": line.format(rank=rank, seq=52) + "\n" for rank in (0, 1, 3)},
        rank_2="step 9 of 40\n",
    )
    assert (
        "anks 0, 1 and 3 wait" in found.sentence
        or "anks 1 and 3 wait" in found.sentence
        or "wait" in found.sentence
    )
    assert "rank 2" in found.sentence.lower()
    assert blamed(found) == []


def test_groups_that_no_line_names_are_not_put_together(tmp_path: Path) -> None:
    """Numbers far from each other are of different groups: nobody is behind by thousands of calls."""
    lines = {
        f"rank_{rank}": CAUGHT.format(rank=rank, seq=5000 if rank < 2 else 70) + "\n" for rank in range(4)
    }
    assert blamed(verdict(tmp_path, **lines)) == []


def test_who_answers_the_dump_signal_with_fewer_calls_is_behind(tmp_path: Path) -> None:
    said = "[rank{r}]:[E ProcessGroupNCCL.cpp:1746] [PG ID 0 PG GUID 0(default_pg) Rank {r}] Received a dump signal due to a collective timeout from  rank 6 and we will try our best to dump the debug info. Last enqueued NCCL work: {n}, last completed NCCL work: 418.\n"
    assert blamed(
        verdict(tmp_path, job="".join(said.format(r=r, n=418 if r == 3 else 419) for r in range(8)))
    ) == [3]


def test_who_gave_up_elsewhere_does_not_wait_where_it_only_stands_in_line(tmp_path: Path) -> None:
    """Its answer to the signal says that the next call of the first group is issued: on the device it is behind another."""
    answer = "[rank{r}]:[E ProcessGroupNCCL.cpp:1746] [PG ID 0 PG GUID 0(default_pg) Rank {r}] Received a dump signal due to a collective timeout from  rank 1 and we will try our best to dump the debug info. Last enqueued NCCL work: 52, last completed NCCL work: 51.\n"
    prefix = "[rank{r}]:[E ProcessGroupNCCL.cpp:632] [PG ID {n} PG GUID {n}({name}) Rank {r}] "
    lines = {
        f"rank_{r}": answer.format(r=r)
        + prefix.format(r=r, n=n, name=name)
        + CAUGHT.format(rank=r, seq=seq)
        + "\n"
        for r in range(4)
        for n, name, seq in [(1, "tower", 30) if r == 2 else (0, "default_pg", 52)]
    }
    found = verdict(tmp_path, **lines)
    assert blamed(found) == [2]
    assert "anks 0, 1 and 3 wait in the all_reduce (group default_pg" in found.sentence


def test_who_waited_in_vain_for_a_peer_has_not_failed_by_itself(tmp_path: Path) -> None:
    said = "RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:78] Timed out waiting 2000ms for recv operation to complete\n"
    frames = "\n".join(TRACEBACK[:-1]) + "\n"
    lost = "RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:553] Connection closed by peer [10.0.0.7]:21214\n"
    found = verdict(tmp_path, rank_0=frames + lost, rank_1=frames + said, rank_2=frames + said)
    assert blamed(found) == []
    assert found.cause != "raised"


PRINT = "CollectiveFingerPrint(SequenceNumber=7, OpType={op}, TensorShape=[{sizes}], TensorDtypes=Float, TensorDeviceTypes=TensorOptions(dtype=float (default)))"
RAS = """Job summary
===========

  Nodes  Processes         GPUs  Processes     GPUs
(total)   per node  per process    (total)  (total)
      4          8            1         32       32

Group     Comms     Nodes     Ranks     Ranks     Ranks    Status  Errors
    #  in group  per comm  per node  per comm  in group
    0         1         4         8        32       32   RUNNING  MISMATCH

#0-0 (27a079b828ff1a75) MISMATCH
  Communicator ranks have different AllReduce operation counts
  30 ranks have launched up to operation {usual}
  2 ranks have launched up to operation {late}
  Rank 12 -- GPU 4 managed by process 3021 on node 10.0.0.7
  Rank 13 -- GPU 5 managed by process 3022 on node 10.0.0.7

"""


@pytest.mark.parametrize(
    ("text", "cause", "ranks"),
    [
        (f"[rank1]: RuntimeError: Detected mismatch between collectives on ranks. Rank 1 is running collective: {PRINT.format(op='ALLREDUCE', sizes=10)}, but Rank 0 is running collective: {PRINT.format(op='ALLREDUCE', sizes=12)}.", "size_mismatch", []),
        ("[E ProcessGroupGloo.cpp:136] [Rank 0]: Ranks 4, 5 failed to pass monitoredBarrier in 30000 ms", "undetermined", [4, 5]),
        ("NVRM: Xid (PCI:0000:9a:00): 79, pid=4242, name=python, GPU has fallen off the bus.", "gpu_error", []),
        ("[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total capacity of 79 GiB", "raised", [3]),
        ("mpirun noticed that process rank 5 with PID 4711 on node n12 exited on signal 11 (Segmentation fault).", "killed", [5]),
        ("launcher: rank 6 terminated with exit code 137 after 812 s", "killed", [6]),
        ("srun: error: node07: task 3: Killed", "killed", []),
        ("[rank1]:   what():  [enforce fail at pair.cc:446] op.preamble.length <= op.nbytes. 4096 vs 2048", "size_mismatch", []),
        ("node03:4242:4310 [3] NCCL WARN NET/IB : Got completion from peer 10.1.2.9<41872> with status=12 opcode=0 len=0 vendor err 129 (Recv)", "peer_unreachable", []),
        (RAS.format(usual=641, late=640) * 2, "undetermined", [12, 13]),
        (RAS.format(usual=641, late=640), "undetermined", []),
        (RAS.format(usual=641, late=640) + RAS.format(usual=731, late=730), "no_hang", []),
    ],
)  # fmt: skip
def test_a_line_that_carries_a_finding_alone(tmp_path: Path, text: str, cause: str, ranks: list[int]) -> None:
    found = verdict(tmp_path, job=text + "\n")
    assert (found.cause, blamed(found)) == (cause, ranks)
    assert found.evidence


def test_a_local_rank_is_no_rank(tmp_path: Path) -> None:
    assert blamed(verdict(tmp_path, job="Child process 12345 (local_rank=1) exited with signal 9\n")) == []


def test_ranks_that_the_wrapper_passed_over_agree_with_the_writer(tmp_path: Path) -> None:
    line = f"RuntimeError: Detected mismatch between collectives on ranks. Rank 0 is running collective: {PRINT.format(op='ALLREDUCE', sizes=10)}, but Rank 3 is running collective: {PRINT.format(op='BROADCAST', sizes=10)}."
    found = verdict(tmp_path, job=line + "\n")
    assert "ranks 0-2 run" in found.sentence and "Rank 3 is out of line" in found.sentence


def calls(rank: int, numbers: range, odd: str = "AllReduce") -> str:
    setup = f"gpu1:{100 + rank}:{100 + rank} [{rank}] NCCL INFO ncclCommInitRank comm 0x5{rank} rank {rank} nranks 4 cudaDev {rank} busId {rank}000 commId 0x8f31 - Init COMPLETE\n"
    return setup + "".join(
        f"gpu1:{100 + rank}:{100 + rank} [{rank}] NCCL INFO {odd if n == 9 else 'AllReduce'}: opCount {n:x} sendbuff 0x7 recvbuff 0x8 count 1024 datatype 7 op 0 root 0 comm 0x5{rank} [nranks=4] stream 0x5\n"
        for n in numbers
    )


def test_nccls_log_of_calls_is_compared(tmp_path: Path) -> None:
    other = {
        f"n{rank}": calls(rank, range(12), "AllGather" if rank == 1 else "AllReduce") for rank in range(4)
    }
    assert blamed(verdict(tmp_path, **other)) == [1]
    behind = {f"n{rank}": calls(rank, range(11 if rank == 2 else 12)) for rank in range(4)}
    found = verdict(tmp_path, **behind)
    assert "the last of rank 2 is opCount a" in found.sentence and blamed(found) == []
    assert not verdict(tmp_path, **{f"n{rank}": calls(rank, range(12)) for rank in range(4)}).hang


STERN = [{"message": line, "podName": "train-worker-3"} for line in TRACEBACK]
GOOGLE = [{"textPayload": line, "timestamp": f"2026-11-03T04:01:0{n}Z"} for n, line in enumerate(TRACEBACK)]
LOKI = {
    "data": {
        "resultType": "streams",
        "result": [
            {
                "stream": {"pod": "w-3"},
                "values": [[str(10**18 + n), line] for n, line in enumerate(TRACEBACK)],
            }
        ],
    }
}
AMAZON = {
    "events": [
        {"timestamp": 10**12 + n, "message": line, "logStreamName": "w-3"} for n, line in enumerate(TRACEBACK)
    ]
}


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(map(json.dumps, STERN)), json.dumps(GOOGLE, indent=1), json.dumps(LOKI), json.dumps(AMAZON, indent=1),
        "\n".join(f"train-worker-{w} main {line}" for w, line in [(3, TRACEBACK[0]), (1, "step 4"), *((3, one) for one in TRACEBACK[1:])]),
        "\n".join(f"(RayTrainWorker pid=4, ip=10.1.2.3) {line}" for line in TRACEBACK) + " [repeated 14x across cluster]",
    ],
    ids=["stern", "google", "loki", "cloudwatch", "stern text", "ray"],
)  # fmt: skip
def test_a_traceback_in_an_envelope_stays_one(tmp_path: Path, text: str) -> None:
    found = verdict(tmp_path, job=text + "\n")
    assert found.cause == "raised" and "KeyError: 'bucket' at /app/fit.py:88" in found.sentence


def test_what_one_rank_alone_says_decides_between_stories(tmp_path: Path) -> None:
    steps = "".join(f"INFO step {n} loss {2.5 - n / 100:.3f}\n" for n in range(20))
    logs = {f"rank_{rank}": steps + CAUGHT.format(rank=rank, seq=913) + "\n" for rank in range(3)}
    found = verdict(tmp_path, **logs, rank_3=steps + "WARNING got signal 15, stopping early\n")
    assert (found.cause, blamed(found)) == ("early_exit", [3])
    assert not verdict(tmp_path, **{f"rank_{rank}": steps for rank in range(4)}).hang


def test_a_number_that_differs_on_one_rank_is_told(tmp_path: Path) -> None:
    found = verdict(
        tmp_path,
        **{f"rank_{rank}": f"INFO data: loaded {1187 if rank == 1 else 1200} shards\n" for rank in range(3)},
    )
    assert (
        "1187" in found.sentence and not found.hang and [one.culprits for one in found.alternatives] == ["1"]
    )


def test_jax_is_not_told_to_set_torchs_recorder(tmp_path: Path) -> None:
    found = verdict(
        tmp_path,
        job="[id=3] This thread has been waiting for `all reduce` for 20 seconds and may be stuck. Expected 8 threads to join the rendezvous, but only 7 of them arrived on time.\n",
    )
    assert "7 of 8 threads" in found.sentence
    assert not any("TORCH" in missing.how for missing in found.missing_evidence)


def test_where_nothing_decides_what_was_read_is_told(tmp_path: Path) -> None:
    found = verdict(tmp_path, job="starting\nERROR could not stat /data/x\n")
    assert "could not stat /data/x" in found.sentence and found.evidence and not found.hang


@pytest.mark.parametrize(
    "tag", ["rank {r} | ", "rank{r}: ", "rank {r}/4 - ", "2026-03-01 10:00:0{r},120 rank{r} "]
)
def test_lines_that_begin_with_their_rank_are_its_own(tmp_path: Path, tag: str) -> None:
    said = "".join(
        f"{tag.format(r=r)}{'no improvement for 5 rounds, stopping here' if r == 2 else f'round 8 loss 0.3{r}'}\n"
        for r in range(4)
    )
    waited = "".join(
        f"[rank{r}]:[E ProcessGroupNCCL.cpp:632] [PG ID 0 PG GUID 0(default_pg) Rank {r}] "
        + CAUGHT.format(rank=r, seq=52)
        + "\n"
        for r in (0, 1, 3)
    )
    found = verdict(tmp_path, job=said + waited)
    assert blamed(found) == [2]
    assert "stopping here" in found.sentence


def test_what_is_said_of_a_rank_is_not_said_by_it(tmp_path: Path) -> None:
    said = "10:00:01 rank2 failed to answer in time\n10:00:02 rank3 was not asked\n"
    (tmp_path / "driver.log").write_text(said)
    assert rankandfile.load([tmp_path]).events["rank"].drop_nulls().to_list() == []


def test_an_exception_of_nobody_that_a_function_caught_is_no_failure(tmp_path: Path) -> None:
    fetched = (
        "10:00:01 worker-1 ERROR shard 7 failed\n"
        'Traceback (most recent call last):\n  File "/app/io.py", line 12, in fetch\n    get()\n'
        "TimeoutError: read timed out\n"
        + "".join(f"10:00:0{n} worker-1 INFO step {n}\n" for n in range(2, 8))
    )
    assert verdict(tmp_path, job=fetched).cause != "raised"


def test_who_aborts_over_a_size_was_sent_it(tmp_path: Path) -> None:
    """The line of the abort has no rank in it; torchrun's table tells who aborted, and not why."""
    lost = (
        "[rank{r}]: RuntimeError: [/gloo/transport/tcp/pair.cc:553] Connection closed by peer [10.0.0.1]:2222"
    )
    trace = '[rank{r}]: Traceback (most recent call last):\n[rank{r}]:   File "/app/mean.py", line 9, in <module>\n[rank{r}]:     mean(v)\n'
    found = verdict(
        tmp_path,
        job="terminate called after throwing an instance of 'gloo::EnforceNotMet'\n"
        "  what():  [enforce fail at /gloo/transport/tcp/pair.cc:456] op.preamble.length <= op.nbytes. 512 vs 256. \n"
        + "\n".join((trace + lost).format(r=r) for r in (0, 2))
        + "\nE0521 18:02:51.838000 249 torch/distributed/elastic/multiprocessing/api.py:1002] failed (exitcode: -6) local_rank: 1 (pid: 25398) of binary: /usr/bin/python3\n"
        "[0]:\n  rank      : 1 (local_rank: 1)\n  exitcode  : -6 (pid: 25398)\n  traceback : Signal 6 (SIGABRT) received by PID 25398\n",
    )
    assert found.cause == "size_mismatch"


def test_who_ended_of_having_waited_is_no_first_to_fail(tmp_path: Path) -> None:
    gone = (
        'Traceback (most recent call last):\n  File "/app/sync.py", line 9, in <module>\n    dist.barrier()\n'
        "RuntimeError: [/gloo/transport/tcp/pair.cc:553] Connection closed by peer [10.0.0.1]:2222\n"
    )
    table = "E0521 18:02:51.838000 249 torch/distributed/elastic/multiprocessing/api.py:1002] failed (exitcode: 1) local_rank: 0 (pid: 25398) of binary: /usr/bin/python3\n"
    found = verdict(tmp_path, rank_0=gone, rank_1=gone, agent=table)
    assert blamed(found) == []


def test_who_says_that_it_waited_in_vain_is_not_called_silent(tmp_path: Path) -> None:
    """A program caught what gloo raised, and logged it: there is no traceback."""
    gave_up = {f"rank_{rank}": CAUGHT.format(rank=rank, seq=612) + "\n" for rank in (0, 1)}
    waited = "ERROR train: RuntimeError: [/gloo/transport/tcp/unbound_buffer.cc:81] Timed out waiting 1800000ms for recv operation to complete\n"
    logs = {**gave_up, "rank_2": waited, "rank_3": "INFO train: step 50 loss 1.500\n"}
    for name, text in logs.items():
        (tmp_path / f"{name}.log").write_text(text)
    made = rankandfile.diagnose([tmp_path])
    found = made.verdicts[0]
    assert "rank 2 waited in vain for others itself" in found.sentence
    assert [other.culprits for other in found.alternatives if other.cause == "host_blocked"] == ["3"]
    assert [one.state for one in made.standings if one.ranks == "2"] == ["waits"]


def test_of_two_that_wait_for_each_other_in_other_calls_neither_is_blamed(tmp_path: Path) -> None:
    """A shift of a ring is left out; what the logs show is pairs, each in a call that the other is not in."""
    incident = simulate("skip-ring-shift", tmp_path / "incident")
    found = rankandfile.diagnose([incident / "evidence" / "logs"]).verdicts[0]
    assert set(blamed(found)) <= {2}


@pytest.mark.parametrize(
    ("odd", "spoke", "suspected"),
    [
        ("BARRIER", (0, 1, 3), [3]),
        ("BARRIER", (1, 3), []),
        ("ALLGATHER", (0, 1, 2, 3, 4, 5, 7), []),
    ],
    ids=["two to one", "one to one", "so many to one that it is named"],
)
def test_who_was_not_heard_of_is_not_waited_for_by_those_that_disagree(
    tmp_path: Path, odd: str, spoke: tuple[int, ...], suspected: list[int]
) -> None:
    """One left out a call, and is in the next at its number: the rank whose lines are lost may be in either of them."""
    lines = {
        f"rank_{rank}": CAUGHT.format(rank=rank, seq=43).replace(
            "ALLREDUCE", odd if rank == 3 else "ALLREDUCE"
        )
        for rank in spoke
    }
    lost = next(rank for rank in range(8) if rank not in spoke)
    lines["launcher"] = f"world size {4 if len(spoke) < 4 else 8}"
    found = verdict(tmp_path, **{name: f"{text}\n" for name, text in lines.items()})
    assert (
        "asked for different things" in found.sentence
        and f"ank{'' if len(spoke) != 2 else 's'} {lost}" in found.sentence
    )
    assert [one.rank for one in found.suspects] == suspected
    assert blamed(found) == ([3] if len(spoke) > 4 else [])
    assert not any(str(lost) in wait.waits_for for wait in found.waits)


SKIPPED = (
    "12:00:21 ERROR trainer | step 644 failed, going on with the next batch",
    "Traceback (most recent call last):",
    '  File "/app/loop.py", line 51, in fit',
    "    loss = model(batch)",
    '  File "/app/packing.py", line 73, in mask',
    '    raise ValueError("segment without an end")',
    "ValueError: segment without an end",
)


@pytest.mark.parametrize(
    "watch",
    [
        "12:42:19 WARNING monitor | no step finished for 1800 s (now in step {step})",
        "[watchdog] No progress for 30 minutes, step={step}",
        "12:42:19 CRITICAL has not made progress in the last 1800 seconds; current step {step}",
    ],
)
@pytest.mark.parametrize("over", [False, True], ids=["the last word", "it went on"])
def test_a_programs_own_watch_is_believed_until_it_goes_on(tmp_path: Path, watch: str, over: bool) -> None:
    """Rank 2 caught an exception and is a step ahead; all say that nothing ends any more, or that it was slow once."""
    later = (
        [f"12:43:0{n} INFO trainer | step {650 + n} loss 2.{n}" for n in range(4)]
        if over
        # It says so again and again: its own number goes up, and nothing else does.
        else [re.sub("1800|30", str(1800 * n), watch).format(step=644) for n in (2, 3, 4, 5)]
    )
    for rank in range(4):
        step, said = (645, SKIPPED) if rank == 2 else (644, ())
        lines = ("12:00:00 INFO trainer | step 640 loss 2.3", *said, watch.format(step=step), *later)
        (tmp_path / f"rank_{rank}.log").write_text("\n".join(lines) + "\n")
    found = rankandfile.diagnose([tmp_path]).verdicts[0]
    if over:
        assert blamed(found) == [] and not found.hang
        return
    assert (found.hang, found.cause, blamed(found)) == (True, "swallowed_exception", [2])
    assert found.location is not None and found.location.line == 73


def test_that_nothing_ends_is_told_where_nothing_else_is(tmp_path: Path) -> None:
    watch = "WARNING no batch completed for 900 s"
    found = verdict(tmp_path, **{f"rank_{rank}": f"step 9 loss 1.0\n{watch}\n" for rank in range(2)})
    assert (found.hang, found.cause, blamed(found)) == (True, "undetermined", [])
    assert watch in found.sentence


def test_who_is_silent_is_not_what_those_wait_for_that_name_different_calls(tmp_path: Path) -> None:
    """Three of four speak, of two calls at one number: they hold each other, whatever the fourth does."""
    said = "[rank{rank}]:[E ProcessGroupNCCL.cpp:563] [PG 0 (default_pg) Rank {rank}] " + CAUGHT
    lines = {f"rank_{rank}": said.format(rank=rank, seq=28) + "\n" for rank in (1, 2, 3)}
    lines["rank_2"] = lines["rank_2"].replace("ALLREDUCE", "ALLGATHER")
    found = verdict(tmp_path, **lines, rank_0="step 9 of 40\n")
    assert blamed(found) == []
    assert (
        "asked for different things" in found.sentence and "Rank 0 left no line about it." in found.sentence
    )
    assert not any(wait.waits_for for wait in found.waits)


GAVE_UP = "[rank{r}]:[E ProcessGroupNCCL.cpp:722] [PG ID 0 PG GUID 0(default_pg) Rank {r}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=2, OpType=ALLGATHER, NumelIn=1, NumelOut=6, Timeout(ms)=600000) ran for 600031 milliseconds before timing out.\n"
ANSWERED = "[rank{r}]:[E ProcessGroupNCCL.cpp:1746] [PG ID 0 PG GUID 0(default_pg) Rank {r}] Received a dump signal due to a collective timeout from  rank 3 and we will try our best to dump the debug info. Last enqueued NCCL work: 1, last completed NCCL work: 1.\n"
IN_C10D = "    {op} (torch/distributed/distributed_c10d.py:3252)\n    {at}\n    <module> (start.py:15)\n"
SUMS, ROLLS = "average (wire.py:43)", "collect (wire.py:50)"


def of_two_groups(folder: Path, stacks: dict[int, tuple[str, str]], alone: str = "") -> Verdict:
    """Ranks 0 and 2-4 wait in a call of all ranks; 1 and 5 answer that they have nothing open there."""
    for rank, (op, at) in stacks.items():
        told = f"Process {100 + rank}: python start.py\nPython v3.11.7 (/usr/bin/python3.11)\n\n"
        told += f'Thread {100 + rank} (idle): "MainThread"\n' + IN_C10D.format(op=op, at=at)
        (folder / f"stack_rank{rank}.txt").write_text(told)
    logs = {f"rank_{r}": (ANSWERED if r in (1, 5) else GAVE_UP).format(r=r) for r in range(6)}
    logs["rank_1"] = alone + logs["rank_1"]
    return verdict(folder, **logs)


def test_who_waits_in_a_smaller_group_is_not_to_blame_for_what_all_wait_in(tmp_path: Path) -> None:
    stacks = {r: ("all_reduce", SUMS) if r in (1, 5) else ("all_gather", ROLLS) for r in range(6)}
    found = of_two_groups(tmp_path, stacks, alone="train[1] an empty document at 15\n")
    assert found.hang
    assert not blamed(found)
    assert not found.suspects
    assert "a call of a smaller group" in found.sentence


@pytest.mark.parametrize(("line", "named"), [(31, []), (70, [5])])
def test_who_stands_beside_a_receive_at_a_line_that_shows_no_frame_may_wait_there_too(
    tmp_path: Path, line: int, named: list[int]
) -> None:
    """`work.wait()` is C. A line of another function is its own work."""
    function = "rotate" if line == 31 else "unpack"
    for rank, frames in {
        1: ["recv (torch/distributed/distributed_c10d.py:2799)", "rotate (ring.py:30)"]
    }.items():
        _stack(tmp_path, rank, frames)
    _stack(tmp_path, 5, [f"{function} (ring.py:{line})"])
    for rank in (0, 2, 3, 4):
        _stack(tmp_path, rank, ["all_gather (torch/distributed/distributed_c10d.py:4287)", ROLLS])
    logs = {f"rank_{r}": (ANSWERED if r in (1, 5) else GAVE_UP).format(r=r) for r in range(6)}
    found = verdict(tmp_path, **logs)
    assert blamed(found) == named, found.sentence


def _stack(folder: Path, rank: int, frames: list[str]) -> None:
    told = f"Process {100 + rank}: python start.py\nPython v3.11.7 (/usr/bin/python3.11)\n\n"
    told += f'Thread {100 + rank} (idle): "MainThread"\n' + "".join(f"    {frame}\n" for frame in frames)
    (folder / f"stack_rank{rank}.txt").write_text(f"{told}    <module> (start.py:15)\n")


def test_who_stands_in_no_call_is_named_beside_one_that_waits_in_a_smaller_group(tmp_path: Path) -> None:
    stacks = dict.fromkeys(range(6), ("all_gather", ROLLS))
    stacks |= {1: ("all_reduce", SUMS), 5: ("flock", "lock (leases.py:14)")}
    found = of_two_groups(tmp_path, stacks)
    assert 1 not in [*blamed(found), *(one.rank for one in found.suspects)]


def test_several_of_whom_nothing_is_seen_may_wait_in_a_call_of_their_own(tmp_path: Path) -> None:
    found = of_two_groups(tmp_path, {})
    assert not blamed(found)
    assert "in no call" not in found.sentence
