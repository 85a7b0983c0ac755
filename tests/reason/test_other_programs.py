"""Jobs that torch's recorder does not see, and what people keep of them: whose processes are, who was waited for."""

# ruff: noqa: E501 - log lines are as long as they are

from __future__ import annotations

from pathlib import Path

import pytest

import rankandfile
from rankandfile.model.diagnosis import Diagnosis

C10D = "torch/distributed/distributed_c10d.py"


def diagnosed(folder: Path, **files: str) -> Diagnosis:
    """Of these files: `a__b` is a file `a.b`, each `/` of its name a folder's."""
    for name, text in files.items():
        path = folder / name.replace("__", ".")
        path.write_text(text)
    return rankandfile.diagnose([folder])


def blamed(found: Diagnosis) -> list[int]:
    return [culprit.rank for culprit in found.verdicts[0].culprits]


def spy(pid: int, *frames: str, state: str = "idle", title: str = "python main.py") -> str:
    body = "".join(f"    {frame}\n" for frame in frames)
    return f'Process {pid}: {title}\nPython v3.11.9 (/usr/bin/python3.11)\n\nThread {pid} ({state}): "MainThread"\n{body}\n'


IN_LOCK = (
    "acquire (filelock/_unix.py:42)",
    "export (pack/export.py:31)",
    "main (main.py:90)",
    "<module> (main.py:120)",
)
IN_STEP = (f"all_reduce ({C10D}:2820)", "step (main.py:55)", "main (main.py:88)", "<module> (main.py:120)")
IN_SYNC = (
    "synchronize (torch/cuda/streams.py:105)",
    "flush (main.py:61)",
    "main (main.py:88)",
    "<module> (main.py:120)",
)

TOLD = {
    "environment": "# env of {pid}: OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_RANK={rank}\n",
    "list": "pid {pid} RANK={rank} LOCAL_RANK={rank} WORLD_SIZE=4\n",
    "ps": "hk  {pid}  0.1 python main.py PATH=/usr/bin RANK={rank} WORLD_SIZE=4 HOME=/home/hk\n",
    "program": "INFO started: global_rank={rank}, world_size=4, pid={pid}, host=n7\n",
    "ray": "(Controller pid=77) - (ip=10.0.0.3, pid={pid}) world_rank={rank}, local_rank={rank}, node_rank=0\n",
}


@pytest.mark.parametrize("line", TOLD.values(), ids=TOLD)
def test_any_line_that_tells_process_and_rank_tells_whose_a_stack_is(tmp_path: Path, line: str) -> None:
    stacks = "".join(spy(4100 + r, *(IN_LOCK if r == 2 else IN_STEP)) for r in range(4))
    told = "".join(line.format(rank=r, pid=4100 + r) for r in range(4))
    found = diagnosed(tmp_path, a_1010__txt=stacks, a_1020__txt=stacks, notes__txt=told)
    assert blamed(found) == [2]
    location = found.verdicts[0].location
    assert location is not None and (location.file, location.line) == ("pack/export.py", 31)


def test_a_line_of_two_processes_tells_of_none(tmp_path: Path) -> None:
    told = "rank 0 pid 4100 lost its peer, pid 4101\nlocal rank 3 runs as pid 4102\n"
    found = diagnosed(tmp_path, a__txt=spy(4100, *IN_STEP) + spy(4101, *IN_LOCK), notes__txt=told)
    assert blamed(found) == [] and not found.verdicts[0].suspects


def test_a_heading_tells_whose_the_next_stack_is_and_when_it_was_taken(tmp_path: Path) -> None:
    look = "".join(
        f"=== rank {r} (n{r}) ===\n" + spy(50 + r, *(IN_LOCK if r == 1 else IN_STEP)) for r in range(3)
    )
    both = f"Tue Mar  4 10:00:00 UTC 2025\n{look}Tue Mar  4 10:04:00 UTC 2025\n{look}"
    found = diagnosed(tmp_path, looks__txt=both)
    assert blamed(found) == [1]
    assert "240 s" in found.verdicts[0].sentence


def test_who_spins_on_its_device_is_not_said_to_move(tmp_path: Path) -> None:
    engine = "(EngineCore_DP0 pid=9) INFO 03-04 10:0{n}:00 [shm_broadcast.py:501] No available shared memory broadcast block found in 60 seconds. This typically happens when some processes are hanging.\n"
    stacks = "".join(
        spy(20 + r, *IN_SYNC, state="active", title=f"VLLM::Worker_TP{r}")
        if r
        else spy(20, *IN_LOCK, title="VLLM::Worker_TP0")
        for r in range(3)
    )
    found = diagnosed(tmp_path, vllm__log="".join(engine.format(n=n) for n in range(3)), spy__txt=stacks)
    assert blamed(found) == [0]
    assert "move" not in found.verdicts[0].sentence
    assert "TORCH_" not in str(found.verdicts[0].missing_evidence)


def test_a_warning_behind_which_work_goes_on_is_none(tmp_path: Path) -> None:
    warned = "E0000 00:00:17 5 rendezvous.cc:92] [id=1] This thread has been waiting for `all reduce; run_id=9` for 20 seconds and may be stuck. Expected 4 threads to join the rendezvous, but only 3 of them arrived on time.\n"
    work = "".join(f"step {n} loss {3 - n / 10:.2f}\n" for n in range(8))
    assert diagnosed(tmp_path, train__log=work[:40] + warned + work).verdicts[0].cause == "no_hang"


@pytest.mark.parametrize(
    "after",
    [
        "",
        "health check failed, still waiting 10 s\nhealth check failed, still waiting 20 s\nhealth check failed, still waiting 30 s\n",
        "INFO Avg generation throughput: 0.0 tokens/s\n" * 9,
    ],
)
def test_a_warning_behind_which_nothing_works_stays(tmp_path: Path, after: str) -> None:
    warned = "(EngineCore pid=9) INFO 03-04 10:00:00 [shm_broadcast.py:501] No available shared memory broadcast block found in 60 seconds. This typically happens.\n"
    found = diagnosed(tmp_path, server__log=warned + after).verdicts[0]
    assert found.cause == "undetermined" and "vLLM" in found.sentence


HOROVOD = "[2024-02-02 08:0{n}:00.1: W horovod/common/stall_inspector.cc:107] One or more tensors were submitted to be reduced, gathered or broadcasted by subset of ranks and are waiting for remainder of ranks for more than 60 seconds. This may indicate that different ranks are trying to submit different tensors. \n"


@pytest.mark.parametrize(
    "told",
    [
        "Stalled ranks:\n2: [grad.fc.weight, grad.fc.bias ...]\n",
        "Stalled ops:\ngrad.fc.weight [missing ranks: 2]\n",
    ],
)
def test_who_has_not_submitted_is_named_by_horovod(tmp_path: Path, told: str) -> None:
    lines = "".join(f"[1,0]<stderr>:{line}\n" for line in (HOROVOD.format(n=1) + told).splitlines())
    found = diagnosed(
        tmp_path, out__log="Using horovod, world_size=4\n" + lines, spy__txt="# rank 2\n" + spy(7, *IN_LOCK)
    )
    assert blamed(found) == [2] and found.verdicts[0].cause == "host_blocked"
    assert found.verdicts[0].victims == "0,1,3"


def test_ranks_that_lack_what_the_others_gave_each_are_not_named(tmp_path: Path) -> None:
    told = HOROVOD.format(n=1) + "Stalled ranks:\n0: [grad.a]\n1: [grad.b]\n"
    assert blamed(diagnosed(tmp_path, out__log="world_size=2\n" + told)) == []


BARRIER = """Traceback (most recent call last):
  File "/w/main.py", line 70, in <module>
    client.wait_at_barrier("eval", 600000)
jaxlib.xla_extension.XlaRuntimeError: DEADLINE_EXCEEDED: Barrier timed out. Id: eval::3. This usually happens because a task triggered the barrier too early or too slowly.
# of tasks that reached the barrier: 3/4.
The first task at the barrier: /job:jax_worker/replica:0/task:0. Some timed out task names:
/job:jax_worker/replica:0/task:3
"""


def test_who_waited_in_vain_has_not_failed_by_itself(tmp_path: Path) -> None:
    logs = {f"proc_{r}__log": f"step 10 of {r}\n" + BARRIER for r in range(3)}
    found = diagnosed(tmp_path, proc_3__log="step 10\nreading shard 7\n", **logs)
    assert blamed(found) == [3]
    assert "reading shard 7" in found.verdicts[0].sentence
    waiting = [one for one in found.standings if one.state == "waits"]
    assert [one.ranks for one in waiting] == ["0-2"] and "main.py:70" in waiting[0].what
    assert "TORCH_" not in str(found.verdicts[0].missing_evidence)


def test_a_limit_that_ran_out_on_what_only_this_rank_asked_for_is_its_own(tmp_path: Path) -> None:
    raised = """Traceback (most recent call last):
  File "/w/main.py", line 3, in <module>
    serve.execute_model(batch)
  File "/w/serve.py", line 9, in execute_model
    self.words.refresh()
  File "/w/words.py", line 4, in refresh
    answer = requests.get(self.url, timeout=30)
  File "/usr/lib/python3/site-packages/requests/adapters.py", line 713, in send
    raise ReadTimeout(e, request=request)
requests.exceptions.ReadTimeout: HTTPConnectionPool(host='words', port=80): Read timed out. (read timeout=30)
"""
    found = diagnosed(tmp_path, rank_0__log="step 1\n", rank_1__log="step 1\n" + raised)
    assert blamed(found) == [1] and found.verdicts[0].cause == "raised"


GAVE_UP = "[rank{r}]:[E304 10:00:00.1 ProcessGroupNCCL.cpp:685] [Rank {r}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=88, OpType={op}, NumelIn={n}, NumelOut={n}, Timeout(ms)=600000) ran for 600012 milliseconds before timing out."


def test_lines_that_ray_left_out_are_those_of_the_missing_ranks(tmp_path: Path) -> None:
    said = "".join(
        f"(Worker pid={100 + r}, ip=10.0.0.1) {line}\n"
        for r, line in (
            (0, "step 40 loss 2.5 of the run"),
            (3, "stopping early: no more batches"),
            (3, GAVE_UP.format(r=3, op="BARRIER", n=1)),
            (0, GAVE_UP.format(r=0, op="ALLREDUCE", n=512)),
            (5, GAVE_UP.format(r=5, op="ALLREDUCE", n=512) + " [repeated 6x across cluster]"),
        )
    )
    group = "".join(
        f"(T pid=9) - (ip=10.0.0.1, pid={100 + r}) world_rank={r}, local_rank={r}\n" for r in range(8)
    )
    found = diagnosed(tmp_path, driver__log="world_size=8\n" + group + said)
    assert blamed(found) == [3]
    assert found.verdicts[0].victims == "0-2,4-7"
    assert "no more batches" in found.verdicts[0].sentence


def test_where_more_lines_were_left_out_than_told_nobody_is_said_to_be_silent(tmp_path: Path) -> None:
    said = (
        f"(W pid=1, ip=10.0.0.1) {GAVE_UP.format(r=0, op='ALLREDUCE', n=512)} [repeated 3x across cluster]\n"
    )
    found = diagnosed(tmp_path, driver__log="world_size=8\n" + said)
    assert blamed(found) == []
    assert "never spoke" not in found.verdicts[0].sentence


def test_an_exception_that_a_rank_survived_says_why_its_next_call_is_another(tmp_path: Path) -> None:
    raised = 'ERROR bad record, dropping the batch\nTraceback (most recent call last):\n  File "/w/fit.py", line 40, in fit\n    one(batch)\n  File "/w/decode.py", line 12, in one\n    raise ValueError("crc")\nValueError: crc\n'
    full = " [PG ID 0 PG GUID 0(default_pg) Rank {r}]  failure detected by watchdog at work sequence id: 88 PG status: last enqueued work: 90, last completed work: 87"
    logs = {
        f"rank_{r}__log": "step 5\n"
        + GAVE_UP.format(r=r, op="ALLREDUCE", n=512)
        + "\n"
        + f"[rank{r}]:[E304 10:00:00.2 ProcessGroupNCCL.cpp:2252]"
        + full.format(r=r)
        + "\n"
        for r in range(5)
    }
    found = diagnosed(
        tmp_path, rank_5__log="step 5\n" + raised + GAVE_UP.format(r=5, op="ALLREDUCE", n=1) + "\n", **logs
    )
    assert blamed(found) == [5] and found.verdicts[0].cause == "swallowed_exception"
    location = found.verdicts[0].location
    assert location is not None and (location.file, location.line) == ("/w/decode.py", 12)


@pytest.mark.parametrize("title", ["sglang::scheduler_TP{r}", "python main.py --rank {r}"])
def test_stacks_that_a_watchdog_printed_into_a_log_are_read(tmp_path: Path, title: str) -> None:
    log = "[2025-01-01 10:00:00 TP0] Decode batch, #running-req: 4\n"
    for r in range(3):
        frames = IN_LOCK if r == 1 else IN_SYNC
        log += f"[2025-01-01 10:09:0{r} TP{r}] Pyspy dump for PID {30 + r}:\n" + spy(
            30 + r, *frames, state="active" if r != 1 else "idle", title=title.format(r=r)
        )
        log += f"\n[2025-01-01 10:09:0{r} TP{r}] Watchdog timeout (self.watchdog_timeout=300)\n"
    found = diagnosed(tmp_path, server__log=log)
    assert blamed(found) == [1]
    assert found.verdicts[0].victims == "0,2"


def test_a_job_of_another_maker_is_not_told_to_set_torchs_recorder(tmp_path: Path) -> None:
    found = diagnosed(
        tmp_path, run__log="Using device='xpu' with backend='xccl', world_size=2\nERROR something failed\n"
    )
    assert "TORCH_" not in str(found.verdicts[0].missing_evidence)
    assert "CCL_LOG_LEVEL" in str(found.verdicts[0].missing_evidence)
