"""Large files in bounded memory: nothing is missed at the edges of chunks, and floods are bounded."""

from __future__ import annotations

import random
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.evidence.log_examples import EXAMPLES
from support.evidence.reading_logs import OF_THE_END, events_of, log_of, rows_of
from support.examples import examples

from rankandfile.evidence.text import scan
from rankandfile.evidence.text.logs import collect, reading
from rankandfile.evidence.text.logs.needles import SMALL, finder, plain, sampled
from rankandfile.evidence.text.logs.shape import SHORTEST
from rankandfile.evidence.text.logs.shapes import SHAPES, by_needle

LITERALS = tuple(literal.encode() for literal, _ in by_needle())
W1 = (
    "[rank{r}]:[E1103 04:12:55.1 X.cpp:6] [Rank {r}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum={s}, "  # noqa: E501
    "OpType=ALLREDUCE, NumelIn=4, NumelOut=4, Timeout(ms)=600000) ran for 600046 milliseconds before timing out.\n"
)


def lines_with(find: object, data: bytes) -> set[int]:
    return {data.count(b"\n", 0, position) for position in find(data, 0, len(data))}  # type: ignore[operator]


def test_every_literal_is_long_enough_and_on_one_line() -> None:
    for shape in SHAPES:
        for literal in shape.literals:
            assert len(literal) >= SHORTEST, literal
            assert literal.isascii(), literal
            assert "\n" not in literal


@given(
    st.lists(
        st.one_of(
            st.sampled_from(LITERALS),
            st.sampled_from(LITERALS).map(lambda literal: literal[:-1]),
            st.binary(max_size=9),
            st.just(b"\n"),
        ),
        max_size=40,
    ),
    st.integers(0, 7),
)
@settings(max_examples=examples(400), deadline=None)
def test_looking_at_every_fourth_byte_finds_every_literal(parts: list[bytes], shift: int) -> None:
    data = b"." * shift + b"".join(parts)
    assert lines_with(sampled(LITERALS), data) == lines_with(plain(LITERALS), data)


@pytest.mark.parametrize("literal", LITERALS, ids=lambda literal: literal.decode())
def test_a_literal_is_found_at_every_offset_up_to_the_last_byte(literal: bytes) -> None:
    find = sampled(LITERALS)
    for shift in range(4):
        for begin in range(4):
            data = b"\n" * (shift + begin) + literal
            assert find(data, begin, len(data)), (shift, begin)


def test_ordinary_lines_are_rarely_looked_at() -> None:
    text = b"".join(
        b"2026-02-07 08:41:%02d,512 rank %d INFO trainer: iteration %d loss=%.4f operation step 4 timed\n"
        % (i % 60, i % 64, i, i / 7)
        for i in range(20_000)
    )
    assert len(lines_with(finder(SMALL), text)) < 200


@given(st.lists(st.sampled_from(EXAMPLES), min_size=1, max_size=12), st.integers(64, 700))
@settings(max_examples=examples(60), deadline=None)
def test_chunks_have_no_edges(examples: list, chunk: int) -> None:  # type: ignore[type-arg]
    data = "".join(f"step {i}\n{e.text}\n" for i, e in enumerate(examples)).encode()
    whole = [(line.offset, line.number, line.text) for line in scan.Scan(BytesIO(data), plain(LITERALS))]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scan, "CHUNK", chunk)
        patch.setattr(scan, "AHEAD", 4096)
        small = scan.Scan(BytesIO(data), plain(LITERALS))
        assert [(line.offset, line.number, line.text) for line in small] == whole
        assert small.lines == data.count(b"\n")
        assert small.bytes == len(data)
    for offset, number, text in whole:
        assert data[:offset].count(b"\n") + 1 == number
        assert data[offset:].startswith(text.encode())


def test_a_block_across_the_edge_of_a_chunk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan, "CHUNK", 1000)
    stack = (
        "Stack trace of the failed collective: \n"
        + "".join(f"#{i} f{i} from /x/{i}.py:{i}\n" for i in range(60))
        + "\n"
    )
    rows = events_of(tmp_path, ("step\n" * 190 + stack) * 3)
    assert [len(row["fields"]["frames"]) for row in rows if row["kind"] == "failed_stack"] == [60]


def test_line_numbers_in_a_large_file(tmp_path: Path) -> None:
    draw = random.Random(3)
    ordinary = [f"2026-02-07 08:41:09,512 step {i} loss {draw.random()}\n" for i in range(1000)]
    lines = ordinary * 200
    places = sorted(draw.sample(range(len(lines)), 50))
    for number, place in enumerate(places):
        lines[place] = W1.format(r=number, s=place)
    log = log_of(tmp_path, "".join(lines))
    assert log.row.bytes > SMALL
    assert [row["line"] for row in rows_of(log) if row["kind"] not in OF_THE_END] == [
        place + 1 for place in places
    ]
    assert log.row.lines == len(lines)


def test_a_flood_keeps_its_beginning_and_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collect, "FIRST", 50)
    monkeypatch.setattr(collect, "LAST", 50)
    monkeypatch.setattr(reading, "_TAIL", 200_000)
    log = log_of(tmp_path, "".join(W1.format(r=3, s=s) for s in range(4000)))
    seqs = [row["seq"] for row in rows_of(log)]
    assert seqs[:50] == list(range(50))
    assert len(seqs) == 100 or seqs[-1] == 3999
    assert log.row.partial
    assert log.notes
    assert log.row.lines == 4000


def test_a_log_that_ends_in_zeros(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan, "CHUNK", 4096)
    log = log_of(tmp_path, W1.format(r=3, s=1).encode() + b"\0" * 30_000 + W1.format(r=4, s=2).encode())
    assert [row["rank"] for row in rows_of(log)] == [3]
    assert "zeros" in log.notes[0].what


def test_what_a_row_says_of_a_file(tmp_path: Path) -> None:
    text = (
        "[rank0]:[E1103 04:12:50.1 X.cpp:6] start\n"
        + W1.format(r=0, s=7)
        + "2026-11-03 04:13:00,5 bye\n[rank0]: last wor"
    )
    row = log_of(tmp_path, text).row
    assert row.truncated
    assert row.last_line == "last wor"
    assert row.prefixes[0] == "rank"
    assert row.time_quality == "wall"
    assert row.lines == 4


def test_a_name_or_an_empty_file_is_no_trouble(tmp_path: Path) -> None:
    log = log_of(tmp_path, "")
    assert (log.row.lines, log.row.truncated, rows_of(log)) == (0, False, [])
    with pytest.raises(OSError):
        log_of(tmp_path / "nowhere", "x")
