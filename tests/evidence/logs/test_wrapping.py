"""Lines that were cut, joined, coloured or shared still say what they said."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.evidence.log_examples import EXAMPLES, MACHINE
from support.evidence.reading_logs import events_of, kinds_of
from support.examples import examples

from rankandfile.evidence.text.written_lines import pieces

HEAD = "[rank{r}]:[E1103 04:12:55.118264031 ProcessGroupNCCL.cpp:616] "
W1 = (
    "[Rank {r}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=918, OpType=_ALLGATHER_BASE, "
    "NumelIn=98304, NumelOut=786432, Timeout(ms)=600000) ran for 600046 milliseconds before timing out."
)
W2 = (
    "[PG ID 2 PG GUID 9(dp) Rank 0]  failure detected by watchdog at work sequence id: 918 "
    "PG status: last enqueued work: 919, last completed work: 917"
)
LINE = HEAD + W1


@pytest.mark.parametrize("width", [60, 72, 80, 100, 120, 160])
@pytest.mark.parametrize("at_words", [True, False])
def test_hard_wrapped(tmp_path: Path, width: int, at_words: bool) -> None:
    lines = (HEAD + W1).format(r=11), (HEAD + W2).format(r=11)
    cut = [
        part
        for line in lines
        for part in (
            textwrap.wrap(line, width, break_on_hyphens=False)
            if at_words
            else [line[i : i + width] for i in range(0, len(line), width)]
        )
    ]
    first, second = events_of(tmp_path, "step 1\n" + "\n".join(cut) + "\nstep 2\n")
    assert (first["kind"], first["seq"], first["size_out"], first["waited_ms"]) == (
        "watchdog_timeout",
        918,
        786432,
        600_046,
    )
    assert (first["rank"], first["line"], first["fields"]["wrapped"]) == (11, 2, True)
    assert (second["kind"], second["enqueued"], second["completed"]) == ("watchdog_progress", 919, 917)
    assert second["group_desc"] == "dp"


def test_ranks_that_share_a_line(tmp_path: Path) -> None:
    text = "5/10 [00:07, 1.4s/it]" + LINE.format(r=2) + LINE.format(r=3) + "\n"
    assert [row["rank"] for row in events_of(tmp_path, text)] == [2, 3]


def test_a_damaged_rank(tmp_path: Path) -> None:
    (row,) = events_of(tmp_path, LINE.format(r="2["))
    assert row["rank"] == 2


def test_parts_that_a_container_runtime_cut(tmp_path: Path) -> None:
    line = LINE.format(r=4)
    time = "2026-02-07T08:41:09.5120044{}8Z stderr "
    parts = [line[:80], line[80:150], line[150:]]
    tags = ["P", "P", "F"]
    text = "".join(
        f"{time.format(i)}{tag} {part}\n" for i, (tag, part) in enumerate(zip(tags, parts, strict=True))
    )
    (row,) = events_of(tmp_path, f"{time.format(9)}F step 1\n" + text + f"{time.format(9)}F step 2\n")
    assert (row["rank"], row["seq"], row["waited_ms"]) == (4, 918, 600_046)


def test_docker_json(tmp_path: Path) -> None:
    text = '{"log":"' + LINE.format(r=4) + '\\n","stream":"stderr","time":"2026-02-07T08:41:09.512Z"}\n'
    (row,) = events_of(tmp_path, text)
    assert (row["rank"], row["seq"], row["time_quality"]) == (4, 918, "zoned")


def test_colours_inside_words(tmp_path: Path) -> None:
    (row,) = events_of(tmp_path, LINE.format(r=4).replace("Watchdog", "\x1b[1mWatch\x1b[0mdog"))
    assert row["kind"] == "watchdog_timeout"


def test_rays_deduplication_is_said(tmp_path: Path) -> None:
    text = f"(Worker pid=7, ip=10.1.2.3) {LINE.format(r=4)} [repeated 7x across cluster]\n"
    (row,) = events_of(tmp_path, text)
    assert row["fields"]["left_out"] == 7


def test_repeats_collapse(tmp_path: Path) -> None:
    told = (
        "  what():  [PG ID 2 PG GUID 9(dp) Rank 0] Process group watchdog thread terminated with exception: "
        + W1
    )
    text = (
        LINE.format(r=4)
        + "\n"
        + LINE.format(r=4).replace("600046", "600099")
        + "\n"
        + told.format(r=4)
        + "\n"
    )
    rows = events_of(tmp_path, text)
    assert kinds_of(rows) == ["watchdog_timeout", "watchdog_ended"]
    assert (rows[0]["repeats"], rows[0]["role"], rows[0]["fields"]["last_line"]) == (3, "messenger", 3)


def test_different_tasks_do_not_collapse(tmp_path: Path) -> None:
    text = "".join(f"srun: error: node0{i % 2}: task {i}: Killed\n" for i in range(6))
    assert [row["fields"]["tasks"] for row in events_of(tmp_path, text)] == [[i] for i in range(6)]


def test_an_endless_line(tmp_path: Path) -> None:
    bars = "".join(f"\r{i}/900000 [00:07, 1.4s/it]" for i in range(300_000))
    (row,) = events_of(
        tmp_path, f"start\n{bars}\r{LINE.format(r=1)}{bars}\n{LINE.format(r=2)}\n"[: -len(LINE)]
    )
    assert (row["line"], row["rank"]) == (2, 1)


@given(st.lists(st.sampled_from([*EXAMPLES, *MACHINE]), min_size=1, max_size=4))
@settings(max_examples=examples(60), deadline=None)
def test_pieces_lose_nothing(examples: list) -> None:  # type: ignore[type-arg]
    line = "".join(LINE.format(r=i) + example.text.replace("\n", " ") for i, example in enumerate(examples))
    assert "".join(pieces(line)) == line
