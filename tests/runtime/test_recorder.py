"""The recorder in real jobs: what it sees, and that it outlives them."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
import zlib
from pathlib import Path
from typing import Any

import pytest
from support.capture.waiting import until
from support.later import Later
from support.runtime.gloo_ranks import Ranks

from rankandfile.capture.watch.rings import Seen, look
from rankandfile.evidence.raw import unpack_repeats
from rankandfile.evidence.ring import as_ring
from rankandfile.evidence.ring.journal import read as read_journal
from rankandfile.runtime.recorder import device
from rankandfile.runtime.recorder.ring import Ring
from rankandfile.wire import layout, reading

programs = Later("support.runtime.recorder_programs")

pytestmark = [pytest.mark.slow, pytest.mark.torch]

WRITERS = ["python", "native"]


@pytest.fixture(params=WRITERS)
def writer(request: pytest.FixtureRequest) -> dict[str, str]:
    """The environment for each of the two writers; the native one is tested where it was built."""
    if request.param == "python":
        return {"RAF_NATIVE": "0"}
    if not programs.has_native():
        pytest.skip("the native library is not built: python -m rankandfile.runtime.recorder.native")
    return {}


def rings(folder: Path) -> list[Path]:
    return sorted(folder.glob("raf-rank*.ring"))


def contents(path: str | Path) -> reading.Contents:
    found = reading.read(Path(path).read_bytes())
    assert not isinstance(found, str), found
    return found


def calls(found: reading.Contents) -> list[tuple[str, str, int]]:
    groups = found.table[layout.GROUP]
    return [
        (layout.OPERATORS[kept.record.op], groups[kept.record.group][1], kept.record.in_elements)
        for kept in found.records
        if kept.record.kind == layout.CALL
    ]


def test_every_kind_of_caller_is_seen(ranks: Ranks, tmp_path: Path, writer: dict[str, str]) -> None:
    found = ranks.run(2, programs.every_caller, RAF_RING_DIR=str(tmp_path), **writer)
    assert [rank.returned[1] for rank in found] == ["python" if writer else "native"] * 2, found[0].out
    both = [contents(rank.returned[0]) for rank in found]
    seen = calls(both[0])
    for call in [
        ("allreduce_", "default_pg", 4),
        ("broadcast_", "default_pg", 3),
        ("send", "default_pg", 4),
        ("allreduce_", "default_pg", 5),  # a functional collective
        ("allreduce_", "default_pg", 8),  # the reducer of DDP
        ("allgather_", "pair", 2),
        ("allreduce_", "default_pg", 13),
        ("barrier", "default_pg", 1),
    ]:
        assert call in seen, seen
    assert seen.count(("allreduce_", "default_pg", 4)) == 2  # one of them bound early
    assert ("recv_", "default_pg", 4) in calls(both[1])
    _keeps_the_source(both[0], tmp_path)
    _same_history(both)
    _describes_steps_and_decisions(both[0])
    _knows_the_end_of_what_gives_no_work(both[0])
    _tells_tags_and_who_waits(both)


def _knows_the_end_of_what_gives_no_work(found: reading.Contents) -> None:
    """A barrier that is over must not look like what the job waits in."""
    barrier = layout.OPERATORS.index("monitored_barrier_")
    assert [kept.done_us > 0 for kept in found.records if kept.record.op == barrier] == [True]


def _tells_tags_and_who_waits(both: list[reading.Contents]) -> None:
    """A pulse says whether its thread stands in the wait of a work object, for then nothing else is to come of it."""
    for one, waits in zip(both, (False, True), strict=True):
        at = [
            kept.record.kind == layout.CALL and bool(kept.record.flags & layout.P2P) for kept in one.records
        ].index(True)
        transfer = one.records[at].record
        pulse = next(kept.record for kept in one.records[at - 1 :] if kept.record.kind == layout.PULSE)
        assert transfer.splits == 3 and bool(pulse.flags & layout.SYNC) is waits


def _keeps_the_source(found: reading.Contents, folder: Path) -> None:
    sources = {
        Path(path).name: (digest, path) for path, digest, _ in found.table.get(layout.SOURCE, {}).values()
    }
    digest, path = sources["recorder_programs.py"]
    copies = [zlib.decompress(copy.read_bytes()) for copy in (folder / "raf-sources").glob("*.zlib")]
    assert copies.count(Path(path).read_bytes()) == 1  # for both ranks: once per node
    assert (folder / "raf-sources" / f"{digest}.py.zlib").is_file()


def _same_history(both: list[reading.Contents]) -> None:
    """The rolling hashes of the two ranks are equal, sends and receives aside."""
    hashes = [
        {(kept.record.group, kept.record.seq): kept.record.hash for kept in one.records if kept.record.hash}
        for one in both
    ]
    assert hashes[0] == hashes[1]
    assert len(set(hashes[0].values())) == len(hashes[0])


def _describes_steps_and_decisions(found: reading.Contents) -> None:
    texts = found.table[layout.TEXT]
    notes = [
        (k.record.kind, texts[k.record.in_elements])
        for k in found.records
        if k.record.kind in (layout.STEP, layout.DECISION)
    ]
    assert (layout.STEP, ["11"]) in notes
    assert (layout.DECISION, ["agree any", "stop", "True"]) in notes
    in_step = next(
        k.record for k in found.records if k.record.kind == layout.CALL and k.record.in_elements == 13
    )
    assert texts[in_step.step] == ["11"]
    frame = found.table[layout.FRAME][in_step.site]
    assert (frame[0], Path(frame[1]).name) == ("every_caller", "recorder_programs.py")


@pytest.fixture(scope="module")
def hung(ranks: Ranks, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All ranks are killed while they hang; nothing but the rings remains."""
    folder = tmp_path_factory.mktemp("hung")
    names = len(programs.HANGS)
    jobs = threading.Thread(target=ranks.run, args=(2 * names, programs.all_stuck, str(folder)))
    jobs.start()

    def seen() -> list[Seen]:
        return [one for how in programs.HANGS for one in look(folder / how)]

    try:
        until(lambda: sum(one.calls >= 5 for one in seen()) >= names)
        time.sleep(4)  # a call that has waited for a moment is no hang
    finally:
        for one in seen():
            if one.lives:
                os.kill(one.pid, signal.SIGKILL)
        jobs.join()
    return folder


@pytest.mark.parametrize(("how", "culprits"), [("killed", [1]), ("gil", [1]), ("receive", [])])
def test_a_hang_is_diagnosed_from_rings_alone(hung: Path, how: str, culprits: list[int]) -> None:
    """In `receive` one waits for a message and the other for a collective: nothing says whose step is the wrong one.

    The call in which they hang is the first of its kind, and on a busy machine earlier ones may have taken as long:
    that it hung is what we know, and there may be suspects only.
    """
    done = subprocess.run(
        [sys.executable, "-m", "rankandfile", "diagnose", str(hung / how), "--hung", "--format", "json"],
        capture_output=True,
        text=True,
        check=False,
    )
    verdicts: list[dict[str, Any]] = json.loads(done.stdout)["verdicts"]
    assert verdicts, done.stdout + done.stderr
    named = verdicts[0]["culprits"] or verdicts[0]["suspects"]
    assert [one["rank"] for one in named] == culprits, done.stdout
    assert verdicts[0]["hang"] or verdicts[0]["assumed"].startswith("it hung"), done.stdout
    assert "recorder_programs.py" in done.stdout


def test_a_silent_process_leaves_where_it_stands(
    ranks: Ranks, tmp_path: Path, writer: dict[str, str]
) -> None:
    for rank in ranks.run(2, programs.falls_silent, RAF_RING_DIR=str(tmp_path), **writer):
        assert rank.returned, rank.out
        loaded = as_ring.load(Path(rank.returned))
        assert loaded.dump is not None
        assert loaded.stacks is not None
        assert [thread.name for thread in loaded.stacks.threads] == ["MainThread"] * 2
        repeats = unpack_repeats(loaded.stacks.repeats)
        assert "_sleep_until_joined" in [repeats.frames[frame].function for frame in repeats.stacks[0]]
        assert [entry["profiling_name"] for entry in loaded.dump["entries"]] == ["gloo:all_reduce SUM"]


def test_threads_and_forks(ranks: Ranks, tmp_path: Path, writer: dict[str, str]) -> None:
    found = ranks.run(2, programs.threads_and_forks, RAF_RING_DIR=str(tmp_path), **writer)
    for rank in found:
        assert rank.returned[1] == "0", rank.out
        whole = contents(rank.returned[0])
        assert whole.torn == 0
        assert all(kept.left_us for kept in whole.records if kept.record.kind == layout.CALL)
        by_group: dict[int, list[int]] = {}
        for kept in whole.records:
            by_group.setdefault(kept.record.group, []).append(kept.record.seq)
        for seqs in by_group.values():
            assert seqs == list(range(seqs[0], seqs[0] + len(seqs)))
        assert [kept.record.number for kept in whole.records] == list(range(1, len(whole.records) + 1))
        assert whole.header.rank == found.index(rank)


def test_a_broken_recorder_does_not_disturb_the_job(ranks: Ranks, tmp_path: Path) -> None:
    found = ranks.run(2, programs.broken, RAF_RING_DIR=str(tmp_path), RAF_NATIVE="0")
    assert [rank.returned for rank in found] == [[[2.0] * 3, True, True]] * 2, found[0].out


def test_a_fault_from_the_start_does_not_either(ranks: Ranks, tmp_path: Path, writer: dict[str, str]) -> None:
    found = ranks.run(2, programs.broken_from_the_start, RAF_RING_DIR=str(tmp_path), **writer)
    assert [rank.returned for rank in found] == [[[2.0] * 3, True]] * 2, found[0].out


def test_compiled_and_sharded_callers_are_seen(ranks: Ranks, tmp_path: Path, writer: dict[str, str]) -> None:
    found = ranks.run(2, programs.newer_callers, RAF_RING_DIR=str(tmp_path), **writer)
    assert found[0].returned is not None, found[0].out
    seen = calls(contents(found[0].returned))
    assert {call[2] for call in seen if call[0] == "allreduce_"} >= {21, 22}, seen
    assert {call[0] for call in seen} >= {"_allgather_base_", "_reduce_scatter_base_"}, seen


def test_what_goes_into_a_cuda_graph_is_not_taken_for_calls(
    ranks: Ranks, tmp_path: Path, writer: dict[str, str]
) -> None:
    """Its replays, which nobody sees, are noted."""
    found = ranks.run(2, programs.captured, RAF_RING_DIR=str(tmp_path), **writer)
    assert found[0].returned is not None, found[0].out
    journal = read_journal(Path(found[0].returned))
    assert not isinstance(journal, str)
    told = [(row.kind, row.text) for row in journal.rows if row.kind != "call"]
    assert told == [
        ("captured", "all_reduce"),
        ("cuda graph", "graph 1 captured with 1 calls"),
        *[("cuda graph", "graph 1 replayed: 1 calls that are not seen")] * 2,
    ]
    dump = as_ring.load(Path(found[0].returned)).dump
    assert dump is not None
    assert [entry["input_sizes"] for entry in dump["entries"]][:2] == [[[30]], [[32]]]


def test_a_job_without_end_does_not_fill_the_memory(
    ranks: Ranks, tmp_path: Path, writer: dict[str, str]
) -> None:
    """Stacks, sizes and groups that are told apart have a limit; what is beyond it is still recorded."""
    for rank in ranks.run(2, programs.ragged, RAF_RING_DIR=str(tmp_path), **writer):
        assert rank.returned is not None, rank.out
        path, kept = rank.returned
        assert all(0 < count <= most for count, most in zip(kept, (4, 5, 2), strict=True)), kept
        sizes = [call[2] for call in calls(contents(path)) if call[0] == "allreduce_"]
        assert sizes[:12] == list(range(12))


def test_a_spawned_process_has_a_ring_of_its_own(ranks: Ranks, tmp_path: Path) -> None:
    (one,) = ranks.run(1, programs.spawns, RAF_RING_DIR=str(tmp_path))
    assert one.returned is not None, one.out
    own, theirs, code = one.returned
    assert (own != theirs, code) == (True, "0"), one.out
    assert [call[2] for call in calls(contents(theirs))] == [17]


def test_calls_while_the_interpreter_ends_do_no_harm(tmp_path: Path, writer: dict[str, str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", programs.ENDING],
        env={**os.environ, "RAF_RING_DIR": str(tmp_path), "RANK": "0", **writer},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Fatal" not in done.stderr
    (path,) = rings(tmp_path)
    found = contents(path)
    assert found.header.state == layout.CLOSED
    assert found.torn == 0
    assert len(found.records) >= 100


def test_work_on_a_device_is_left_alone_unless_that_is_safe(monkeypatch: pytest.MonkeyPatch) -> None:
    class Runtime:
        def __init__(self, answer: int) -> None:
            self.answer, self.modes = answer, []

        def cudaThreadExchangeStreamCaptureMode(self, mode: Any) -> int:
            self.modes.append(mode._obj.value)
            return self.answer

    assert not device.wanted()
    monkeypatch.setenv("RAF_DEVICE_COMPLETION", "1")
    assert device.wanted()
    assert not device.allow_asking()  # no CUDA in this process
    for answer, allowed in ((0, True), (1, False)):
        runtime = Runtime(answer)
        monkeypatch.setattr(device, "_runtime", lambda runtime=runtime: runtime)
        assert device.allow_asking() == allowed
        assert runtime.modes == [1]


def test_what_a_ring_holds_can_be_shown(ranks: Ranks, tmp_path: Path, writer: dict[str, str]) -> None:
    """Steps, decisions, reductions, and where two ranks parted, by the rolling hash."""
    ranks.run(2, programs.parts, RAF_RING_DIR=str(tmp_path), **writer)
    done = subprocess.run(
        [sys.executable, "-m", "rankandfile", "show", "ring", str(tmp_path), "-n", "0"],
        env={**os.environ, "COLUMNS": "240"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert re.search(r"agree any +stop True", done.stdout)
    assert re.search(r"step +7", done.stdout)
    assert "MAX" in done.stdout and "SUM" in done.stdout
    said = done.stdout.replace("\n", " ")
    assert "the histories differ from seq 3 on: rank 0 all_reduce" in said
    assert "rank 1 broadcast" in said


def test_switched_off_it_leaves_nothing(ranks: Ranks, tmp_path: Path) -> None:
    found = ranks.run(2, programs.turned_off, RAF_RING_DIR=str(tmp_path), RAF="0")
    assert [rank.returned for rank in found] == [True, True]
    assert rings(tmp_path) == []


def test_no_place_for_a_ring_is_said_and_survived(ranks: Ranks, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    found = ranks.run(2, programs.turned_off, RAF_RING_DIR=str(tmp_path / "file" / "below"))
    assert [rank.returned for rank in found] == [True, True], found[0].out
    assert "raf: not recording" in found[0].out


def test_a_torch_that_cannot_be_watched_leaves_no_empty_ring(ranks: Ranks, tmp_path: Path) -> None:
    """It would pass for that of a rank which makes no calls."""
    found = ranks.run(2, programs.cannot_hook, RAF_RING_DIR=str(tmp_path))
    assert [rank.returned for rank in found] == [True, True], found[0].out
    assert "torch's own recorder must do" in found[0].out
    assert rings(tmp_path) == []


def test_attempts_are_told_apart(ranks: Ranks, tmp_path: Path) -> None:
    for attempt in ("0", "1"):
        ranks.run(2, programs.turned_off, RAF_RING_DIR=str(tmp_path), TORCHELASTIC_RESTART_COUNT=attempt)
    assert len(rings(tmp_path)) == 4
    assert sorted(contents(path).header.attempt for path in rings(tmp_path)) == [0, 0, 1, 1]


def test_random_kills_lose_and_invent_nothing(ranks: Ranks, tmp_path: Path, writer: dict[str, str]) -> None:
    """A few of them; `python -m support.runtime.torture 500` has more."""
    (found,) = ranks.run(1, programs.torture, str(tmp_path), 25, limit=120, **writer)
    assert found.returned is not None, found.out
    assert found.returned["records"] > 100


def test_damaged_rings_raise_nothing(ranks: Ranks, tmp_path: Path) -> None:
    ranks.run(2, programs.turned_off, RAF_RING_DIR=str(tmp_path))
    whole = rings(tmp_path)[0].read_bytes()
    dice = random.Random(3)
    bad = tmp_path / "bad.ring"
    for _ in range(60):
        data = bytearray(whole[: dice.choice([len(whole), dice.randrange(len(whole)), 300, 5000])])
        for _ in range(dice.randrange(1, 40)):
            # Most of a ring is empty: aim at the header, the first records, and the table.
            at = dice.choice(
                [dice.randrange(300), 4096 + dice.randrange(1000), 1052672 + dice.randrange(3000)]
            )
            if at < len(data):
                data[at] = dice.randrange(256)
        bad.write_bytes(data)
        found = as_ring.load(bad)
        assert found.dump is not None or found.notes


@pytest.mark.parametrize("written", [1, 50, layout.BODY_SIZE - 1])
def test_a_record_that_was_being_written_is_left_out(tmp_path: Path, written: int) -> None:
    """The process was killed when so many bytes of its third record were in place."""
    ring = Ring(tmp_path / "raf-rank0-attempt0-1-2-3.ring")
    for number in (1, 2, 3):
        numbers = (number, 5, 6, 0, 4, 4, 0, number, 0, number, 0, 0, 0, 1, 1, 0, -1)
        ring.put(number, layout.BODY.pack(*numbers, layout.CALL, 1, 0, 0))
    whole = bytes(ring.map)
    at = ring.place(3)
    torn = whole[: at + written] + bytes(layout.RECORD_SIZE - written) + whole[at + layout.RECORD_SIZE :]
    found = reading.read(torn)
    assert not isinstance(found, str)
    assert ([kept.record.number for kept in found.records], found.torn) == ([1, 2], 1)
    (tmp_path / "torn.ring").write_bytes(torn)
    assert "being written when the process stopped" in as_ring.load(tmp_path / "torn.ring").notes[0].what
