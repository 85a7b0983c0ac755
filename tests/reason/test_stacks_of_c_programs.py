"""Programs without Python, as gdb and STAT show them: where they stand, who waits in MPI, who is held by his host."""

from __future__ import annotations

from pathlib import Path

import pytest

from rankandfile import diagnose
from rankandfile.model.diagnosis import Verdict

#: Fortran and C below one main: the functions that MPI's own progress turns in differ from rank to rank.
REDUCES = """#0  0x00007f11 in {spins} () from /opt/mpich/lib/libmpi.so.12
#1  0x00007f12 in MPIR_Allreduce_impl () from /opt/mpich/lib/libmpi.so.12
#2  0x00007f13 in {call} () from /opt/mpich/lib/libmpifort.so.12
#3  0x0000000000407a11 in residual_norm_ (r=...) at /home/eva/solver/src/krylov.f90:233
#4  0x0000000000404e01 in advance_ () at /home/eva/solver/src/advance.f90:71
#5  0x0000000000402b10 in MAIN__ () at /home/eva/solver/src/main.f90:19
#6  main (argc=1, argv=0x7ffd) at /home/eva/solver/src/main.f90:6
"""
READS = """#0  0x00007f21 in {read} () from /lib64/libc.so.6
#1  0x00007f22 in _IO_new_file_underflow (fp=0x1) at ./libio/fileops.c:516
#2  0x0000000000409c44 in load_table (path=0x7ff "x") at ../src/tables.cpp:88
#3  0x0000000000404e2f in advance_ () at /home/eva/solver/src/advance.f90:64
#4  0x0000000000402b10 in MAIN__ () at /home/eva/solver/src/main.f90:19
"""
LOCKS = """#0  __lll_lock_wait (futex=0x1) at ./nptl/lowlevellock.c:49
#1  0x00007f33 in pthread_mutex_lock@@GLIBC_2.2.5 () from /lib64/libc.so.6
#2  0x0000000000411111 in __gthread_mutex_lock (__mutex=0x1) at /usr/include/c++/12/bits/gthr-default.h:749
#3  std::mutex::lock (this=0x1) at /usr/include/c++/12/bits/std_mutex.h:100
#4  Pool::take (this=0x2) at ../src/pool.hpp:41
#5  0x0000000000402b10 in main (argc=1, argv=0x7ffd) at ../src/main.cpp:19
"""


def looked_at(folder: Path, stacks: dict[int, str]) -> Verdict:
    for rank, stack in stacks.items():
        head = f'Thread 1 (Thread 0x7f00 (LWP {900 + rank}) "solver"):\n'
        (folder / f"bt_rank{rank}.txt").write_text(head + stack)
    return diagnose(folder).verdicts[0]


def reduces(rank: int, call: str = "pmpi_allreduce_") -> str:
    return REDUCES.format(spins=("poll_cq", "MPIDI_CH3I_Progress", "psm_wait")[rank % 3], call=call)


@pytest.mark.parametrize(
    ("held", "where", "does"),
    [
        (READS.format(read="__GI___libc_read"), ("../src/tables.cpp", 88), "file"),
        (LOCKS, ("../src/pool.hpp", 41), "lock"),
    ],
    ids=["reads a file", "waits for a mutex"],
)
def test_who_is_held_by_his_host_while_the_others_reduce(
    tmp_path: Path, held: str, where: tuple[str, int], does: str
) -> None:
    verdict = looked_at(tmp_path, {0: reduces(0), 1: reduces(1), 2: held, 3: reduces(2)})
    assert verdict.cause == "host_blocked"
    assert [one.rank for one in verdict.suspects] == [2]
    assert verdict.location is not None
    assert (verdict.location.file, verdict.location.line) == where
    assert does in verdict.sentence
    assert "krylov.f90:233" in verdict.sentence


def test_all_in_one_reduction_accuse_nobody(tmp_path: Path) -> None:
    verdict = looked_at(tmp_path, {rank: reduces(rank, "PMPI_Allreduce") for rank in range(4)})
    assert (verdict.cause, verdict.suspects, verdict.culprits) == ("undetermined", [], [])
    assert verdict.sentence.startswith("Ranks 0-3 wait in PMPI_Allreduce")
    assert "krylov.f90:233" in verdict.sentence


def test_who_waits_in_another_collective(tmp_path: Path) -> None:
    barrier = reduces(1).replace("pmpi_allreduce_", "MPI_Barrier").replace("krylov.f90:233", "krylov.f90:240")
    verdict = looked_at(tmp_path, {0: reduces(0), 1: barrier, 2: reduces(2), 3: reduces(1)})
    assert (verdict.cause, [one.rank for one in verdict.suspects]) == ("different_collective", [1])


def test_a_merged_tree_without_places_still_names_functions(tmp_path: Path) -> None:
    (tmp_path / "00_lbm.0000.2D.dot").write_text("""digraph G {
 0 [label="/"];
 1 [label="_start"];
 2 [label="main"];
 3 [label="collide"];
 4 [label="PMPI_Sendrecv"];
 5 [label="opal_progress"];
 6 [label="dump_fields"];
 7 [label="H5Fflush"];
 8 [label="fsync"];
 0 -> 1 [label="6:[0-5]"];
 1 -> 2 [label="6:[0-5]"];
 2 -> 3 [label="5:[0-3,5]"];
 3 -> 4 [label="5:[0-3,5]"];
 4 -> 5 [label="5:[0-3,5]"];
 2 -> 6 [label="1:[4]"];
 6 -> 7 [label="1:[4]"];
 7 -> 8 [label="1:[4]"];
}
""")
    verdict = diagnose(tmp_path).verdicts[0]
    assert [one.rank for one in verdict.suspects] == [4]
    assert "dump_fields" in verdict.sentence
    assert "PMPI_Sendrecv" in verdict.sentence


TYPED = """[Thread debugging using libthread_db enabled]
Using host libthread_db library "/lib64/libthread_db.so.1".

Thread 1 (Thread 0x7f00 (LWP {pid}) "python3"):
#0  0x00007f11 in mca_btl_progress () from /opt/ompi/lib/libmpi.so.40
#1  0x00007f12 in PMPI_{op} () from /opt/ompi/lib/libmpi.so.40
#2  0x00007f13 in _PyEval_EvalFrameDefault () from /lib64/libpython3.11.so.1.0
#3  0x00007f14 in _start ()
{typed}Traceback (most recent call first):
  <built-in method {op} of mpi4py.MPI.Intracomm object at remote 0x7f1c90>
  File "/home/ida/waves/{file}", line {line}, in {function}
    self.comm.{op}(self.buf)
  File "/home/ida/waves/run.py", line 33, in <module>
    march(field)
[Inferior 1 (process {pid}) detached]
"""


@pytest.mark.parametrize("typed", ["(gdb) py-bt\n", ""], ids=["typed", "in a batch"])
@pytest.mark.parametrize(("op", "suspected"), [("Reduce", [2]), ("Allgather", [2]), ("Bcast", [])])
def test_python_below_the_c_frames_of_a_debugger(
    tmp_path: Path, typed: str, op: str, suspected: list[int]
) -> None:
    text = ""
    for rank in range(4):
        own = (op, "spectra.py", 71, "energy") if rank == 2 else ("Barrier", "march.py", 128, "march")
        head = f"=== node d1{rank // 2} rank {rank} pid {300 + rank} ===\n"
        text += head + TYPED.format(
            pid=300 + rank, typed=typed, op=own[0], file=own[1], line=own[2], function=own[3]
        )
    (tmp_path / "gdb.txt").write_text(text)
    verdict = diagnose(tmp_path).verdicts[0]
    assert [one.rank for one in verdict.suspects] == suspected
    assert "spectra.py:71" in verdict.sentence
    assert "march.py:128" in verdict.sentence
    assert "one place" not in verdict.sentence
