"""Stacks as people bring them: what tells the rank of each, in variables, headings, command lines and beside them."""

# ruff: noqa: E501 - lines of logs and stacks are as long as they are

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rankandfile import diagnose
from rankandfile.model.diagnosis import Verdict

REDUCES = """    all_reduce (torch/distributed/distributed_c10d.py:2806)
    wrapper (torch/distributed/c10d_logger.py:83)
    step (train.py:80)
"""
WAITS_FOR_A_QUEUE = """    wait (threading.py:320)
    get (queue.py:171)
    next_batch (feeder.py:33)
    step (train.py:70)
"""


def asked(folder: Path, files: dict[str, str]) -> Verdict:
    for name, text in files.items():
        (folder / name).write_text(text)
    return diagnose(folder).verdicts[0]


def suspects(verdict: Verdict) -> list[int]:
    return [one.rank for one in verdict.suspects or verdict.culprits]


def dumped(
    pid: int, frames: str, main: str = "    <module> (train.py:120)\n", title: str = "python train.py"
) -> str:
    return f'Process {pid}: {title}\nPython v3.10.12 (/usr/bin/python3.10)\n\nThread {pid} (idle): "MainThread"\n{frames}{main}'


def of_four(
    odd: int, *, title: str = "python train.py", main: str = "    <module> (train.py:120)\n"
) -> list[str]:
    return [
        dumped(810 + n, WAITS_FOR_A_QUEUE if n == odd else REDUCES, main.format(n=n), title.format(n=n))
        for n in range(4)
    ]


@pytest.mark.parametrize("name", ["rank", "global_rank", "my_rank", "process_index"])
def test_a_variable_of_the_program_tells_the_rank(tmp_path: Path, name: str) -> None:
    main = f"    run (train.py:99)\n        Locals:\n            {name}: {{n}}\n            world: 4\n    <module> (train.py:120)\n"
    verdict = asked(tmp_path, {"all.txt": "".join(of_four(2, main=main))})
    assert verdict.cause == "host_blocked" and suspects(verdict) == [2]


def test_a_variable_that_is_the_same_in_all_processes_tells_none(tmp_path: Path) -> None:
    main = "    run (train.py:99)\n        Locals:\n            rank: 0\n    <module> (train.py:120)\n"
    assert not suspects(asked(tmp_path, {"all.txt": "".join(of_four(2, main=main))}))


def test_a_variable_of_torch_is_of_any_rank(tmp_path: Path) -> None:
    main = "    send (torch/distributed/distributed_c10d.py:9)\n        Arguments:\n            rank: {n}\n    <module> (train.py:120)\n"
    assert not suspects(asked(tmp_path, {"all.txt": "".join(of_four(2, main=main))}))


@pytest.mark.parametrize(
    "title",
    [
        "python train.py --process_id={n} --num_processes=4",
        "JAX_PROCESS_ID={n} python train.py",
        "PMI_RANK={n} ./x",
    ],
)
def test_a_command_line_tells_it(tmp_path: Path, title: str) -> None:
    assert suspects(asked(tmp_path, {"all.txt": "".join(of_four(1, title=title))})) == [1]


def test_so_does_one_in_json(tmp_path: Path) -> None:
    def thread(rank: int) -> dict[str, object]:
        there = [("wait", "threading.py", 320), ("get", "queue.py", 171), ("feed", "/w/feeder.py", 33)]
        if rank != 1:
            there = [
                ("all_reduce", "/usr/lib/python3/dist-packages/torch/distributed/distributed_c10d.py", 2806)
            ]
        variables = [{"name": "global_rank", "addr": 1, "arg": False, "repr": str(rank)}]
        frames = [{"name": n, "filename": f, "line": line, "locals": None} for n, f, line in there]
        frames.append({"name": "main", "filename": "/w/train.py", "line": 9, "locals": variables})
        frames.append({"name": "<module>", "filename": "/w/train.py", "line": 20, "locals": None})
        return {"pid": 50 + rank, "thread_id": 1, "thread_name": "MainThread", "os_thread_id": 50 + rank,
                "active": False, "owns_gil": False, "frames": frames, "process_info": None}  # fmt: skip

    text = "\n".join(json.dumps([thread(rank)]) for rank in range(3))
    assert suspects(asked(tmp_path, {"all.json": text})) == [1]


@pytest.mark.parametrize(
    "command",
    [
        "kubectl exec -n ml job-worker-{n} -c main -- py-spy dump --pid 1",
        "docker exec job_{n} py-spy dump -p 1",
    ],
)
def test_pods_that_are_numbered_as_ranks_are(tmp_path: Path, command: str) -> None:
    text = "".join(
        f"### {command.format(n=n)}\n{dumped(1, WAITS_FOR_A_QUEUE if n == 2 else REDUCES)}" for n in range(4)
    )
    assert suspects(asked(tmp_path, {"all.txt": text})) == [2]


@pytest.mark.parametrize(
    "beside",
    [
        "".join(
            f"$ tr '\\0' '\\n' < /proc/{810 + n}/environ | grep PROCID\nSLURM_PROCID={n}\n" for n in range(4)
        ),
        "".join(f"$ cat /proc/{810 + n}/environ\nLOCAL_RANK=0\nRANK={n}\n" for n in range(4)),
        "".join(f"[{810 + n}] hello from global rank {n} of 4\n" for n in range(4)) + "step 1\n",
    ],
    ids=["slurm", "environment", "a greeting"],
)
def test_what_is_noted_beside_them_tells_it(tmp_path: Path, beside: str) -> None:
    assert suspects(asked(tmp_path, {"all.txt": "".join(of_four(3)), "notes.txt": beside})) == [3]


def pystack(rank: int, root: int, line: str = "comm.bcast(table, root=root)") -> str:
    return f"""$ ssh n{rank // 2} pystack remote {700 + rank} --locals
Traceback for thread {700 + rank} (python3) [] (most recent call last):
    (Python) File "/home/u/grid.py", line 80, in <module>
        main()
    (Python) File "/home/u/grid.py", line 61, in main
        spread(comm, table, root)
      Locals:
        rank: {rank}
    (Python) File "/home/u/grid.py", line 33, in spread
        {line}
      Arguments:
        root: {root}

"""


def test_mpi4py_and_its_roots_by_the_source_lines_in_the_stacks(tmp_path: Path) -> None:
    verdict = asked(tmp_path, {"all.txt": "".join(pystack(rank, 1 if rank == 3 else 0) for rank in range(4))})
    assert verdict.cause == "root_mismatch" and suspects(verdict) == [3]
    assert verdict.location is not None and verdict.location.line == 33


def test_alike_roots_accuse_nobody(tmp_path: Path) -> None:
    verdict = asked(tmp_path, {"all.txt": "".join(pystack(rank, 0) for rank in range(4))})
    assert verdict.cause == "undetermined" and not suspects(verdict)


IN_MPI = """{tab}#0  0x00002000 in opal_progress () from /opt/ompi/lib/libopen-pal.so.40
{tab}#1  0x00002001 in PMPI_Allreduce_c () from /opt/ompi/lib/libmpi.so.40
{tab}#2  0x10001b8c in step (n=12) at solver.c:152
{tab}#3  0x10001c3c in main (argc=1, argv=0x7ff) at solver.c:201
"""
READS = """{tab}#0  0x00002003 in __libc_read () from /lib64/libc.so.6
{tab}#1  0x10001a3c in read_halo (fd=7) at halo.c:61
{tab}#2  0x10001c3c in main (argc=1, argv=0x7ff) at solver.c:201
"""


@pytest.mark.parametrize("lines_before", [3, 3000])
def test_the_stacks_that_a_launcher_took_when_its_time_was_over(tmp_path: Path, lines_before: int) -> None:
    text = "".join(f"it {n} residual 0.{n}\n" for n in range(lines_before))
    text += "Waiting for stack traces (this may take a few moments)...\n"
    for rank in range(4):
        text += f"STACK TRACE FOR PROC [prterun-cn07-3468@1,{rank}] (cn0{rank // 2}, PID {34684 + rank})\n"
        text += f"\tThread 1 (Thread 0x200000044f60 (LWP {34684 + rank})):\n"
        text += (READS if rank == 1 else IN_MPI).format(tab="\t")
    verdict = asked(tmp_path, {"job.out": text})
    assert suspects(verdict) == [1]
    assert not any("py-spy" in one.how for one in verdict.missing_evidence)


def test_two_looks_of_pstack_with_nothing_but_frames(tmp_path: Path) -> None:
    files = {}
    for rank in range(3):
        frames = (READS if rank == 2 else IN_MPI).format(tab="")
        files[f"n{rank}.{400 + rank}.bt"] = (
            f"# n{rank} PMI_RANK={rank} pid {400 + rank} 09:10:07\n{frames}\n# again 09:31\n{frames}"
        )
    verdict = asked(tmp_path, files)
    assert verdict.hang and suspects(verdict) == [2] and verdict.location is not None
    assert verdict.location.file == "halo.c"
    assert not any("TORCH_" in one.how for one in verdict.missing_evidence)


def of_jax(frames: str) -> str:
    looks = "Current thread 0x00007e25 (most recent call first):\n" + frames
    return f"# kill -USR1 71 at 10:05:12Z, again at 10:11:42Z\n{looks}\n{looks}"


def test_jax_waits_for_the_value_of_a_step(tmp_path: Path) -> None:
    waits = '  File "/usr/lib/python3/dist-packages/jax/_src/array.py", line 631, in _value\n  File "/app/fit.py", line 199, in fit\n'
    takes = '  File "/app/reader.py", line 87, in _take\n  File "/app/fit.py", line 192, in fit\n'
    files = {f"stacks-process{n}.txt": of_jax(takes if n == 1 else waits) for n in range(3)}
    verdict = asked(tmp_path, files)
    assert verdict.hang and verdict.cause == "host_blocked" and suspects(verdict) == [1]


def test_a_thread_that_keeps_the_only_process_from_its_end(tmp_path: Path) -> None:
    text = """Process 5511: python tune.py
Python v3.11.6 (/usr/bin/python3.11)

Thread 5511 (idle): "MainThread"
    join (threading.py:1119)
    _shutdown (threading.py:1590)
Thread 5602 (idle): "sync"
    read (ssl.py:1166)
    recv_into (ssl.py:1314)
    push (hub.py:54)
    run (threading.py:982)
    _bootstrap_inner (threading.py:1045)
    _bootstrap (threading.py:1002)
"""
    verdict = asked(tmp_path, {"stacks_rank0.txt": text})
    assert verdict.cause == "teardown_only" and suspects(verdict) == [0]
    assert verdict.location is not None and verdict.location.file == "hub.py"


def running(pid: int, state: str, frames: str) -> str:
    return f'Process {pid}: RANK={pid} python asr.py\nPython v3.10\n\nThread {pid} ({state}): "MainThread"\n{frames}'


def test_one_is_held_and_all_others_were_seen_running_on_one_line(tmp_path: Path) -> None:
    held = "    wait (subprocess.py:1264)\n    encode (clips.py:30)\n    <module> (asr.py:90)\n"
    runs = "    loss_value (asr.py:61)\n    <module> (asr.py:92)\n"
    text = "".join(
        running(rank, "idle" if rank == 2 else "active", held if rank == 2 else runs) for rank in range(4)
    )
    verdict = asked(tmp_path, {"all.txt": text})
    assert suspects(verdict) == [2] and not verdict.culprits and verdict.confidence == "hypothesis"
    # On lines of their own they compute.
    apart = "".join(
        running(r, "idle" if r == 2 else "active", held if r == 2 else runs.replace("61", f"6{r}"))
        for r in range(4)
    )
    assert not suspects(asked(tmp_path, {"all.txt": apart}))


def test_the_root_of_a_broadcast_waits_for_those_that_have_not_come(tmp_path: Path) -> None:
    validates = """    _distributed_broadcast_coalesced (torch/nn/parallel/distributed.py:2107)
    _sync_buffers (torch/nn/parallel/distributed.py:2166)
    forward (torch/nn/parallel/distributed.py:1633)
    validate (seg.py:148)
    run (seg.py:201)
"""
    trains = "    synchronize (torch/cuda/__init__.py:1040)\n    epoch (seg.py:112)\n    run (seg.py:197)\n"
    for first, named in ((0, [0]), (2, [])):
        text = "".join(
            dumped(n, validates if n == first else trains, title=f"RANK={n} python seg.py") for n in range(4)
        )
        assert suspects(asked(tmp_path, {"all.txt": text})) == named


PRINTED = """{head}  File{colon} "/app/train.py", line 120, in <module>
    main()
  File{colon} "/app/train.py", line {line}, in main
    {call}
"""


@pytest.mark.parametrize(
    ("head", "colon"),
    [("SIGUSR1 received, where it stands:\n", ""), ("# ThreadID: 140012 (MainThread)\n", ":"), ("", "")],
)
def test_stacks_that_a_program_printed_of_itself(tmp_path: Path, head: str, colon: str) -> None:
    files = {}
    for rank in range(4):
        call, line = ("job = box.get()", 84) if rank == 1 else ("dist.all_reduce(norm)", 88)
        files[f"rank{rank}.log"] = (
            "step 1\n"
            + PRINTED.format(head=head, colon=colon, line=line, call=call)
            + (
                f'  File{colon} "/usr/lib/python3.11/queue.py", line 171, in get\n    self.not_empty.wait()\n'
                if rank == 1
                else f'  File{colon} "/usr/lib/python3.11/site-packages/torch/distributed/distributed_c10d.py", line 2806, in all_reduce\n'
            )
        )
    verdict = asked(tmp_path, files)
    assert verdict.cause == "host_blocked" and suspects(verdict) == [1]


def test_an_exception_is_no_such_stack(tmp_path: Path) -> None:
    text = (
        PRINTED.format(head="", colon="", line=84, call="x = f()")
        + '  File "/app/f.py", line 3, in f\n    raise E\nValueError: 3\n'
    )
    assert not suspects(asked(tmp_path, {"rank0.log": text, "rank1.log": text}))


LLDB = """(lldb) process attach --pid {pid}
Process {pid} stopped
(lldb) bt
* thread #1, name = 'solver', stop reason = signal SIGSTOP
  * frame #0: 0x00007ffff7a5b3c7 libc.so.6`{inner}
    frame #1: 0x0000000000407a11 solver`{function}(r=0x1) at krylov.c:{line}:5
    frame #2: 0x0000000000402b10 solver`main(argc=1, argv=0x7ffd) at main.c:19:3
"""
CORE = """           PID: {pid} (solver)
                Stack trace of thread {pid}:
                #0  0x00007f5b2c0a1c6b {inner} (libc.so.6 + 0x10ed6b)
                #1  0x0000000000407a11 {function} (solver + 0x7a11)
                #2  0x0000000000402b10 main (solver + 0x2b10)
"""


@pytest.mark.parametrize("form", [LLDB, CORE])
def test_other_debuggers(tmp_path: Path, form: str) -> None:
    files = {
        f"bt_rank{rank}.txt": form.format(pid=90 + rank, inner="flock", function="take", line=88)
        if rank == 2
        else form.format(pid=90 + rank, inner="PMPI_Allreduce", function="residual", line=233)
        for rank in range(3)
    }
    verdict = asked(tmp_path, files)
    assert verdict.cause == "host_blocked" and suspects(verdict) == [2]


def test_processes_in_a_row_are_only_perhaps_the_first_ranks_of_an_unknown_job(tmp_path: Path) -> None:
    verdict = asked(tmp_path, {"all.txt": "".join(of_four(2))})
    assert not suspects(verdict) and "If they are all of the job, process 810 is rank 0" in verdict.sentence


def test_processes_in_a_row_are_none_known_of_a_larger_job(tmp_path: Path) -> None:
    verdict = asked(tmp_path, {"all.txt": "".join(of_four(2)), "out.log": "starting, world_size=8\n"})
    assert not suspects(verdict) and "is rank 0" not in verdict.sentence
