"""Walking what a person gives: every file once, in a steady order, nothing special opened, nothing raised."""

from __future__ import annotations

import os
import socket
import tarfile
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankandfile.evidence.files.blobs import natural, shown
from rankandfile.evidence.files.limits import Limits
from rankandfile.evidence.files.walk import walk


@pytest.fixture
def spool(tmp_path: Path) -> Path:
    folder = tmp_path / "spool"
    folder.mkdir()
    return folder


@pytest.fixture
def top(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "given"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def write(path: str, content: bytes = b"x", written: int | None = None) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_bytes(content)
    if written is not None:
        os.utime(path, (written, written))


def test_folders_and_files_in_natural_order(top: Path, spool: Path) -> None:
    for rank in (10, 2, 1, 0):
        write(f"run/node-10/nccl_trace_rank_{rank}")
    write("run/node-9/nccl_trace_rank_11", b"four", written=1_700_000_000)
    write("alone.json", b"{}")
    blobs, notes = walk(["run", "alone.json"], spool)
    assert [blob.source for blob in blobs] == [
        "run/node-9/nccl_trace_rank_11",
        "run/node-10/nccl_trace_rank_0",
        "run/node-10/nccl_trace_rank_1",
        "run/node-10/nccl_trace_rank_2",
        "run/node-10/nccl_trace_rank_10",
        "alone.json",
    ]
    assert notes == []
    first = blobs[0]
    assert (first.size, first.written_ns, first.path.read_bytes()) == (4, 1_700_000_000 * 10**9, b"four")
    assert list(spool.iterdir()) == []


def test_nothing_special_is_opened(top: Path, spool: Path) -> None:
    """Opening a FIFO without a writer would wait for ever; this test would not end."""
    write("d/nccl_trace_rank_0")
    os.mkfifo("d/7.pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("d/socket")
        Path("d/zeros").symlink_to("/dev/zero")
        blobs, notes = walk(["d", "d/7.pipe"], spool)
    assert [blob.source for blob in blobs] == ["d/nccl_trace_rank_0"]
    assert {(note.file, note.what) for note in notes} == {
        ("d/7.pipe", "a FIFO; not opened"),
        ("d/socket", "a socket; not opened"),
        ("d/zeros", OUT),
    }


OUT = "a link that leads out of what was named; not followed (--follow-links follows)"


@pytest.fixture
def with_links(top: Path) -> Path:
    """A folder with links to a file and a folder beside it, to all of the machine, and to what is in it."""
    write("given/logs/nccl_trace_rank_0")
    write("outside/nccl_trace_rank_1", b"secret")
    write("outside/more/nccl_trace_rank_2", b"secret")
    for name, target in {
        "a_file": "../outside/nccl_trace_rank_1",
        "logs/a_folder": "../../outside/more",
        "machine": "/proc",
        "root": "/",
        "within": "logs/nccl_trace_rank_0",
    }.items():
        Path("given", name).symlink_to(target)
    return Path("given")


def test_links_lead_nowhere_outside_of_what_was_named(with_links: Path, spool: Path) -> None:
    blobs, notes = walk([with_links], spool)
    assert [blob.source for blob in blobs] == ["given/within"]
    assert [(note.file, note.what) for note in notes if note.what.startswith("a link")] == [
        ("given/a_file", f"{OUT}, and 3 more such links")
    ]


def test_a_link_is_followed_where_what_it_leads_to_was_named_or_links_are_asked_for(
    with_links: Path, spool: Path
) -> None:
    for name in ("machine", "root"):
        (with_links / name).unlink()
    named, _ = walk([with_links, "outside"], spool)
    followed, notes = walk([with_links], spool, Limits(follow_links=True))
    assert {blob.path.resolve().name for blob in named} == {f"nccl_trace_rank_{n}" for n in range(3)}
    assert {blob.path.resolve().name for blob in followed} == {f"nccl_trace_rank_{n}" for n in range(3)}
    assert not [note for note in notes if note.what == OUT]
    # A link that is itself what a person names leads where it leads.
    Path("latest").symlink_to("outside")
    assert len(walk(["latest"], spool)[0]) == 2


def test_link_loops_end_and_each_file_is_read_once(top: Path, spool: Path) -> None:
    write("d/inner/nccl_trace_rank_0")
    Path("d/inner/up").symlink_to("..")
    Path("d/latest").symlink_to("inner/nccl_trace_rank_0")
    Path("d/dangling").symlink_to("nowhere")
    Path("d/self").symlink_to("self")
    blobs, notes = walk(["d", "d", "d/inner/nccl_trace_rank_0"], spool)
    assert len(blobs) == 1
    whats = {note.file: note.what for note in notes}
    assert whats["d/inner/up"] == "the same as d; read once"
    assert whats["d/dangling"] == "a link that leads nowhere"
    assert "cannot be read" in whats["d/self"]
    assert whats["d/inner/nccl_trace_rank_0"] == "the same as d/latest; read once"


def test_what_is_missing_or_not_a_path_is_a_note(top: Path, spool: Path) -> None:
    blobs, notes = walk(["gone", "nul\0byte", "x" * 5000, ""], spool)
    assert blobs == []
    assert notes[0].what == "no such file"
    assert len(notes) == 4


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_folder_is_a_note(top: Path, spool: Path) -> None:
    write("d/locked/x")
    write("d/open/y")
    Path("d/locked").chmod(0)
    try:
        blobs, notes = walk(["d"], spool)
    finally:
        Path("d/locked").chmod(0o700)
    assert [blob.source for blob in blobs] == ["d/open/y"]
    assert notes[0].what == "cannot be read: Permission denied"


def test_the_litter_of_desktops_is_skipped_silently(top: Path, spool: Path) -> None:
    for name in ("d/.DS_Store", "d/._rank_0", "d/__MACOSX/x", "d/.git/config", "d/rank_0"):
        write(name)
    assert [blob.source for blob in walk(["d"], spool)[0]] == ["d/rank_0"]
    assert walk(["d"], spool)[1] == []


def test_limits_on_files_and_sizes_are_one_line(top: Path, spool: Path) -> None:
    for number in range(20):
        write(f"d/{number}")
    write("d/3", b"x" * 11)
    blobs, notes = walk(["d"], spool, Limits(files=10, file_bytes=10))
    assert [blob.source for blob in blobs] == [f"d/{n}" for n in range(10) if n != 3]
    assert [note.what for note in notes] == [
        "11 bytes long, more than 10 bytes; not read",
        "more than 10 files (--limit-files allows more); the rest was not looked at",
    ]


def test_folders_without_end(top: Path, spool: Path) -> None:
    deep = Path("d")
    for _ in range(80):
        deep = deep / "n"
    write(str(deep / "x"))
    blobs, notes = walk(["d"], spool)
    assert blobs == []
    assert notes[0].what == "folders more than 64 deep; not looked at"


def test_names_that_are_not_text_are_shown_without_harm(top: Path, spool: Path) -> None:
    Path(os.fsdecode(b"bad\xff\x1b[2J\nname")).write_bytes(b"data")
    blobs, _ = walk(["."], spool)
    assert blobs[0].source == "./bad\ufffd?[2J?name"
    assert blobs[0].path.read_bytes() == b"data"


@pytest.mark.slow
def test_sixteen_thousand_files_take_well_under_a_second(top: Path, spool: Path) -> None:
    for node in range(64):
        Path(f"d/node{node}").mkdir(parents=True)
        for rank in range(256):
            Path(f"d/node{node}/nccl_trace_rank_{node * 256 + rank}").write_bytes(b"\x80\x02}.")
    began = time.process_time()
    blobs, _ = walk(["d"], spool)
    took = time.process_time() - began
    assert len(blobs) == 16384
    assert blobs[-1].source == "d/node63/nccl_trace_rank_16383"
    # About 0.2 s on two cores; the bound leaves room for a busy machine.
    assert took < 2


def test_archives_are_found_with_any_suffix_or_none(top: Path, spool: Path) -> None:
    write("inner/nccl_trace_rank_3", b"dump", written=1_600_000_000)
    with tarfile.open("bundle", "w:gz") as bundle:
        bundle.add("inner")
    write("weights.pt", b"PK\3\4" + b"\0" * 30)
    blobs, notes = walk(["bundle", "weights.pt"], spool)
    assert [blob.source for blob in blobs] == ["bundle!/inner/nccl_trace_rank_3", "weights.pt"]
    assert blobs[0].path.read_bytes() == b"dump"
    assert blobs[0].written_ns == 1_600_000_000 * 10**9
    assert notes == []


@given(st.text(max_size=40))
def test_any_name_is_shown_as_storable_text(name: str) -> None:
    text = shown(name)
    assert text.encode("utf-8").decode("utf-8") == text
    assert text.isprintable()


@given(st.lists(st.text(alphabet="a_01٣9", max_size=6), max_size=8))
def test_natural_order_is_total(names: list[str]) -> None:
    backwards = list(reversed(names))
    assert sorted(names, key=natural) == sorted(backwards, key=natural)


def test_natural_order_of_numbers() -> None:
    names = ["r10", "r9", "r09", "r1", "r" + "9" * 5000]
    assert sorted(names, key=natural) == ["r1", "r09", "r9", "r10", "r" + "9" * 5000]
