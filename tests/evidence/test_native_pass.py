"""Dumps that the native reader has an answer for are taken from it, and all others from decoding processes.

Its part is played here by Python's reader, so that these tests need no compiler; what it says itself is compared with
Python's in `tests/fuzz/test_native_reader.py`.
"""

from __future__ import annotations

import os
import pickle
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from support.cli.raf_runs import Raf
from support.evidence.sample_dumps import one_rank, plain

import rankandfile
from rankandfile.evidence.files import native_pass, worker
from rankandfile.evidence.files.decoded import Decoded
from rankandfile.evidence.files.engine import Here
from rankandfile.evidence.files.patience import Patience
from rankandfile.evidence.files.pool import Task
from rankandfile.evidence.flight import native as module
from rankandfile.evidence.flight.native import INTERFACE, SWITCH, Answer, native
from rankandfile.evidence.flight.native_dumps import Told, decoded
from rankandfile.evidence.load import decode
from rankandfile.evidence.raw import pack
from rankandfile.evidence.tables.room import Room
from rankandfile.lab.flight_writer import write_pickle


@pytest.fixture(autouse=True)
def found_anew(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv(SWITCH, raising=False)
    module.native.cache_clear()
    yield
    module.native.cache_clear()


def answer_of(path: Path, doubtful: Sequence[str] = ()) -> Answer:
    """What the native reader would say of a dump, as Python's reads it."""
    (dump,) = worker.decode(path, path.name).dumps
    value = pickle.loads(path.read_bytes())
    numbers = {str(entry["pg_id"]): entry["process_group"] for entry in value["entries"]}
    local = {number: dump.groups.index(tuple(group)) for number, group in numbers.items()}
    header = {key: inner for key, inner in value.items() if key != "entries"}
    told = Told(header, dump.has_frames, dump.groups, dump.threads, local, list(doubtful))
    return dump.calls, pack(told), dump.repeats, [dump.kinds, *dump.integers, dump.durations_ms], 0.25


def reads(paths: Sequence[bytes], _most: int) -> list[Answer | None]:
    """Only the dumps of even ranks."""
    found = [Path(os.fsdecode(path)) for path in paths]
    return [answer_of(path) if int(path.name[-1]) % 2 == 0 else None for path in found]


@pytest.fixture
def tasks(tmp_path: Path) -> list[Task]:
    for rank in range(4):
        (tmp_path / f"nccl_trace_rank_{rank}").write_bytes(write_pickle(one_rank(rank, calls=20)))
    return [Task(path, path.name, path.stat().st_size) for path in sorted(tmp_path.iterdir())]


def passed(tasks: list[Task], read: Any) -> tuple[list[int], dict[int, Decoded]]:
    received: dict[int, Decoded] = {}
    left = native_pass.read(tasks, received.__setitem__, read, 2, Patience(60.0))
    return left, received


def test_it_reads_what_it_has_an_answer_for(tasks: list[Task]) -> None:
    left, received = passed(tasks, reads)
    assert left == [1, 3]
    assert sorted(received) == [0, 2]
    for index, found in received.items():
        expected = worker.decode(tasks[index].path, tasks[index].name)
        assert found.dumps == expected.dumps
        assert (found.kind, found.notes, found.seconds) == (expected.kind, expected.notes, 0.25)
        assert found.bytes >= sum(map(len, found.dumps[0].integers))


def test_the_list_of_a_whole_world_has_the_weight_of_what_is_kept_of_it(tasks: list[Task]) -> None:
    """Or a thousand of a hundred thousand ranks find no room, where all of their calls have."""
    value = plain(one_rank(0, calls=20))
    group = next(iter(value["pg_config"]))
    value["pg_config"][group]["ranks"] = str([*range(100_000)])
    tasks[0].path.write_bytes(pickle.dumps(value, 2))
    found, whole = decoded(answer_of(tasks[0].path)), worker.decode(tasks[0].path, tasks[0].name)
    assert found is not None and found.dumps == whole.dumps
    assert found.bytes < 2 * len(pack(whole.dumps)) < 20_000 < tasks[0].path.stat().st_size


def test_notes_are_those_of_python(tasks: list[Task]) -> None:
    value = plain(one_rank(0, calls=3)) | {"version": "9.1", "more\n": 1}
    tasks[0].path.write_bytes(pickle.dumps(value))
    found = decoded(answer_of(tasks[0].path))
    assert found is not None
    assert found.notes == worker.decode(tasks[0].path, tasks[0].name).notes
    assert len(found.notes) == 2


def test_what_is_left_is_decoded_by_processes(tasks: list[Task], monkeypatch: pytest.MonkeyPatch) -> None:
    package = SimpleNamespace(__version__="0.1.0", interface=INTERFACE, read=reads)
    monkeypatch.setitem(sys.modules, "rankandfile_native", package)
    files = decode(tasks, Room(), Here(1), None, Patience(3600))
    assert [decoded.dumps[0].calls for decoded in files] == [20] * 4
    # Those that it read took the time that it said.
    assert [decoded.seconds == 0.25 for decoded in files] == [True, False, True, False]


@pytest.mark.parametrize("text", ["a\u00a0b", "x" * 5000, "tab\t"])
def test_what_has_to_be_mended_is_left(tasks: list[Task], text: str) -> None:
    assert decoded(answer_of(tasks[0].path, ["größe"])) is not None
    assert decoded(answer_of(tasks[0].path, ["größe", text])) is None


def test_a_reader_that_fails_leaves_all(tasks: list[Task]) -> None:
    def fails(_paths: Sequence[bytes], _most: int) -> list[Answer | None]:
        raise MemoryError

    assert passed(tasks, fails) == ([0, 1, 2, 3], {})


def test_a_disk_that_does_not_answer_is_left(tasks: list[Task], monkeypatch: pytest.MonkeyPatch) -> None:
    answers = threading.Event()

    def hangs(_paths: Sequence[bytes], _most: int) -> list[Answer | None]:
        answers.wait()
        return []

    monkeypatch.setattr(native_pass, "SECONDS", 0.2)
    assert passed(tasks, hangs) == ([0, 1, 2, 3], {})
    answers.set()


def test_archives_and_files_beyond_the_limits_are_left(tasks: list[Task]) -> None:
    odd = [tasks[0]._replace(name="all.TAR"), tasks[0]._replace(dump_bytes=100), tasks[0]._replace(size=10)]
    assert passed(odd, reads) == ([0, 1, 2], {})


def test_nothing_is_begun_when_the_time_is_over(tasks: list[Task]) -> None:
    received: dict[int, Decoded] = {}
    assert native_pass.read(tasks, received.__setitem__, reads, 2, Patience(0.0)) == [0, 1, 2, 3]


def test_it_is_used_and_said_where_it_fits(monkeypatch: pytest.MonkeyPatch, raf: Raf) -> None:
    package = SimpleNamespace(__version__="0.7.0", interface=INTERFACE, read=reads)
    monkeypatch.setitem(sys.modules, "rankandfile_native", package)
    assert native() == (reads, "native reader 0.7.0")
    assert raf("--version").out == f"raf {rankandfile.__version__} (native reader 0.7.0)\n"


def test_one_of_another_version_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    package = SimpleNamespace(__version__="0.7.0", interface=INTERFACE + 1, read=reads)
    monkeypatch.setitem(sys.modules, "rankandfile_native", package)
    assert native() == (None, "native reader 0.7.0 not used: it is for another version of raf")


def test_one_that_does_not_load_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rankandfile_native.py").write_text("import no_such_module_of_it")
    monkeypatch.delitem(sys.modules, "rankandfile_native", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    assert native().read is None
    assert native().said == "native reader not used: it does not load: No module named 'no_such_module_of_it'"


def test_it_can_be_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    package = SimpleNamespace(__version__="0.7.0", interface=INTERFACE, read=reads)
    monkeypatch.setitem(sys.modules, "rankandfile_native", package)
    monkeypatch.setenv(SWITCH, "0")
    assert native() == (None, "native reader off: RAF_NATIVE=0")


def test_nothing_is_said_where_there_is_none(monkeypatch: pytest.MonkeyPatch, raf: Raf) -> None:
    monkeypatch.setitem(sys.modules, "rankandfile_native", None)
    assert native() == (None, "")
    assert raf("--version").out == f"raf {rankandfile.__version__}\n"
