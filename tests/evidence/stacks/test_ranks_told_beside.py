"""Which process is which rank, as notes, launchers and places in a row tell it; and several sessions in one file."""

from __future__ import annotations

from pathlib import Path

import pytest

from rankandfile import diagnose
from rankandfile.model.diagnosis import Diagnosis

C10D = "torch/distributed/distributed_c10d.py"
MAIN = "    <module> (fit.py:9)\n"
WAITS = f"    all_reduce ({C10D}:2501)\n    mix (fit/halo.py:52)\n{MAIN}"
LOCKS = f"    acquire (filelock/_api.py:9)\n    claim (fit/cells.py:18)\n{MAIN}"


def spied(pid: int, odd: bool, options: str = "") -> str:
    stack = LOCKS if odd else WAITS
    return f'Process {pid}: python fit.py {options}\n\nThread {pid} (idle): "MainThread"\n{stack}\n'


def suspects(diagnosis: Diagnosis) -> dict[int, int | None]:
    verdict = diagnosis.verdicts[0]
    return {one.rank: verdict.location.line if verdict.location else None for one in verdict.suspects}


@pytest.mark.parametrize(
    "note",
    [
        "ranks by process: 4101=0 4107=1 4113=2 4119=3",
        "pid of each rank (same host): 4101 -> 0, 4107 -> 1, 4113 -> 2, 4119 -> 3",
        "rank 0: 4101, rank 1: 4107, rank 2: 4113, rank 3: 4119",
        "# on box7: ranks 0-3 are processes 4101, 4107, 4113, 4119",
        "pids 4101 4107 4113 4119 = ranks 0 to 3",
        "$ for p in 4101 4107 4113 4119; do tr '\\0' '\\n' < /proc/$p/environ | grep RANK; done\n"
        "LOCAL_RANK=0\nRANK=0\nLOCAL_RANK=1\nRANK=1\nLOCAL_RANK=2\nRANK=2\nLOCAL_RANK=3\nRANK=3",
        "$ head -z /proc/4101/environ /proc/4107/environ /proc/4113/environ /proc/4119/environ | tr -d x\n"
        "OMPI_COMM_WORLD_RANK=0\nOMPI_COMM_WORLD_RANK=1\nOMPI_COMM_WORLD_RANK=2\nOMPI_COMM_WORLD_RANK=3",
    ],
)
def test_a_note_that_lists_them(tmp_path: Path, note: str) -> None:
    (tmp_path / "notes.txt").write_text(f"asked by mail\n{note}\n")
    text = "".join(spied(pid, pid == 4113) for pid in (4101, 4107, 4113, 4119))
    (tmp_path / "stacks.txt").write_text(text)
    assert suspects(diagnose(tmp_path)) == {2: 18}


def test_numbers_that_are_no_list_of_ranks_tell_nothing(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("rank 0 says: 4101=7 4107=7, and 4113=2 retries\n")
    (tmp_path / "stacks.txt").write_text("".join(spied(pid, pid == 4113) for pid in (4101, 4107, 4113)))
    assert suspects(diagnose(tmp_path)) == {}


@pytest.mark.parametrize(
    "note",
    [
        "ranks 0-3 are processes 4101 4107 4113",
        "$ for p in 4101 4107 4113 4119; do cat /proc/$p/environ | grep ^RANK; done\nRANK=0\nRANK=2\nRANK=3",
    ],
)
def test_fewer_answers_than_processes_tell_nothing(tmp_path: Path, note: str) -> None:
    (tmp_path / "notes.txt").write_text(f"asked by mail\n{note}\n")
    (tmp_path / "stacks.txt").write_text("".join(spied(pid, pid == 4113) for pid in (4101, 4107, 4113, 4119)))
    assert suspects(diagnose(tmp_path)) == {}


def pystack(pid: int, odd: bool, native: bool = False) -> str:
    inner = [("/j/fit/cells.py", 18, "claim")] if odd else [("/v/site-packages/" + C10D, 2501, "all_reduce")]
    frames = [("/j/fit.py", 9, "<module>"), *([] if odd else [("/j/fit/halo.py", 52, "mix")]), *inner]
    lines = [f'    (Python) File "{file}", line {line}, in {name}' for file, line, name in frames]
    if native:
        lines.insert(0, '    (C) File "???", line 0, in _start (/usr/bin/python3.10)')
        lines.append('    (C) File "./nptl/sem_wait.c", line 47, in __new_sem_wait_slow64 (libc.so.6)')
    thread = f"Traceback for thread {pid} (python) [] (most recent call last):"
    return "\n".join([thread, *lines, ""]) + "\n"


def test_the_number_of_a_process_in_a_name_is_no_rank(tmp_path: Path) -> None:
    note = "# ranks 0..2 are pids 4101 4107 4113\n"
    commands = "".join(f"$ pystack remote {pid}\n{pystack(pid, pid == 4107)}" for pid in (4101, 4107, 4113))
    (tmp_path / "pystack.txt").write_text(note + commands)
    again = "$ pystack --no-color remote --native 4107 | tail -9\n" + pystack(4107, True, native=True)
    (tmp_path / "pystack_4107_native.txt").write_text(again)
    diagnosis = diagnose(tmp_path)
    assert suspects(diagnosis) == {1: 18}
    assert "4107" not in diagnosis.verdicts[0].sentence
    (tmp_path / "alone").mkdir()
    (tmp_path / "alone" / "pystack_4107_native.txt").write_text(pystack(4107, True, native=True))
    assert "ank 4107" not in str(diagnose(tmp_path / "alone").verdicts)


def test_places_on_machines_that_are_numbered(tmp_path: Path) -> None:
    for node in range(2):
        text = "".join(
            spied(100 * node + 11 + local, (node, local) == (1, 1), f"--local-rank={local}")
            for local in range(3)
        )
        (tmp_path / f"stacks_host{node}.txt").write_text(text)
    diagnosis = diagnose(tmp_path)
    assert suspects(diagnosis) == {4: 18}
    assert any("is taken for it" in note.what for note in diagnosis.notes)


def test_a_machine_that_is_not_there_leaves_the_ranks_open(tmp_path: Path) -> None:
    for node in (0, 2):
        text = "".join(
            spied(100 * node + local + 11, local == 1, f"--local-rank={local}") for local in range(2)
        )
        (tmp_path / f"stacks_host{node}.txt").write_text(text)
    assert suspects(diagnose(tmp_path)) == {}


def test_files_in_a_row_with_one_process_each(tmp_path: Path) -> None:
    env = "/env/lib/python3.11/site-packages"
    frames = {False: (f"{env}/{C10D}", 2501, "all_reduce"), True: (f"{env}/filelock/_api.py", 9, "acquire")}
    for worker in range(3):
        file, line, name = frames[worker == 1]
        place = 18 if worker == 1 else 52
        (tmp_path / f"gpu{worker}.stderr").write_text(
            "Timeout (0:10:00)!\nThread 0x00007f11 (most recent call first):\n"
            f'  File "{file}", line {line} in {name}\n'
            f'  File "/job/fit.py", line {place} in turn\n  File "/job/fit.py", line 90 in <module>\n'
        )
    assert suspects(diagnose(tmp_path)) == {1: 18}


def test_sessions_of_gdb_one_below_the_other(tmp_path: Path) -> None:
    def session(pid: int, rank: int, file: str, line: int) -> str:
        return f"""$ gdb -p {pid} --batch -ex 'thread apply all bt 6' -ex py-bt   # rank {rank} of the job
[New LWP {pid + 40}]
0x00007f00 in clock_gettime ()

Thread 1 (Thread 0x7f20 (LWP {pid}) "python"):
#0  0x00007f00 in clock_gettime ()
#1  0x00007f01 in cudaStreamSynchronize () from /opt/lib/libcudart.so.12
(More stack frames follow...)
Traceback (most recent call first):
  File "/job/{file}.py", line {line}, in turn
    n = count.item()
  File "/job/main.py", line 9, in <module>
    main()
[Inferior 1 (process {pid}) detached]
"""

    places = {0: ("step", 77), 1: ("step", 77), 2: ("cells", 31), 3: ("step", 77)}
    text = "\n".join(session(500 + rank, rank, *place) for rank, place in places.items())
    (tmp_path / "gdb.txt").write_text(text)
    assert suspects(diagnose(tmp_path)) == {2: 31}


def test_a_process_that_its_launcher_started_and_that_alone_is_left(tmp_path: Path) -> None:
    python = "['/usr/bin/python', '-u', 'fit.py', '--local_rank={}', '--zero', '2']"
    started = "".join(
        f"[2025-05-05 10:00:00,120] [INFO] [launch.py:256:main] process {900 + n} spawned with command: "
        f"{python.format(n)}\n"
        for n in range(4)
    )
    ended = "".join(
        f"[2025-05-05 12:00:00,120] [INFO] [launch.py:351:main] Process {900 + n} exits successfully.\n"
        for n in (0, 1, 3)
    )
    (tmp_path / "run.log").write_text(
        f"[2025-05-05 10:00:00,110] [INFO] [launch.py:164:main] dist_world_size=4\n{started}epoch 1 done\n{ended}"
    )
    (tmp_path / "left.txt").write_text(
        'Process 902: python -u fit.py --local_rank=2\n\nThread 902 (idle): "MainThread"\n'
        "    join (threading.py:1096)\n"
        '    _shutdown (threading.py:1567)\nThread 977 (idle): "mirror"\n    read (socket.py:717)\n'
        "    pull (fit/mirror.py:64)\n    run (threading.py:953)\n    _bootstrap_inner (threading.py:1016)\n"
        "    _bootstrap (threading.py:973)\n"
    )
    diagnosis = diagnose(tmp_path)
    assert diagnosis.verdicts[0].cause == "teardown_only"
    assert suspects(diagnosis) == {2: 64}
    assert {one.ranks: one.state for one in diagnosis.standings}["0,1,3"] == "gone"


def test_what_ray_prints_of_a_worker(tmp_path: Path) -> None:
    (tmp_path / "driver.log").write_text(
        "".join(
            f"(Learner pid={pid}, ip=10.0.0.5) joined as rank {n}/3 on cuda:{n}\n"
            for n, pid in enumerate((61, 62, 63))
        )
    )
    (tmp_path / "stacks.txt").write_text("".join(spied(pid, pid == 62) for pid in (61, 62, 63)))
    assert suspects(diagnose(tmp_path)) == {1: 18}


def test_processes_of_no_known_rank_are_told_with_their_lines(tmp_path: Path) -> None:
    (tmp_path / "stacks.txt").write_text("".join(spied(pid, pid == 41) for pid in (17, 29, 41, 59)))
    verdict = diagnose(tmp_path).verdicts[0]
    assert "process 41 is waiting for a lock in cells.py:18" in verdict.sentence
    assert "processes 17, 29, 59 are in all_reduce ← mix, halo.py:52" in verdict.sentence
