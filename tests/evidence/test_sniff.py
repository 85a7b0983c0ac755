"""What a file is: by content first, by name only where the content does not tell."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import pickle
import tarfile
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankandfile.evidence.files.json_outline import outline
from rankandfile.evidence.files.sniff import HEAD, container, kind

DUMP = {
    "version": "2.10",
    "pg_config": {},
    "pg_status": {},
    "entries": [{"record_id": 0, "state": "scheduled"}],
}
OLD = {"entries": [], "version": "1.4", "pg_config": {0: [0, 1]}}
STACKS = 'Thread 0x00007f1 (most recent call first):\n  File "train.py", line 3 in step\n'


def tarred() -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("rank_0"))
    return buffer.getvalue()


def zipped() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("rank_0", "x")
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("expected", "content"),
    [
        ("gzip", gzip.compress(b"x", mtime=0)),
        ("bzip2", bz2.compress(b"x")),
        ("bzip2", bz2.compress(b"")),
        ("xz", lzma.compress(b"x")),
        ("zstd", b"\x28\xb5\x2f\xfd\x20\x00"),
        ("zip", zipped()),
        ("tar", tarred()),
        ("rar", b"Rar!\x1a\x07\x01\x00"),
        *(("flight_pickle", pickle.dumps(DUMP, protocol)) for protocol in range(6)),
        ("flight_pickle", b"(dp0\nS'version'\np1\nS'2.10'\np2\ns."),
        ("log", b"(device 3) version 2.10 of the driver\n"),
        ("flight_pickle", pickle.dumps(OLD, 2)),
        ("flight_pickle", pickle.dumps(DUMP, 2)[:3]),
        ("unknown", pickle.dumps([1, 2, 3], 2) + b"\0"),
        ("flight_json", json.dumps(DUMP).encode()),
        ("flight_json", ("\ufeff\n " + json.dumps(DUMP, indent=2, sort_keys=True)).encode()),
        ("flight_json", b'{"comm_lib_version":"","nccl_comm_state":{},"pg_config":{},"version":"2.10"}'),
        ("flight_json", b'{"version": "2.10"}'),
        ("debug_json", json.dumps({"0": DUMP, "1": DUMP}).encode()),
        ("debug_json", json.dumps([DUMP, DUMP]).encode()),
        ("debug_json", json.dumps({"ranks": [DUMP]}).encode()),
        ("debug_html", b"\n<!doctype html>\n<head>\n<title>FlightRecorder - PyTorch Distributed</title>"),
        ("unknown", b"<!DOCTYPE html><title>Not found</title>"),
        ("flight_table", b"=== FR Trace ===\n--- Groups ---\n"),
        (
            "flight_table",
            b"PARTIAL DATA: 1/2 workers responded\n  Rank 1: x\n\n=== TorchComms FR Trace ===\n",
        ),
        ("stacks", STACKS.encode()),
        ("stacks", b"=== Rank 0: http://host:40425/handler/dump_traceback? ===\n" + STACKS.encode()),
        (
            "stacks",
            b"=== Rank 0: http://h:1/handler/pyspy_dump?nonblocking=1 ===\nProcess 7: python\nPython v3.11\n",
        ),
        (
            "stacks",
            b"Process 4242: python train.py\nPython v3.11.9 (/usr/bin/python)\n\nThread 4242 (idle)\n",
        ),
        ("stacks", b"Fatal Python error: Aborted\n\n"),
        ("stacks", json.dumps([{"pid": 1, "thread_id": 2, "frames": [{"name": "f"}]}]).encode()),
        ("wait_counters", b'=== Rank 0: http://h:1/handler/wait_counter_values? ===\n{\n  "a": {}\n}'),
        ("wait_counters", b'{"pytorch.wait_counter.TCPStore__get": {"active_count": 1}}'),
        (
            "elastic_error",
            b'{"message": {"message": "ValueError", "extraInfo": {"py_callstack": "Traceback"}}}',
        ),
        ("log", b"[rank3]:[E207 08:41:09.512004418 ProcessGroupNCCL.cpp:607] [Rank 3] Watchdog caught\n"),
        ("log", b'{"log":"step 1\\n","stream":"stdout"}\n{"log":"step 2\\n","stream":"stdout"}\n'),
        ("log", "Époche 3 läuft\n".encode("latin-1")),
        ("log", b"[2026-01-05 10:11:12,123] torch.distributed: [WARNING] x\n"),
        ("case", b"PAR1\x15\x04"),
        ("case", b'{"schema": "rankandfile.case/1", "notes": []}'),
        ("empty", b""),
        ("unknown", b"   \n"),
        ("unknown", bytes(range(256))),
    ],
)
def test_content_tells(expected: str, content: bytes) -> None:
    # Whatever the name pretends.
    assert kind(content[:HEAD], "notes") == expected
    if expected not in ("unknown", "empty"):
        assert kind(content[:HEAD], "strange.log") == expected


@pytest.mark.parametrize(
    ("expected", "name", "content"),
    [
        # Not a pickle at all, but where a dump should be: its decoder then says what is wrong.
        ("flight_pickle", "nccl_trace_rank_3", b"\0\0\0\0"),
        ("flight_pickle", "d/rank7.pkl", bytes(range(256))),
        # The report of the workers that failed can fill the whole head.
        (
            "flight_table",
            "fr_trace_20261120_123000.txt",
            b"PARTIAL DATA: 1/900 workers responded\n  Rank 1: no\n",
        ),
        (
            "flight_table",
            "a/torchcomms_fr_trace_20261120_123000.txt",
            b"PARTIAL DATA: 1/900 workers responded\n",
        ),
        ("stacks", "stacks_20261120_123000.txt", b"PARTIAL DATA: 0/2 workers responded\n"),
        ("flight_json", "nccl_trace_rank_0.json", b"{}"),
        ("unknown", "package.json", b'{"name": "x"}'),
        ("unknown", "checkpoint/weights.pt", b"PK\3\4" + bytes(100)),
        ("log", "rank_3.log", b"hello\n"),
    ],
)
def test_names_decide_where_content_does_not(expected: str, name: str, content: bytes) -> None:
    assert kind(content, name) == expected


def test_a_version_7_tar_has_no_magic_but_a_checksum() -> None:
    header = bytearray(tarred()[:512])
    header[257:265] = bytes(8)
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    assert container(bytes(header), "old.tar") == "tar"
    assert container(bytes(header), "old") is None


def test_the_outline_ignores_brackets_in_strings_and_stops_in_the_deep() -> None:
    assert outline('{"a": "}{[\\"", "b": [{"c": {"d": 1}}], "e') == ({"a", "b"}, {"c"})
    assert outline("[" * 100_000) == (set(), set())
    assert outline('"' * 1001) == (set(), set())


@given(st.binary(max_size=600), st.text(max_size=30))
def test_anything_has_a_kind(head: bytes, name: str) -> None:
    assert isinstance(kind(head, name), str)


@given(st.integers(0, 400), st.sampled_from([pickle.dumps(DUMP, 2), json.dumps(DUMP).encode()]))
def test_a_cut_dump_is_still_a_dump(cut: int, content: bytes) -> None:
    assert kind(content[: max(30, cut)], "nccl_trace_rank_3") in ("flight_pickle", "flight_json")


def test_an_answer_of_nccls_ras_is_read_as_a_log() -> None:
    for text in (
        '{"nccl_version": "2.28.9", "communicators": [{"hash": "77aa"',
        '{"communicators": [], "x": 1}',
    ):
        assert kind(text.encode(), "ncclras_rank_dump.json") == "log"
