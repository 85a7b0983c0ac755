"""Reading dumps by the mould of an earlier one gives exactly what reading them the ordinary way gives."""

from __future__ import annotations

import pickle
import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.evidence.sample_dumps import NOW, REDUCE, WORLD, frames
from support.examples import examples

from rankandfile.evidence.flight import as_pickle, header
from rankandfile.evidence.flight.known_moulds import KnownMoulds
from rankandfile.evidence.flight.moulds import MIN_ENTRIES, cast, make
from rankandfile.evidence.raw import Kind, RawDump, unpack_repeats
from rankandfile.lab.flight_writer import write_pickle
from rankandfile.lab.flight_writer_types import Dump, Entry, GroupConfig, GroupStatus
from rankandfile.lab.flight_writer_types import Kind as WrittenKind

pytestmark = pytest.mark.slow

CALLS = 4 * MIN_ENTRIES


def dump(
    seed: int = 0, group: str = "13", calls: int = CALLS, first: int = 0, last: str = "completed"
) -> bytes:
    """A job of a loop of three calls, at times of its own; `group` names its second group."""
    rng = random.Random(seed)
    second = GroupConfig(group, "mesh_tp", (0, 1))
    kinds = [
        call("nccl:all_reduce", "step", 10),
        call("nccl:all_gather", "gather", 20)._replace(pg_id=1, group=group, desc="mesh_tp"),
        call("nccl:barrier", "end", 30),
    ]
    entries, now = [], NOW + rng.randrange(1 << 40)
    for number in range(calls):
        now += rng.randrange(1, 1 << 30)
        waits = last == "scheduled" and number == calls - 1
        done = None if waits else now + rng.randrange(1 << 20)
        seq = first + number
        entries.append(Entry(number % 3, seq, seq // 2, 0, seq, now, None, done, not waits))
    status = {"0": GroupStatus(first + calls, -1, first + calls - 1)}
    return write_pickle(Dump(kinds, entries, {g.name: g for g in (WORLD, second)}, status, "2.27.3"))


def call(op: str, function: str, line: int) -> WrittenKind:
    return REDUCE._replace(op=op, frames=frames(function, line))


def ordinary(data: bytes, path: Path) -> RawDump:
    path.write_bytes(data)
    value, truncated, notes = as_pickle.load(path)
    assert not truncated
    assert not notes
    found, notes = header.decode(value, "pickle")
    assert found is not None
    assert not notes
    return found


def spelled(dump: RawDump) -> list[object]:
    """Every call of a dump, with all that its kind refers to."""
    repeats = unpack_repeats(dump.repeats)

    def kind(one: Kind) -> tuple[object, ...]:
        stack = None if one.stack is None else tuple(repeats.frames[n] for n in repeats.stacks[one.stack])
        return (
            one.name, dump.groups[one.group], dump.threads[one.thread], repeats.shapes[one.shape], stack,
            one.state, one.retired, one.is_p2p, one.timeout_ms,
        )  # fmt: skip

    kinds = [kind(one) for one in repeats.kinds]
    columns = [memoryview(column).cast("q") for column in dump.integers]
    numbers = memoryview(dump.kinds).cast("I")
    return [
        (kinds[number], *values) for number, values in zip(numbers, zip(*columns, strict=True), strict=True)
    ]


def by_mould(data: bytes, like: bytes, folder: Path) -> RawDump | None:
    """The dump, read after two of another's kind have been."""
    alike = KnownMoulds()
    teacher, pupil = folder / "teacher", folder / "pupil"
    ordinary(like, teacher)
    value = pickle.loads(like)
    alike.learn(teacher, value)
    alike.learn(teacher, value)
    pupil.write_bytes(data)
    return alike.read(pupil)


@pytest.mark.parametrize(
    "other",
    [
        {"seed": 1},
        {"seed": 1, "group": "17"},  # the name is longer: everything after it is elsewhere
        {"seed": 1, "group": "130", "last": "scheduled"},  # a word at the end that the mould never met
        {"seed": 1, "calls": CALLS - 100},
        {"seed": 1, "calls": CALLS + 100},
    ],
    ids=str,
)
def test_an_alike_dump_fits_and_reads_the_same(other: dict[str, object], tmp_path: Path) -> None:
    data = dump(**other)  # type: ignore[arg-type]
    found = by_mould(data, dump(0), tmp_path)
    assert found is not None
    wanted = ordinary(data, tmp_path / "plain")
    assert spelled(found) == spelled(wanted)
    assert (found.config, found.status, found.version) == (wanted.config, wanted.status, wanted.version)
    assert (found.calls, found.has_frames) == (wanted.calls, wanted.has_frames)


@pytest.mark.parametrize(
    "other",
    [{"first": 1 << 40}, {"calls": MIN_ENTRIES // 2}],  # numbers in another form; too short
    ids=str,
)
def test_another_kind_of_dump_is_left_to_the_ordinary_way(other: dict[str, int], tmp_path: Path) -> None:
    assert by_mould(dump(1, **other), dump(0), tmp_path) is None


def test_a_call_that_differs_in_the_middle_is_read_as_it_is(tmp_path: Path) -> None:
    """One byte of one entry, not a number: from there on nothing is taken from the mould."""
    data = bytearray(dump(1))
    place = data.rfind(b"\x88", 0, len(data) * 3 // 4)  # `retired` of some entry: true becomes false
    data[place] = 0x89
    found = by_mould(bytes(data), dump(0), tmp_path)
    assert found is not None
    assert spelled(found) == spelled(ordinary(bytes(data), tmp_path / "plain"))
    assert spelled(found) != spelled(ordinary(dump(1), tmp_path / "plain"))


PUPIL, TEACHER = dump(5, group="19"), dump(6)


@settings(
    max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    changes=st.lists(st.tuples(st.integers(0, len(PUPIL) - 1), st.integers(0, 255)), min_size=1, max_size=3)
)
def test_whatever_bytes_differ_a_fit_reads_as_the_ordinary_way(
    changes: list[tuple[int, int]], tmp_path: Path
) -> None:
    data = bytearray(PUPIL)
    for place, byte in changes:
        data[place] = byte
    found = by_mould(bytes(data), TEACHER, tmp_path)
    if found is not None:
        assert spelled(found) == spelled(ordinary(bytes(data), tmp_path / "plain"))


def test_a_mould_needs_a_loop() -> None:
    assert make(dump(calls=MIN_ENTRIES // 2), MIN_ENTRIES // 2) is None
    assert make(b"", MIN_ENTRIES) is None
    mould = make(dump(), CALLS)
    assert mould is not None
    assert len(mould.samples) < 20
    assert cast(b"nothing alike", mould) is None
