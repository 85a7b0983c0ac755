"""Hypothesis against every dump decoder, in this process: no exception, no hang, memory within the stated bound."""

from __future__ import annotations

import json
import pickle
import time
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st
from support.evidence.sample_dumps import one_rank, plain
from support.examples import examples
from support.fuzz.decoder_targets import (
    TARGETS,
    bounded_memory,
    decode_object,
    fuzz_condensed,
    fuzz_json,
    fuzz_pickle,
)
from support.fuzz.nasty_files import condensed, nasty_files

from rankandfile.evidence.condensed.form import FORM, SIGN
from rankandfile.lab.flight_writer import write_pickle
from rankandfile.lab.flight_writer_json import write_json
from rankandfile.lab.flight_writer_types import VERSIONS

pytestmark = pytest.mark.slow

FUZZ = settings(max_examples=examples(250), deadline=None, suppress_health_check=list(HealthCheck))
NASTY = nasty_files()
#: Longest that any of these files, none above 100 kB, may take.
SECONDS = 10.0


@pytest.fixture(autouse=True)
def bounded() -> Iterator[None]:
    with bounded_memory():
        yield


@pytest.mark.parametrize("target", sorted(TARGETS))
@pytest.mark.parametrize("name", sorted(NASTY))
def test_nasty_files(name: str, target: str) -> None:
    began = time.process_time()
    TARGETS[target](NASTY[name])
    assert time.process_time() - began < SECONDS


#: Values that no field wants, and some that look right.
ATOMS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([0, -1, 1 << 31, 1 << 62, 1 << 63, -(1 << 63), 1 << 64, 1 << 5000])
    | st.floats()
    | st.text(max_size=8)
    | st.characters(categories=["Cs"])
    | st.sampled_from(["", "scheduled", "nccl:send 0->1", "[0, 1]", "#0", "2.10", "x" * 5000])
    | st.binary(max_size=4)
)
VALUES = st.recursive(
    ATOMS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(max_size=5) | st.integers() | st.none(), inner, max_size=4)
    ),
    max_leaves=8,
)
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=8,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a value where something could stand instead."""
    yield path
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from places(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from places(inner, (*path, index))


def replaced(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = replaced(value[path[0]], path[1:], new)
    return copy


def removed(value: Any, path: tuple[Any, ...]) -> Any:
    copy = dict(value) if isinstance(value, dict) else list(value)
    if len(path) == 1:
        del copy[path[0]]
    else:
        copy[path[0]] = removed(value[path[0]], path[1:])
    return copy


DUMPS = {version: plain(one_rank(0, calls=3), version) for version in VERSIONS}
PLACES = {version: [path for path in places(value) if path] for version, value in DUMPS.items()}


@given(data=st.data(), version=st.sampled_from(sorted(DUMPS)))
@FUZZ
def test_a_dump_with_strange_values_in_places(data: st.DataObject, version: str) -> None:
    value = DUMPS[version]
    for _ in range(data.draw(st.integers(1, 3))):
        present = [path for path in places(value) if path]
        if not present:
            break
        path = data.draw(st.sampled_from(present))
        if data.draw(st.booleans()):
            value = replaced(value, path, data.draw(VALUES))
        else:
            value = removed(value, path)
    decode_object(value, "pickle")


@given(value=VALUES)
@FUZZ
def test_any_object(value: Any) -> None:
    decode_object(value, "pickle")
    decode_object({"entries": value, "pg_config": value, "pg_status": value, "version": value}, "pickle")
    decode_object({"entries": [value, value]}, "pickle")


@given(value=JSON_VALUES)
@FUZZ
def test_any_json(value: Any) -> None:
    fuzz_json(json.dumps(value).encode())
    fuzz_json(json.dumps({"0": value, "1": {"result": value}}).encode())
    fuzz_json(json.dumps({"entries": [value]}).encode())


@given(protocol=st.integers(0, 5), value=VALUES)
@FUZZ
def test_any_pickle(protocol: int, value: Any) -> None:
    fuzz_pickle(pickle.dumps(value, protocol))
    fuzz_pickle(pickle.dumps({"entries": [value]}, protocol))


CONDENSED = msgspec.msgpack.decode(condensed()[len(SIGN) + len(FORM) :])


@given(data=st.data())
@FUZZ
def test_a_condensed_dump_with_strange_values_in_places(data: st.DataObject) -> None:
    value = CONDENSED
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from([path for path in places(value) if path] or [()]))
        if path and data.draw(st.booleans()):
            value = removed(value, path)
        else:
            value = replaced(value, path, data.draw(VALUES))
    try:
        packed = msgspec.msgpack.encode(value)
    except (OverflowError, UnicodeEncodeError, TypeError, ValueError):
        reject()
    fuzz_condensed(packed)


SEEDS = [write_pickle(one_rank(0, calls=3), version) for version in VERSIONS]
SEEDS += [pickle.dumps(plain(one_rank(0, calls=3)), protocol) for protocol in range(6)]
SEEDS += [write_json(one_rank(0, calls=3)), condensed()]


@st.composite
def mutated(draw: Callable[[Any], Any]) -> bytes:
    """A dump with bytes changed, cut out, repeated and put in."""
    data = bytearray(draw(st.sampled_from(SEEDS)))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        end = min(len(data), start + draw(st.integers(0, 12)))
        new = draw(
            st.binary(max_size=6)
            | st.sampled_from([b"", b"u.", b"e", b"(", b"h\x01", bytes(data[start:end]) * 3])
        )
        data[start:end] = new
    return bytes(data)


@pytest.mark.parametrize("target", sorted(TARGETS))
@given(data=mutated())
@settings(FUZZ, max_examples=examples(400))
def test_mutated_dumps(target: str, data: bytes) -> None:
    TARGETS[target](data)


@pytest.mark.parametrize("target", sorted(TARGETS))
@given(data=st.binary(max_size=200) | st.binary(max_size=100).map(lambda tail: b"\x80\x02}(" + tail))
@FUZZ
def test_any_bytes(target: str, data: bytes) -> None:
    TARGETS[target](data)
