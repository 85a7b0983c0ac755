"""Who is missing, told by what all others show: the one that leaves MPI, that sleeps while others spin, that never began."""

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


def named(verdict: Verdict) -> list[int]:
    return [one.rank for one in verdict.suspects or verdict.culprits]


def dumped(pid: int, frames: str, state: str = "active") -> str:
    return f'Process {pid}: python -u run.py\nPython v3.12.7 (/usr/bin/python3.12)\n\nThread {pid} ({state}): "MainThread"\n{frames}\n'


RAISED = """step 41 energy -3.118
Traceback (most recent call last):
  File "/data/fold/run.py", line 88, in <module>
    main()
  File "/data/fold/run.py", line 61, in main
    relax(frame)
  File "/data/fold/relax.py", line 37, in relax
    raise FloatingPointError("overflow in pair potential")
FloatingPointError: overflow in pair potential
"""
EXCHANGES = "    exchange (halo.py:52)\n    main (run.py:64)\n    <module> (run.py:88)\n"
LEAVES = {
    "Open MPI": """#0  0x00007f6e1cb5f3c4 in opal_progress () from /usr/lib/libopen-pal.so.40
#1  0x00007f6e1cfd9b91 in ompi_mpi_finalize () from /usr/lib/libmpi.so.40
#2  0x000055f0b3d0ae17 in Py_FinalizeEx ()
#3  0x000055f0b3cd0a57 in Py_BytesMain ()
""",
    "MPICH": """#0  0x00007f6e1cb5f3c4 in MPIDI_CH3I_Progress () from /usr/lib/libmpi.so.12
#1  0x00007f6e1cfd9b91 in MPIR_Finalize_impl () from /usr/lib/libmpi.so.12
#2  0x000055f0b3d0ae17 in Py_FinalizeEx ()
#3  0x000055f0b3d18a6b in Py_RunMain ()
""",
}


@pytest.mark.parametrize("leaves", LEAVES.values(), ids=LEAVES)
def test_who_leaves_mpi_raised_what_no_line_gives_to_a_rank(tmp_path: Path, leaves: str) -> None:
    stacks = "".join(
        f"# OMPI_COMM_WORLD_RANK={n}\n" + dumped(700 + n, "" if n == 1 else EXCHANGES) for n in range(4)
    )
    verdict = asked(
        tmp_path,
        {
            "out.txt": "$ mpirun -n 4 python -u run.py\n" + RAISED,
            "stacks.txt": f"{stacks}\n# gdb -p 701 -batch -ex bt\n{leaves}",
        },
    )
    assert verdict.cause == "raised" and named(verdict) == [1]
    assert verdict.location is not None and verdict.location.line == 37


def test_nobody_raised_it_where_nobody_leaves(tmp_path: Path) -> None:
    stacks = "".join(f"# OMPI_COMM_WORLD_RANK={n}\n" + dumped(700 + n, EXCHANGES) for n in range(4))
    verdict = asked(tmp_path, {"out.txt": "$ mpirun -n 4 python -u run.py\n" + RAISED, "stacks.txt": stacks})
    assert not named(verdict)


SPINS = "    foreach_norm (torch/_foreach.py:40)\n    clip (opt.py:71)\n    epoch (loop.py:102)\n    <module> (loop.py:140)\n"
SLEEPS = "    take_slot (quota.py:33)\n    write_row (table.py:90)\n    epoch (loop.py:98)\n    <module> (loop.py:140)\n"


def looks(odd: str, second: str, *, state: str = "idle") -> dict[str, str]:
    return {
        f"look{number}.txt": f"# look {number} {clock}\n"
        + "".join(
            f"--- RANK={n} pid={300 + n}\n"
            + (dumped(300 + n, frames, state) if n == 2 else dumped(300 + n, SPINS))
            for n in range(4)
        )
        for number, clock, frames in ((1, "10:52:07", odd), (2, "10:58:30", second))
    }


def test_who_sleeps_in_its_own_code_in_every_look_holds_up_those_that_spin(tmp_path: Path) -> None:
    verdict = asked(tmp_path, looks(SLEEPS, SLEEPS))
    assert named(verdict) == [2] and not verdict.culprits
    assert verdict.location is not None and (verdict.location.line, verdict.cause) == (33, "host_blocked")
    assert "383 s" in verdict.sentence


@pytest.mark.parametrize("second", [SPINS, SLEEPS.replace("table.py:90", "table.py:97")])
def test_who_was_elsewhere_in_another_look_is_not_named_for_it(tmp_path: Path, second: str) -> None:
    assert not named(asked(tmp_path, looks(SLEEPS, second)))


def test_nobody_is_said_to_move_who_was_seen_running_in_one_place(tmp_path: Path) -> None:
    verdict = asked(tmp_path, looks(SLEEPS, SLEEPS, state="active"))
    assert "move" not in verdict.sentence and not verdict.culprits


BEGAN = "2025-07-08T09:12:0{n}Z INFO | WORLD_SIZE=4 RANK={n}\n2025-07-08T09:12:1{n}Z INFO | init_process_group(nccl)\n"
PODS = """NAME          READY   STATUS    RESTARTS   AGE
seg-master-0  1/1     Running   0          36m
{pod}  0/1     Pending   0          36m
"""


def of_pods(began: int, pod: str) -> dict[str, str]:
    names = ["seg-master-0", *(f"seg-worker-{n}" for n in range(3))][:began]
    logs = {f"{name}.log": BEGAN.format(n=n) for n, name in enumerate(names)}
    gave_up = "[rank0]: torch.distributed.DistStoreError: Timed out after 1801 seconds waiting for clients. 3/4 clients joined.\n"
    logs["seg-master-0.log"] += gave_up
    return {**logs, "pods.txt": PODS.format(pod=pod)}


def test_the_pod_that_never_began_is_the_rank_of_which_nothing_is_here(tmp_path: Path) -> None:
    verdict = asked(tmp_path, of_pods(3, "seg-worker-2"))
    assert verdict.cause == "init_stuck" and named(verdict) == [3]


@pytest.mark.parametrize(("began", "pod"), [(2, "seg-worker-2"), (3, "other-job-0")])
def test_a_pod_that_may_be_any_of_several_names_no_rank(tmp_path: Path, began: int, pod: str) -> None:
    assert not named(asked(tmp_path, of_pods(began, pod)))


BROKE = """Traceback (most recent call last):
  File "/data/vit/fit.py", line 210, in <module>
    main()
  File "/data/vit/shards.py", line 55, in read
    raise OSError("truncated shard 41")
OSError: truncated shard 41
"""


@pytest.mark.parametrize("says", ["INFO:root:rank {n}/4 up\n", "Rank {n} of 4, cuda:{n}\n"])
def test_logs_whose_processes_say_which_of_how_many_they_are_are_theirs(tmp_path: Path, says: str) -> None:
    logs = {f"{name}.log": says.format(n=n) + f"it 20 loss 2.{n}\n" for n, name in enumerate("dcab")}
    logs["a.log"] += BROKE
    verdict = asked(tmp_path, logs)
    assert named(verdict) == [2] and verdict.cause == "raised"


def test_the_first_rank_of_each_machine_speaks_for_those_beside_it(tmp_path: Path) -> None:
    """Whose exception stands in the log of a machine, nobody knows."""
    logs = {f"{name}.log": f"rank {n}/4 up\nit 20 loss 2.{n}\n" for n, name in ((0, "east"), (2, "west"))}
    logs["west.log"] += BROKE
    assert not named(asked(tmp_path, logs))
