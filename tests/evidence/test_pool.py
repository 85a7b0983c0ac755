"""Decoding processes: kept busy, replaced when a file brings one down, and never left behind."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import msgspec
import pytest
from support.capture.waiting import until
from support.cli.raf_runs import Raf
from support.evidence.kept_decoders import KeptDecoders
from support.evidence.sample_dumps import one_rank, only

from rankandfile import pipeline
from rankandfile.evidence.files import decoder, pool, worker
from rankandfile.evidence.files.decoded import Decoded, unpack_decoded
from rankandfile.evidence.files.limits import Limits
from rankandfile.evidence.files.patience import Patience
from rankandfile.evidence.files.pool import Task, decode_all, default_jobs
from rankandfile.evidence.load import load
from rankandfile.evidence.raw import pack
from rankandfile.lab.flight_writer import write_pickle
from rankandfile.model.ledger import NO_ROOM

Answers = dict[int, Decoded]


@pytest.fixture
def tasks(tmp_path: Path) -> list[Task]:
    made = []
    for rank in range(6):
        path = tmp_path / f"rank_{rank}"
        path.write_bytes(write_pickle(one_rank(rank % 4, calls=2 + rank)))
        made.append(Task(path, path.name, path.stat().st_size))
    return made


def decoders() -> list[int]:
    """Decoding processes of this one that still run or are not yet reaped. Threads come and go meanwhile."""
    found: list[str] = []
    for thread in Path(f"/proc/{os.getpid()}/task").iterdir():
        with contextlib.suppress(OSError):
            found += (thread / "children").read_text().split()
    return [int(pid) for pid in found if _decodes(pid)]


def _decodes(pid: str) -> bool:
    try:
        return "rankandfile.evidence.files.worker" in Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return False


pytestmark = [
    pytest.mark.slow,
    pytest.mark.usefixtures("own_decoders"),
    pytest.mark.skipif(sys.platform != "linux", reason="watches processes through /proc"),
]


def run(tasks: list[Task], **limits: float) -> Answers:
    answers: Answers = {}
    decode_all(tasks, answers.__setitem__, **limits)  # type: ignore[arg-type]
    assert decoders() == []
    return answers


@pytest.mark.parametrize("jobs", [1, 2, 5, None])
def test_every_file_is_answered_once_whatever_the_number_of_processes(
    tasks: list[Task], jobs: int | None
) -> None:
    seen: list[int] = []
    calls: dict[int, int] = {}

    def receive(index: int, decoded: Decoded) -> None:
        seen.append(index)
        calls[index] = only(decoded.dumps).calls

    decode_all(tasks, receive, jobs)
    assert sorted(seen) == list(range(6))
    assert calls == {index: 2 + index for index in range(6)}


def test_no_file_starts_no_process() -> None:
    assert run([]) == {}


def test_there_is_at_least_one_job() -> None:
    assert default_jobs() >= 1


def test_a_file_that_is_not_there_is_a_note(tasks: list[Task], tmp_path: Path) -> None:
    answers = run([*tasks, Task(tmp_path / "gone", "gone", 10), Task(tmp_path, "folder", 10)])
    assert "No such file" in only(answers[6].notes).what
    assert "directory" in only(answers[7].notes).what
    assert [only(answers[n].dumps).calls for n in range(6)] == [2, 3, 4, 5, 6, 7]


def test_a_file_that_stalls_its_process_is_given_up_and_the_rest_is_decoded(
    tasks: list[Task], tmp_path: Path
) -> None:
    began = time.monotonic()
    pipe = tmp_path / "a_pipe"
    os.mkfifo(pipe)  # opening it blocks until somebody writes; the largest file comes first
    answers = run([*tasks, Task(pipe, "pipe", 1 << 20)], jobs=1, seconds=1.5)
    assert only(answers[6].notes).what == "refused: it took longer than any real file"
    assert 1.5 < time.monotonic() - began < 300
    assert [only(answers[n].dumps).calls for n in range(6)] == [2, 3, 4, 5, 6, 7]


def test_a_file_that_is_worked_on_is_waited_for_however_busy_the_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its processor time is bounded by itself; a clock would refuse honest files beside other work."""
    path = tmp_path / "rank_0"
    path.write_bytes(write_pickle(one_rank(0, calls=20_000)))
    # In so short a time a busy machine may give it nothing at all.
    monkeypatch.setattr(decoder, "_WORKS", -1.0)
    answers = run([Task(path, path.name, 0)], jobs=1, seconds=0.01)
    assert only(answers[0].dumps).calls == 20_000


def test_a_file_that_kills_its_process_is_said_so_and_the_rest_is_decoded(
    tasks: list[Task], tmp_path: Path
) -> None:
    pipe = tmp_path / "a_pipe"
    os.mkfifo(pipe)

    def kill() -> None:
        """As the kernel's memory killer would, once the process has opened the file."""
        end = os.open(pipe, os.O_WRONLY)
        for pid in decoders():
            os.kill(pid, signal.SIGKILL)
        os.close(end)

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    answers = run([*tasks, Task(pipe, "pipe", 1 << 20)], jobs=1)
    killer.join()
    assert only(answers[6].notes).what == "refused: it brought its decoding process down"
    assert [only(answers[n].dumps).calls for n in range(6)] == [2, 3, 4, 5, 6, 7]


def test_a_process_that_crashes_leaves_no_core_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import resource

    pipe = tmp_path / "a_pipe"
    os.mkfifo(pipe)

    def crash() -> None:
        """As a fault in native code would."""
        end = os.open(pipe, os.O_WRONLY)
        for pid in decoders():
            os.kill(pid, signal.SIGSEGV)
        os.close(end)

    monkeypatch.chdir(tmp_path)
    before = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (before[1], before[1]))
    crasher = threading.Thread(target=crash, daemon=True)
    crasher.start()
    try:
        answers = run([Task(pipe, "pipe", 1 << 20)], jobs=1)
    finally:
        resource.setrlimit(resource.RLIMIT_CORE, before)
    crasher.join()
    assert only(answers[0].notes).what == "refused: it brought its decoding process down"
    assert [path.name for path in tmp_path.iterdir()] == [pipe.name]


def test_when_the_receiver_fails_no_process_stays_behind(tasks: list[Task]) -> None:
    def receive(index: int, decoded: Decoded) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        decode_all(tasks * 20, receive, 3)
    assert decoders() == []
    assert [thread for thread in threading.enumerate() if "Server" in type(thread).__name__] == []


def test_a_signal_that_comes_while_processes_start_leaves_none_behind(
    tasks: list[Task], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first one is at work already, on what never comes."""
    pipe, start = tmp_path / "a_pipe", threading.Thread.start
    os.mkfifo(pipe)

    def started(thread: threading.Thread) -> None:
        start(thread)
        until(decoders)
        raise KeyboardInterrupt

    monkeypatch.setattr(threading.Thread, "start", started)
    with pytest.raises(KeyboardInterrupt):
        decode_all([Task(pipe, "pipe", 1 << 20), *tasks], Answers().__setitem__, 2, seconds=300)
    assert decoders() == []


def test_giving_up_does_not_wait_for_a_stalled_file(tasks: list[Task], tmp_path: Path) -> None:
    pipe = tmp_path / "a_pipe"
    os.mkfifo(pipe)

    def receive(index: int, decoded: Decoded) -> None:
        raise KeyboardInterrupt

    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        decode_all([Task(pipe, "pipe", 1 << 20), *tasks], receive, 2, seconds=300)
    assert time.monotonic() - began < 300
    assert decoders() == []


def test_where_no_process_starts_each_file_says_so(
    tasks: list[Task], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    answers = run(tasks, jobs=2)
    assert {only(decoded.notes).what for decoded in answers.values()} == {
        "no decoding process starts: No such file or directory"
    }


def test_a_python_that_cannot_import_us_is_told_from_a_bad_file(
    tasks: list[Task], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [])
    answers = run(tasks[:1], jobs=1)
    assert only(answers[0].notes).what.startswith(
        "no decoding process starts: ModuleNotFoundError: No module"
    )


def test_a_fault_of_ours_is_told_as_one_and_not_as_one_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def faulty(path: Path, name: str, dump_bytes: int) -> Decoded:
        raise ValueError("no such\nshape")

    monkeypatch.setattr(worker, "decode", faulty)
    request = worker.Request(os.fsencode(tmp_path), "train.log")
    told = only(unpack_decoded(pack([msgspec.Raw(worker._answer(request))]))[0].notes).what
    assert re.fullmatch(
        r"refused: raf itself failed on it: ValueError: no such shape \(test_pool\.py:\d+\)", told
    )
    assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)


def takes_for_ever(number: int = 0) -> bytes:
    """A pickle of millions of opcodes that no dump has: it is read one by one. Tasks say that it is small."""
    return b"\x80\x02}(X\x07\0\0\0entries](K%c" % number + b"N2" * 3_000_000 + b"eu."


def test_files_that_take_for_ever_get_less_time_and_then_none(tasks: list[Task], tmp_path: Path) -> None:
    bombs = [tmp_path / f"bombs/nccl_trace_rank_{n}" for n in range(50)]
    bombs[0].parent.mkdir()
    bombs[0].write_bytes(takes_for_ever())
    for bomb in bombs[1:]:
        bomb.hardlink_to(bombs[0])
    answers: Answers = {}
    patience = Patience(3600, of_a_file=0.4)
    # As large as the others, by their own account, so that they come first.
    hostile = [Task(bomb, str(bomb), 1 << 10) for bomb in bombs]
    decode_all([*hostile, *tasks], answers.__setitem__, 1, patience=patience)
    said = Counter(only(answers[n].notes).what for n in range(50))
    tried = said.pop("refused: it took longer than any real file")
    assert 3 <= tried <= 10
    assert said == {"not read: too many files beside it took longer than any real file": 50 - tried}
    # Files from elsewhere do not suffer from it.
    assert [only(answers[50 + n].dumps).calls for n in range(6)] == [2, 3, 4, 5, 6, 7]


def test_the_whole_load_has_a_limit_of_time_and_says_what_was_left_out(tmp_path: Path) -> None:
    evidence, spool = tmp_path / "evidence", tmp_path / "spool"
    spool.mkdir()
    evidence.mkdir()
    for n in range(9):
        (evidence / f"nccl_trace_rank_{n}").write_bytes(takes_for_ever(n))
    began = time.monotonic()
    case = load([evidence], spool, jobs=1, limits=Limits(seconds=1.0))
    assert time.monotonic() - began < 60
    what = "not read: the time for reading is over (--limit-seconds gives more); neither were 8 more files"
    assert [note.what for note in case.notes] == [what]


def test_what_the_whole_load_takes_has_a_limit_of_memory_and_says_what_was_left_out(
    tmp_path: Path,
) -> None:
    evidence, spool = tmp_path / "evidence", tmp_path / "spool"
    spool.mkdir()
    evidence.mkdir()
    for n in range(40):
        (evidence / f"nccl_trace_rank_{n}").write_bytes(write_pickle(one_rank(n, calls=50)))
    case = load([evidence], spool, jobs=1, limits=Limits(memory_bytes=400_000))
    (note,) = (note.what for note in case.notes if note.what.startswith("not kept"))
    assert note.startswith(f"not kept: {NO_ROOM}; neither were")
    used = case.dumps_used.height
    assert 2 < used < 30 and set(case.calls["rank"]) == set(case.dumps_used["rank"])
    # The ranks of the others have left a dump, too.
    assert sorted(case.dumps["rank"]) == [*range(40)]
    assert set(case.dumps["set_aside"]) == {None, NO_ROOM}
    assert load([evidence], spool, jobs=1).dumps_used.height == 40


def test_more_memory_never_keeps_fewer_dumps(tmp_path: Path) -> None:
    """Where calls filled it to the brim, what repeats in them had no room left, and every dump was set aside."""
    evidence = tmp_path / "evidence"
    evidence.mkdir()
    for n in range(20):
        (evidence / f"nccl_trace_rank_{n}").write_bytes(write_pickle(one_rank(n, calls=50)))
    kept = []
    for most in range(200_000, 500_000, 50_000):
        (spool := tmp_path / str(most)).mkdir()
        kept.append(load([evidence], spool, jobs=1, limits=Limits(memory_bytes=most)).dumps_used.height)
    assert kept == sorted(kept) and kept[0] > 0


def test_of_ranks_without_room_none_is_said_to_have_left_nothing(tmp_path: Path) -> None:
    for n in range(4):
        (tmp_path / f"nccl_trace_rank_{n}").write_bytes(write_pickle(one_rank(n, calls=49)))
    found = pipeline.run([tmp_path], pipeline.Options(limits=Limits(memory_bytes=100_000), hung=True))
    (verdict,) = found.diagnosis.verdicts
    assert found.case.dumps_used.height == 2 and not verdict.culprits
    assert [NO_ROOM in missing.what for missing in verdict.missing_evidence] == [True]


def test_small_files_asked_for_together_are_told_apart_when_one_brings_their_process_down(
    tmp_path: Path,
) -> None:
    tasks = []
    for n in range(64):
        path = tmp_path / f"nccl_trace_rank_{n}"
        path.write_bytes(takes_for_ever() if n == 33 else write_pickle(one_rank(0, calls=2 + n % 3)))
        tasks.append(Task(path, path.name, min(path.stat().st_size, 4000)))
    answers: Answers = {}
    decode_all(tasks, answers.__setitem__, 1, patience=Patience(3600, of_a_file=0.4))
    assert only(answers.pop(33).notes).what == "refused: it took longer than any real file"
    assert {n: only(one.dumps).calls for n, one in answers.items()} == {n: 2 + n % 3 for n in answers}


def test_more_files_than_the_limit_are_left_out_and_said(tmp_path: Path, raf: Raf) -> None:
    for n in range(4):
        (tmp_path / f"nccl_trace_rank_{n}").write_bytes(write_pickle(one_rank(n)))
    done = raf("diagnose", tmp_path, "--limit-files", 3, "--format", "json")
    assert "more than 3 files (--limit-files allows more); the rest was not looked at" in done.out


def test_a_process_keeps_lines_whatever_it_read_for_others(tmp_path: Path) -> None:
    """Of a load of too many logs no lines are kept. The next load, by the same process, has its own count."""
    logs = []
    for rank in range(4):
        path = tmp_path / f"rank_{rank}.log"
        path.write_text(f"[epoch 0] loaded {1200 + rank} shards of the corpus\n" * 3)
        logs.append(Task(path, path.name, path.stat().st_size))

    def kept(wanted: bool) -> list[bool]:
        found: Answers = {}
        decode_all(logs, found.__setitem__, 1, wants_lines=lambda: wanted)
        return [bool(one.log and one.log.said) for one in found.values()]

    decoders = KeptDecoders()
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(pool, "Decoder", decoders)
            assert kept(False) == [False] * 4
            assert kept(True) == [True] * 4
    finally:
        decoders.end()
