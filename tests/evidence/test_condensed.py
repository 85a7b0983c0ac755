"""What `raf condense` writes: the same answer as from the evidence itself, and as safe to read as any."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import msgspec
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from support.capture.recorded import Recorded
from support.evidence.condensing import answer, case_of, condensed, told_alike
from support.evidence.sample_dumps import MILLISECOND, NOW, job, one_rank, plain
from support.places import EXAMPLES
from support.selected import in_lab

from rankandfile.evidence.condensed.condense import condense
from rankandfile.evidence.condensed.form import FORM, SIGN, Document, Dump, Group, Sparse, written
from rankandfile.evidence.condensed.making import document
from rankandfile.evidence.condensed.reading import read
from rankandfile.evidence.condensed.stand_ins import StandIns
from rankandfile.evidence.condensed.times import NEWEST
from rankandfile.evidence.files.blobs import Blob
from rankandfile.evidence.files.decoded import UNREAD, Decoded
from rankandfile.evidence.files.engine import Here
from rankandfile.evidence.files.limits import Limits
from rankandfile.evidence.flight import header
from rankandfile.evidence.raw import Frame, Kind, RawNote, Repeats, Shape, Status, pack
from rankandfile.evidence.text.stacks.raw import RAISED, RawProcess, RawStacks, RawThread
from rankandfile.lab.flight_writer import write_pickle
from rankandfile.lab.flight_writer_json import write_json
from rankandfile.lab.sim import catalog
from rankandfile.lab.sim.run import simulate
from rankandfile.model.tables import TABLES

pytestmark = pytest.mark.slow

TIMES = ("created_ns", "started_ns", "completed_ns", "duration_ms")
#: Of each kind of recorder, form of dump and end: timed or not, in batches, of an old format, wrapped, that moves.
HERE = (
    *("skip-nonfinite-ddp", "gpu-stuck-timed", "healthy-coalesced", "healthy-2.3", "healthy-json"),
    *("peers-ring-wrapped", "running-3d", "too-short-timeout", "blocked-seq-skew"),
)
SIMULATED = sorted(catalog.scenarios())


def written_to(folder: Path, calls: int, form: Callable[..., bytes] = write_pickle) -> Path:
    folder.mkdir(parents=True)
    for rank, dump in job(calls).items():
        (folder / f"nccl_trace_rank_{rank}").write_bytes(form(dump))
    return folder


@pytest.mark.parametrize("form", [write_pickle, write_json], ids=["pickle", "json"])
def test_all_of_a_case_is_in_it_but_times(tmp_path: Path, form: Callable[..., bytes]) -> None:
    dumps = written_to(tmp_path / "dumps", 400, form)
    full, small = case_of(dumps), case_of(condensed(dumps, tmp_path))
    for name in TABLES:
        drop = TIMES if name == "calls" else ("source",)
        assert_frame_equal(
            full.tables()[name].drop(drop, strict=False), small.tables()[name].drop(drop, strict=False)
        )
    assert (full.notes, full.world_size) == (small.notes, small.world_size)


def test_times_are_kept_where_they_decide_and_else_to_the_millisecond(tmp_path: Path) -> None:
    folder = tmp_path / "dumps"
    folder.mkdir()
    dump = one_rank(0, calls=400)
    for record, entry in enumerate(dump.entries):
        made = NOW + record * 3 * MILLISECOND + record * 7 + (20_000_000_123 if record >= 100 else 0)
        dump.entries[record] = entry._replace(
            time_created_ns=made,
            completed_ns=made + 1234 if entry.retired else None,
        )
    (folder / "nccl_trace_rank_0").write_bytes(write_pickle(dump))
    full, small = case_of(folder).calls, case_of(condensed(folder, tmp_path)).calls
    made, kept = full["created_ns"], small["created_ns"]
    assert (made - kept).is_between(0, MILLISECOND - 1).all()
    assert kept.tail(NEWEST).equals(made.tail(NEWEST))
    assert kept[0] == made[0]
    # The longest pause is as long as it was.
    assert kept.diff().max() == made.diff().max()
    for name in TIMES[1:3]:
        assert small[name].tail(NEWEST).equals(full[name].tail(NEWEST))
        assert small[name].max() == full[name].max()
    assert small["completed_ns"].null_count() > 300


@pytest.mark.parametrize("name", in_lab(SIMULATED, HERE))
def test_simulated_jobs_get_the_same_answer(name: str, tmp_path: Path) -> None:
    assert told_alike(simulate(name, tmp_path / name) / "evidence", tmp_path) == []


@pytest.mark.parametrize("name", ["early-stop", "tp-dp-cascade"])
def test_the_examples_get_the_same_answer(name: str, tmp_path: Path) -> None:
    assert told_alike(EXAMPLES / name / "evidence", tmp_path) == []


def test_nodes_condensed_or_not_in_any_mix(tmp_path: Path) -> None:
    incident = simulate("skip-nonfinite-ddp", tmp_path / "incident") / "evidence"
    everything = sorted(file for file in incident.rglob("*") if file.is_file())
    halves = [tmp_path / "one" / "evidence", tmp_path / "two" / "evidence"]
    for number, file in enumerate(everything):
        into = halves[number % 2] / file.relative_to(incident)
        into.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(file, into)
    cases = []
    for half in halves:
        condense([half], half.parent / "part.case", Limits(), Here(1))
        cases.append(half.parent / "part.case")
    full = answer(halves)
    assert full.verdicts
    for mixed in ([cases[0], halves[1]], [halves[0], cases[1]], cases):
        assert verdicts(answer(mixed)) == verdicts(full)


def verdicts(found: object) -> object:
    return msgspec.to_builtins(found)["verdicts"]


def test_condensed_again_it_stays_as_it_is(tmp_path: Path) -> None:
    dumps = written_to(tmp_path / "dumps", 300)
    once = condensed(dumps, tmp_path)
    condense([once], tmp_path / "again.case", Limits(), Here(1))
    drop = "source"
    for name in TABLES:
        one, other = case_of(once).tables()[name], case_of(tmp_path / "again.case").tables()[name]
        assert_frame_equal(one.drop(drop, strict=False), other.drop(drop, strict=False))


def test_files_keep_their_times_to_the_nanosecond(tmp_path: Path) -> None:
    dumps = written_to(tmp_path / "dumps", 20)
    for rank in range(4):
        os.utime(dumps / f"nccl_trace_rank_{rank}", ns=(NOW, NOW + 600_000_000_123 + rank))
    small = case_of(condensed(dumps, tmp_path))
    assert small.dumps["written_ns"].to_list() == [NOW + 600_000_000_123 + rank for rank in range(4)]


def test_a_large_log_keeps_what_it_says(tmp_path: Path) -> None:
    evidence = tmp_path / "evidence"
    shutil.copytree(EXAMPLES / "early-stop" / "evidence", evidence)
    for rank in range(4):
        log = evidence / "logs" / f"rank_{rank}.log"
        lines = log.read_text().splitlines(keepends=True)
        steps = [
            f"2026-11-30 06:00:00,{n % 1000:03} INFO step {n} loss {n * rank % 7919}\n" for n in range(40_000)
        ]
        steps[9_000] = steps[30_000] = f"[rank{rank}]: Traceback (most recent call last):\n"
        log.write_text("".join([*lines[:5], *steps, *lines[5:]]))
    before = sum(file.stat().st_size for file in evidence.rglob("*") if file.is_file())
    assert told_alike(evidence, tmp_path) == []
    assert (tmp_path / "node.case").stat().st_size < before / 50


def test_what_is_no_evidence_stays_where_it_is(tmp_path: Path) -> None:
    dumps = written_to(tmp_path / "dumps", 20)
    (dumps / "weights.pt").write_bytes(os.urandom(4096))
    (dumps / "train.py").write_text("import torch\n")
    done = condense([dumps], tmp_path / "node.case", Limits(), Here(1))
    assert (done.files, done.dumps, done.left_out) == (4, 4, 2)


def test_what_was_not_taken_is_told_where_it_is_read(tmp_path: Path) -> None:
    dumps = written_to(tmp_path / "dumps", 20)
    (dumps / "nccl_trace_rank_7").symlink_to(dumps / "nowhere")
    (dumps / "nccl_trace_rank_8").write_bytes(write_pickle(one_rank(0))[:50])
    small = case_of(condensed(dumps, tmp_path))
    said = [str(note) for note in small.notes]
    assert [one for one in said if "not-taken" in one and "a link that leads nowhere" in one]
    assert [note.what for note in case_of(dumps).notes if "rank_8" in note.file] == [
        note.what for note in small.notes if "rank_8" in note.file
    ]


def test_what_there_was_no_time_for_travels_as_it_is(tmp_path: Path) -> None:
    """Whoever reads the archive may have more."""
    file = tmp_path / "nccl_trace_rank_0"
    file.write_bytes(write_pickle(one_rank(0)))
    small = StandIns([Blob(str(file), file, file.stat().st_size, NOW)], tmp_path)
    small.receive(None)(0, Decoded(UNREAD, notes=[RawNote("", "not read: the time for reading is over")]))
    assert small.contents == {0: file}
    assert [note.what for note in small.notes] == ["not read: the time for reading is over"]


def test_narrow_columns_of_the_native_reader_are_the_same() -> None:
    found, _ = header.decode(plain(one_rank(0, calls=100)), "pickle")
    assert found is not None
    narrow = msgspec.structs.replace(
        found,
        kinds=bytes(memoryview(found.kinds)[::4]),
        integers=[
            bytes(memoryview(column)[::8]) if n < 4 else column for n, column in enumerate(found.integers)
        ],
    )
    assert written(document(Decoded(dumps=[narrow]))) == written(document(Decoded(dumps=[found])))


def test_an_archive_that_was_cut_off_keeps_what_came_before(tmp_path: Path) -> None:
    whole = condensed(written_to(tmp_path / "dumps", 3000), tmp_path)
    cut = tmp_path / "cut.case"
    cut.write_bytes(whole.read_bytes()[: whole.stat().st_size - 200])
    found = case_of(cut)
    assert found.dumps.filter(pl.col("calls") > 0).height >= 1
    assert sum("cut off" in str(note) for note in found.notes) >= 1


def test_rings_keep_their_calls_and_where_a_quiet_process_stood(tmp_path: Path) -> None:
    rings = tmp_path / "rings"
    rings.mkdir()
    for rank in range(2):
        ring = Recorded(rings, rank, 2)
        for _ in range(200):
            ring.call(31, 12, reduction="MAX", ago=60.0)
            ring.call(40, 12, op="broadcast_", root=0, ago=60.0)
        if rank:
            ring.call(50, 12, op="barrier", done=False, ago=50.0)
    assert told_alike(rings, tmp_path) == []
    full, small = case_of(rings), case_of(tmp_path / "node.case")
    assert full.calls.height == 801
    assert_frame_equal(full.calls.drop(TIMES), small.calls.drop(TIMES))
    stacks = RawStacks(
        formats=["ring"],
        processes=[
            RawProcess(3, "content", "node07", 17, 16, at_ns=NOW),
            RawProcess(3, "content", "node07", 17),
        ],
        threads=[
            RawThread(801, 0, 0, name="MainThread", role="main"),
            RawThread(790, 1, 1, role="main", shows=RAISED, error="ValueError: no"),
        ],
        repeats=pack(
            Repeats(
                stacks=[(0, 1), (2,)], frames=[Frame("step", "/job/train.py", line) for line in (3, 5, 8)]
            )
        ),
    )
    found = Decoded(stacks=stacks, sources=[("/job/train.py", "ab" * 32)])
    again = read(written(document(found)))
    assert (again.stacks, again.sources) == (found.stacks, found.sources)


KIND = Kind("nccl:all_reduce", 0, 0, 0, 0, "completed", True, False, 1000)
SOUND = Dump(
    format="pickle",
    version="2.10",
    has_frames=True,
    groups=[("0", "default_pg")],
    config=[Group("0", "default_pg", [(0, 4, 1)])],
    status=[Status(0, 2, 2, 2)],
    threads=["main"],
    frames=[Frame("step", "/job/train.py", 31)],
    stacks=[[0]],
    shapes=[Shape(((4,),), ("Float",), ((4,),), ("Float",))],
    kinds=[KIND],
    calls=[0, 0],
    numbers={"record": [0, 1], "seq": [1, 1], "p2p_seq": [0, 0], "op_id": [1, 1]},
    made=[NOW // MILLISECOND, 5],
    rest_ns=Sparse([0, 1], [17, 18]),
)


def test_a_document_is_read_as_its_dump() -> None:
    found = read(written(Document(dumps=[SOUND])))
    assert found.notes == []
    (dump,) = found.dumps
    assert (dump.calls, dump.format, dump.groups) == (2, "pickle", [("0", "default_pg")])


@pytest.mark.parametrize(
    "changed",
    [
        {"calls": [0, 7]},
        {"calls": [0]},
        {"kinds": [msgspec.structs.replace(KIND, group=3)]},
        {"kinds": [msgspec.structs.replace(KIND, group=-3)]},
        {"kinds": [msgspec.structs.replace(KIND, stack=9)]},
        {"kinds": [msgspec.structs.replace(KIND, state="asleep")]},
        {"stacks": [[5]]},
        {"threads": []},
        {"shapes": []},
        {"numbers": {"nonsense": [0, 1]}},
        {"numbers": {"record": [0]}},
        {"config": [Group("0", "", [(0, 1 << 40, 1)])]},
        {"config": [Group(str(n), "", [(0, 1 << 20, 1)]) for n in range(1000)]},
        {"made": [-5, -5]},
        {"made": [1 << 61, 1 << 61]},
        {"rest_ns": Sparse([0, 1 << 31], [1, 1])},
        {"rest_ns": Sparse([0], [])},
        {"durations_ms": [(99, 1.0)]},
        {"version": "9" * 10_000},
        {"format": "x" * 10_000},
    ],
)
def test_a_document_of_a_stranger_is_no_more_than_a_note(changed: dict[str, object]) -> None:
    found = read(written(Document(dumps=[msgspec.structs.replace(SOUND, **changed)])))
    assert found.notes or all(dump.calls == 2 for dump in found.dumps)
    assert all(len(note.what) < 500 for note in found.notes)


@pytest.mark.parametrize("length", [0, 1, 40, -1])
def test_a_document_that_was_cut_off(length: int) -> None:
    data = written(Document(dumps=[SOUND]))
    head = len(SIGN) + len(FORM)
    found = read(data[: head + length] if length >= 0 else data[:length])
    assert [note.what for note in found.notes] == ["a condensed dump, cut off: nothing of it can be read"]


def test_a_form_of_a_later_version_is_told() -> None:
    (note,) = read(SIGN + b"2\n").notes
    assert "a later raf reads it" in note.what
