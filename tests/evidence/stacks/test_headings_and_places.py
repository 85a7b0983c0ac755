"""Whose stacks are they: headings of people and shells, numbers of launchers, names of files; and forms of tools."""

from __future__ import annotations

from pathlib import Path

import pytest

from rankandfile import diagnose
from rankandfile.model.diagnosis import Diagnosis

C10D = "torch/distributed/distributed_c10d.py"
MAIN = "    <module> (solve.py:9)\n"
WAITS = (
    f'Thread {{pid}} (idle): "MainThread"\n    all_gather ({C10D}:3001)\n    mix (solver/halo.py:52)\n{MAIN}'
)
LOCKS = f'Thread {{pid}} (idle): "MainThread"\n    acquire (filelock/_api.py:9)\n    claim (solver/cells.py:18)\n{MAIN}'


def spied(pid: int, odd: bool) -> str:
    head = f"Process {pid}: python solve.py\nPython v3.11.7 (/usr/bin/python3.11)\n\n"
    return head + (LOCKS if odd else WAITS).format(pid=pid)


def suspects(diagnosis: Diagnosis) -> dict[int, int | None]:
    verdict = diagnosis.verdicts[0]
    return {one.rank: verdict.location.line if verdict.location else None for one in verdict.suspects}


@pytest.mark.parametrize(
    "heading",
    [
        "### rank {rank} on hgx-{rank:02}",
        "--- RANK={rank} LOCAL_RANK={rank} pid {pid}",
        "$ py-spy dump --pid {pid}   # rank {rank}",
        "Rank {rank}:",
        "hgx-07 global_rank={rank}",
    ],
)
def test_a_heading_tells_whose_the_stack_below_is(tmp_path: Path, heading: str) -> None:
    told = [f"{heading.format(rank=r, pid=9000 + r)}\n{spied(9000 + r, r == 1)}\n" for r in range(3)]
    (tmp_path / "all.txt").write_text("".join(told))
    assert suspects(diagnose(tmp_path)) == {1: 18}


def test_a_sentence_about_a_rank_is_no_heading(tmp_path: Path) -> None:
    told = [f"rank 1 is what I would look at\n{spied(9000 + r, r == 2)}\n" for r in range(3)]
    (tmp_path / "all.txt").write_text("".join(told))
    diagnosis = diagnose(tmp_path)
    assert suspects(diagnosis) == {}
    assert "process 9002" in diagnosis.verdicts[0].sentence, "where it stands is told all the same"


def test_numbers_that_a_launcher_puts_before_each_line(tmp_path: Path) -> None:
    lines = [[f"[{r}] {line}" for line in spied(40 + r, r == 2).splitlines()] for r in range(4)]
    woven = [line for group in zip(*lines, strict=True) for line in group]
    (tmp_path / "mpiexec.out").write_text("\n".join(woven) + "\n")
    assert suspects(diagnose(tmp_path)) == {2: 18}


def test_local_ranks_in_names_are_ranks_where_there_is_one_machine_only(tmp_path: Path) -> None:
    for rank in range(3):
        (tmp_path / f"spy_local_rank{rank}.txt").write_text(spied(70 + rank, rank == 0))
    assert suspects(diagnose(tmp_path)) == {0: 18}
    for rank in range(3):
        (tmp_path / f"node8_spy_local_rank{rank}.txt").write_text(spied(170 + rank, False))
    assert suspects(diagnose(tmp_path)) == {}, "two processes have each number"


def test_pystack(tmp_path: Path) -> None:
    site = "/venv/lib/python3.11/site-packages"
    waits = f"""    (Python) File "{site}/torch/distributed/distributed_c10d.py", line 3001, in all_gather
        work.wait()
    (C) File "../sysdeps/futex.c", line 57, in __futex_wait (/usr/lib/libc.so.6)
"""
    reads = """    (Python) File "/job/cells.py", line 31, in load
        blob = handle.read()
    (C) File "../sysdeps/unix/sysv/linux/read.c", line 26, in read (/usr/lib/libc.so.6)
"""
    for rank in range(3):
        told = f"""Traceback for thread {600 + rank} (python) [] (most recent call last):
    (Python) File "/job/solve.py", line 9, in <module>
        main()
{reads if rank == 2 else waits}"""
        (tmp_path / f"pystack_rank{rank}.txt").write_text(told)
    assert suspects(diagnose(tmp_path)) == {2: 31}


def test_gdb_with_python_frames_below_those_of_c(tmp_path: Path) -> None:
    def told(pid: int, native: str, python: str) -> str:
        return f"""[New LWP {pid + 9}]
0x00007f00 in {native} () from /lib64/libc.so.6

Thread 2 (Thread 0x7f10 (LWP {pid + 9}) "python"):
#0  0x00007f01 in poll () from /lib64/libc.so.6
#1  0x00007f02 in ncclProxyService (_args=0x7f) at proxy.cc:1476

Thread 1 (Thread 0x7f20 (LWP {pid}) "python"):
#0  0x00007f00 in {native} () from /lib64/libc.so.6
#1  0x000000000062 in _PyEval_EvalFrameDefault ()
Traceback (most recent call first):
  <built-in method of some object at remote 0x7f51>
{python}[Inferior 1 (process {pid}) detached]
"""

    main = '  File "/job/solve.py", line 9, in <module>\n    main()\n'
    loads = '  File "/job/cells.py", line 31, in load\n    blob = handle.read()\n' + main
    sums = '  File "/job/solve.py", line 77, in step\n    loss.item()\n' + main
    (tmp_path / "gdb_rank0.txt").write_text(told(71, "cudaStreamSynchronize", sums))
    (tmp_path / "gdb_rank1.txt").write_text(told(81, "read", loads))
    assert suspects(diagnose(tmp_path)) == {1: 31}


def test_a_merged_tree_of_all_tasks(tmp_path: Path) -> None:
    (tmp_path / "00_python.0003.3D.dot").write_text("""digraph G {
\tnode [shape=record,style=filled];
\t0 [pos="0,0", label="/", fillcolor="#808080"];
\t1 [pos="0,0", label="<module>@solve.py:9"];
\t2 [pos="0,0", label="mix@halo.py:52"];
\t3 [pos="0,0", label="ncclGroupEnd@??:?"];
\t4 [pos="0,0", label="claim@cells.py:18"];
\t5 [pos="0,0", label="flock@??:?"];
\t0 -> 1 [label="12:[0-11]"];
\t1 -> 2 [label="11:[0-6,8-11]"];
\t2 -> 3 [label="11:[0-6,8-11]"];
\t1 -> 4 [label="1:[7]"];
\t4 -> 5 [label="1:[7]"];
}
""")
    diagnosis = diagnose(tmp_path)
    assert suspects(diagnosis) == {7: 18}
    assert "0-6,8-11" in [one.ranks for one in diagnosis.standings]


def test_a_page_of_the_debug_server(tmp_path: Path) -> None:
    def section(rank: int, stack: str) -> str:
        return (
            f"<h2>Rank {rank}: http://n4:4{rank}/handler/dump_traceback?</h2>\n<pre>Current thread 0x7f3{rank} "
            f"(most recent call first):\n  &lt;no Python frame&gt;\n\n"
            f"Thread 0x7f4{rank} (most recent call first):\n{stack}</pre>\n"
        )

    main = '  File "/job/solve.py", line 9 in <module>\n'
    waits = f'  File "/v/site-packages/{C10D}", line 3001 in all_gather\n  File "/job/halo.py", line 52 in mix\n{main}'
    locks = '  File "/v/site-packages/filelock/_api.py", line 9 in acquire\n'
    locks += f'  File "/job/cells.py", line 18 in claim\n{main}'
    body = "".join(section(rank, locks if rank == 1 else waits) for rank in range(3))
    page = f"<!doctype html>\n<head><title>Stacks - PyTorch Distributed</title></head>\n<nav></nav>\n{body}"
    (tmp_path / "stacks.html").write_text(page)
    assert suspects(diagnose(tmp_path)) == {1: 18}
