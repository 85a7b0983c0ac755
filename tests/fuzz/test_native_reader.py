"""The native reader of dumps tells what Python's tells, of every dump at hand and of thousands that were changed."""

from __future__ import annotations

import pickle
import tarfile
from collections import Counter
from itertools import islice
from pathlib import Path

import pytest
from support.evidence.sample_dumps import one_rank, plain
from support.fuzz.both_readers import compare, compare_file, why_not
from support.fuzz.decoder_targets import bounded_memory
from support.fuzz.mutations import NUMBERS, as_torch, mutations, seeds
from support.fuzz.nasty_files import nasty_files
from support.places import ROOT

from rankandfile.evidence.flight.entries import INTEGER_KEYS
from rankandfile.lab.flight_writer import write_pickle
from rankandfile.lab.flight_writer_types import VERSIONS
from rankandfile.lab.sim import catalog
from rankandfile.lab.sim.run import simulate

pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(why_not()), reason=why_not() or "compared")]

SETS = sorted([*(ROOT / "first-contact").glob("*.tar.xz"), ROOT / "tests/nccl/recorded.tar.xz"])


def all_equal(found: Counter[str]) -> None:
    assert found["different"] == 0, found
    assert found["equal"], "the native reader read none"


@pytest.mark.parametrize("version", sorted(VERSIONS))
@pytest.mark.parametrize("calls", [1, 2, 3, 12, 300])
def test_what_torch_writes_is_read_by_both(version: str, calls: int) -> None:
    assert compare(write_pickle(one_rank(0, calls=calls), version)) == "equal"


@pytest.mark.parametrize("protocol", range(2, 6))
def test_what_python_writes_is_read_by_both(protocol: int) -> None:
    for version in VERSIONS:
        value = plain(one_rank(0, calls=300), version)
        assert compare(pickle.dumps(value, protocol)) == "equal"
        value["entries"] = [pickle.loads(pickle.dumps(entry)) for entry in value["entries"]]
        assert compare(pickle.dumps(value, protocol)) == "equal"


def test_text_protocols_are_left() -> None:
    assert {compare(pickle.dumps(plain(one_rank(0, calls=3)), protocol)) for protocol in (0, 1)} == {"left"}


@pytest.mark.parametrize("name", sorted(nasty_files()))
def test_nasty_files(name: str) -> None:
    with bounded_memory():
        assert compare(nasty_files()[name]) != "different"


def test_every_cut_of_a_dump() -> None:
    data = write_pickle(one_rank(0, calls=3))
    assert {compare(data[:end]) for end in range(len(data))} == {"left"}


def test_every_bit_of_a_dump() -> None:
    data = write_pickle(one_rank(0, calls=2))
    found: Counter[str] = Counter()
    for place in range(0, 8 * len(data), 3):
        changed = bytearray(data)
        changed[place // 8] ^= 1 << place % 8
        found[compare(bytes(changed))] += 1
    all_equal(found)


@pytest.mark.parametrize("key", [key for key in INTEGER_KEYS.values() if key != "record_id"])
def test_numbers_of_calls_that_are_like_earlier_ones(key: str) -> None:
    """What is wrong with one is seen, and what is unknown is, also where only its bytes are looked at."""
    found: Counter[str] = Counter()
    for number in NUMBERS:
        value = plain(one_rank(0, calls=40))
        value["entries"][33][key] = number
        verdict = compare(as_torch(value))
        assert verdict != "different", number
        found[verdict] += 1
    assert found["equal"] >= 9, found
    assert found["left"] >= 4, found


@pytest.mark.parametrize("record", [-5, 0, 12, 38, 100, 1 << 40])
def test_a_record_that_appears_twice_is_left(record: int) -> None:
    value = plain(one_rank(0, calls=40))
    value["entries"][33]["record_id"] = record
    assert compare(as_torch(value)) == ("left" if record in range(40) else "equal")


def test_a_place_in_the_memo_that_is_given_anew_is_left() -> None:
    """Calls with the same bytes, before and behind it, would then have other names."""
    value = plain(one_rank(0, calls=40))
    value["entries"][33]["thread_name"] = "nccl:broadcast"
    data = as_torch(value)
    assert compare(data) == "equal"
    first, second = (data.index(word) + len(word) for word in (b"nccl:all_reduce", b"nccl:broadcast"))
    assert data[first : first + 1] == data[second : second + 1] == b"q"
    changed = data[:second] + data[first : first + 2] + data[second + 2 :]
    assert pickle.loads(changed)["entries"][-2]["profiling_name"] == "nccl:broadcast"
    assert compare(changed) == "left"


@pytest.mark.parametrize("protocol", [2, 4, 5])
def test_places_are_counted_in_calls_that_are_like_earlier_ones(protocol: int) -> None:
    value = plain(one_rank(0, calls=40))
    value["entries"] = [pickle.loads(pickle.dumps(entry)) for entry in value["entries"]]
    for number in (33, 34, 39):
        value["entries"][number] |= {"thread_name": "named late", "profiling_name": "nccl:late"}
    assert compare(pickle.dumps(value, protocol)) == "equal"


@pytest.mark.parametrize(
    "name", ["nccl:send 0->1", "nccl:recv 1<-0", "nccl:sender", "send 0->1", "a:b:send 0->1"]
)
def test_sends_of_versions_that_do_not_say_so(name: str) -> None:
    value = plain(one_rank(0, calls=3), "1.4")
    value["entries"][1]["profiling_name"] = name
    assert compare(as_torch(value)) == "equal"


@pytest.mark.parametrize("seed", range(4))
def test_changed_dumps(seed: int) -> None:
    with bounded_memory():
        all_equal(Counter(compare(data) for data in islice(mutations(seed), 1500)))


def test_seeds() -> None:
    found = Counter(compare(data) for data in seeds())
    all_equal(found)
    assert found["equal"] > found["left"]


def test_the_examples() -> None:
    dumps = [path for path in (ROOT / "examples").rglob("nccl_trace_rank_*") if path.suffix != ".json"]
    assert Counter(map(compare_file, dumps)) == {"equal": len(dumps)}


@pytest.mark.parametrize("archive", SETS, ids=lambda path: path.name.partition(".")[0])
def test_the_dumps_of_sets(archive: Path) -> None:
    found: Counter[str] = Counter()
    with tarfile.open(archive) as packed:
        for member in packed:
            file = packed.extractfile(member)
            data = file.read() if file is not None else b""
            if data[:1] == b"\x80":
                found[compare(data)] += 1
    assert found["different"] == 0, found


@pytest.mark.lab
@pytest.mark.parametrize("name", sorted(catalog.scenarios()))
def test_simulated_dumps(name: str, tmp_path: Path) -> None:
    dumps = (simulate(name, tmp_path / name) / "evidence").rglob("*rank_*")
    found = Counter(compare_file(path) for path in dumps if path.is_file())
    assert found["different"] == 0, found
