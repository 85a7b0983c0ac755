"""Archives: all kinds, nested, cut, damaged, hostile. What can be is kept, and nothing leaves the spool."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
import struct
import sys
import tarfile
import tempfile
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.examples import examples

from rankandfile.evidence.files.blobs import Blob
from rankandfile.evidence.files.limits import MIB, Limits
from rankandfile.evidence.files.tar import Tar
from rankandfile.evidence.files.walk import walk
from rankandfile.model.ledger import Note

pytestmark = pytest.mark.slow

zstandard = pytest.importorskip("zstandard")

DUMP = b"".join(b"%d: all_reduce of %d\n" % (n, n * n) for n in range(4000))
PACK: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": lambda data: bytes(zstandard.ZstdCompressor().compress(data)),
}


def tar(members: dict[str, bytes], format: int = tarfile.PAX_FORMAT) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=format) as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            info.mtime = 1_700_000_000
            archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def zipped(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


class Opened:
    """What `walk` makes of one file, with the contents read."""

    def __init__(self, name: str, data: bytes, limits: Limits = Limits()) -> None:  # noqa: B008
        with tempfile.TemporaryDirectory() as folder:
            given = Path(folder) / "given"
            given.mkdir()
            spool = Path(folder) / "spool"
            spool.mkdir()
            path = given / name
            path.write_bytes(data)
            blobs, self.notes = walk([path], spool, limits)
            prefix = f"{given}/"
            self.contents = {blob.source.removeprefix(prefix): blob.path.read_bytes() for blob in blobs}
            self.blobs: list[Blob] = blobs
            self.what = [f"{note.file.removeprefix(prefix)}: {note.what}" for note in self.notes]
            # Whatever an archive says, files appear in the spool only, and only those that are handed on.
            assert {p for p in Path(folder).rglob("*") if p.is_file()} == {path} | {b.path for b in blobs}
            assert all(blob.size == len(self.contents[blob.source.removeprefix(prefix)]) for blob in blobs)


@pytest.mark.parametrize("suffix", PACK)
def test_a_compressed_file_keeps_its_name(suffix: str) -> None:
    opened = Opened(f"nccl_trace_rank_3.json.{suffix}", PACK[suffix](DUMP))
    assert opened.contents == {f"nccl_trace_rank_3.json.{suffix}": DUMP}
    assert opened.what == []


@pytest.mark.parametrize("suffix", PACK)
def test_compressed_tars(suffix: str) -> None:
    opened = Opened(f"all.tar.{suffix}", PACK[suffix](tar({"n0/rank_0": DUMP, "n1/rank_1": b""})))
    assert opened.contents == {f"all.tar.{suffix}!/n0/rank_0": DUMP, f"all.tar.{suffix}!/n1/rank_1": b""}
    assert opened.what == []
    assert {blob.written_ns for blob in opened.blobs} == {1_700_000_000 * 10**9}


@pytest.mark.parametrize(
    ("said", "part"),
    [("123456789", 123_456_789), ("5", 500_000_000), ("", 0), ("x", 0), ("1" * 40, 111_111_111)],
)
def test_a_time_has_its_parts_of_a_second(said: str, part: int) -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        info = tarfile.TarInfo("rank_0")
        info.pax_headers = {"mtime": f"1700000000.{said}"}
        archive.addfile(info, io.BytesIO())
    assert [blob.written_ns for blob in Opened("a.tar", buffer.getvalue()).blobs] == [17 * 10**17 + part]


@pytest.mark.parametrize("format", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_tar_dialects_and_long_names(format: int) -> None:
    long = "/".join(["folder" * 5] * 6) + "/rank_7"
    deep = "d/rank_8" if format == tarfile.USTAR_FORMAT else "é" * 200 + "/rank_8"
    opened = Opened("a.tar", tar({long: DUMP, deep: b"8", "rank_9": b"9"}, format))
    assert opened.contents[f"a.tar!/{deep}"] == b"8"
    assert opened.contents[f"a.tar!/{long}"] == DUMP
    assert opened.contents["a.tar!/rank_9"] == b"9"
    assert set(opened.contents) == {f"a.tar!/{name}" for name in (long, deep, "rank_9")}


@pytest.mark.parametrize(
    "method",
    [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2],
    ids=["stored", "deflated", "bzip2"],
)
def test_zip(method: int) -> None:
    opened = Opened("a.zip", zipped({"n/rank_0": DUMP, "n/rank_1": b"", "folder/": b""}, method))
    assert opened.contents == {"a.zip!/n/rank_0": DUMP, "a.zip!/n/rank_1": b""}
    assert opened.what == []


def test_zip64_and_a_prefix_and_a_streamed_zip() -> None:
    buffer = io.BytesIO(b"#!/bin/sh\n" * 10)
    buffer.seek(0, io.SEEK_END)
    with zipfile.ZipFile(buffer, "a") as archive, archive.open("rank_0", "w", force_zip64=True) as member:
        member.write(DUMP)
    # What was put in front is cut off again: the offsets in the directory are then off by as much.
    assert Opened("a.zip", buffer.getvalue()[100:]).contents == {"a.zip!/rank_0": DUMP}

    class Unseekable(io.RawIOBase):
        data = b""

        def writable(self) -> bool:
            return True

        def write(self, data: object) -> int:
            self.data += bytes(data)  # type: ignore[call-overload]
            return len(bytes(data))  # type: ignore[call-overload]

    stream = Unseekable()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:  # type: ignore[call-overload]
        archive.writestr("rank_0", DUMP)
        archive.writestr("rank_1", b"one")
    whole = Opened("a.zip", stream.data)
    assert whole.contents == {"a.zip!/rank_0": DUMP, "a.zip!/rank_1": b"one"}
    # Without its directory, only reading the members tells where each ends.
    cut = Opened("a.zip", stream.data[: stream.data.index(b"PK\1\2")])
    assert cut.contents == whole.contents
    assert cut.what == ["a.zip: has no directory at its end (cut off?); its members are read in order"]


def test_archives_within_archives() -> None:
    innermost = tar({"rank_5.json.gz": gzip.compress(DUMP)})
    site = zipped({"nodes/node-1.tar.gz": gzip.compress(innermost), "readme": b"hello"})
    opened = Opened("site.zip", site)
    assert opened.contents == {
        "site.zip!/nodes/node-1.tar.gz!/rank_5.json.gz": DUMP,
        "site.zip!/readme": b"hello",
    }
    assert opened.what == []


def test_nesting_has_an_end() -> None:
    data = DUMP
    for level in range(12):
        data = zipped({f"{level}.zip": data, f"{level}.txt": b"seen"})
    opened = Opened("a.zip", data)
    assert len(opened.contents) == 4
    assert [line.partition(": ")[2] for line in opened.what] == [
        "archives within archives, more than 4 deep; not opened"
    ]


def test_a_zip_that_contains_itself_ends() -> None:
    """Nesting without end in a few bytes: gzip of gzip of … where every layer looks the same."""
    data = b"end"
    for _ in range(200):
        data = gzip.compress(data)
    assert len(Opened("quine.gz", data).what) == 1


@pytest.mark.parametrize(
    "name", ["/etc/passwd", "../../../etc/passwd", "a/../../b", "C:\\temp\\x", "..\\..\\x"]
)
def test_names_cannot_lead_out(name: str) -> None:
    opened = Opened("a.zip", zipped({name: b"evil", "rank_0": b"good"}))
    assert sorted(opened.contents.values()) == [b"evil", b"good"]
    assert all(".." not in source and "!//" not in source for source in opened.contents)
    assert "leads out of it" in opened.what[0]


def test_links_and_devices_in_a_tar_are_skipped() -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for number, kind in enumerate(
            [tarfile.SYMTYPE] * 5 + [tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE]
        ):
            info = tarfile.TarInfo(f"special{number}")
            info.type = kind
            info.linkname = "/etc/passwd"
            archive.addfile(info)
        folder = tarfile.TarInfo("folder")
        folder.type = tarfile.DIRTYPE
        archive.addfile(folder)
        info = tarfile.TarInfo("folder/rank_0")
        info.size = 3
        archive.addfile(info, io.BytesIO(b"abc"))
    opened = Opened("a.tar", buffer.getvalue())
    assert opened.contents == {"a.tar!/folder/rank_0": b"abc"}
    assert opened.what == [
        "a.tar!/special0: a link; skipped",
        "a.tar!/special1: a link; skipped",
        "a.tar!/special2: a link; skipped",
        "a.tar!/special6: a device; skipped",
        "a.tar!/special7: a FIFO; skipped",
        "a.tar: 3 more members like these (link)",
    ]


def test_a_link_in_a_zip_is_skipped() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        link = zipfile.ZipInfo("link")
        link.create_system = 3
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
    opened = Opened("a.zip", buffer.getvalue())
    assert (opened.contents, opened.what) == ({}, ["a.zip!/link: a link; skipped"])


def test_a_name_twice_is_two_files() -> None:
    with pytest.warns(UserWarning, match="Duplicate name"):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            archive.writestr("rank_0", b"old")
            archive.writestr("rank_0", b"new")
    opened = Opened("a.zip", buffer.getvalue())
    assert opened.contents == {"a.zip!/rank_0": b"old", "a.zip!/rank_0#2": b"new"}
    assert opened.what == ["a.zip!/rank_0#2: the archive has this name 2 times; each is read"]


def test_litter_in_archives_is_skipped_silently() -> None:
    members = {"__MACOSX/._rank_0": b"x", "d/._rank_0": b"x", "d/.DS_Store": b"x", "d/rank_0": b"good"}
    for opened in (Opened("a.zip", zipped(members)), Opened("a.tar", tar(members))):
        assert list(opened.contents.values()) == [b"good"]
        assert opened.what == []


def test_encrypted_members_are_noted() -> None:
    data = bytearray(zipped({"secret": DUMP, "rank_0": b"good"}))
    for signature, flags in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        data[data.index(signature) + flags] |= 1
    opened = Opened("a.zip", bytes(data))
    assert opened.contents == {"a.zip!/rank_0": b"good"}
    assert opened.what == ["a.zip!/secret: an encrypted file; skipped"]


def test_a_damaged_member_keeps_what_came_and_the_rest_counts() -> None:
    data = bytearray(zipped({"rank_0": DUMP, "rank_1": b"good"}, zipfile.ZIP_STORED))
    data[data.index(b"all_reduce")] ^= 1
    opened = Opened("a.zip", bytes(data))
    assert opened.contents["a.zip!/rank_1"] == b"good"
    assert opened.what == [
        f"a.zip!/rank_0: is damaged (its checksum differs); the first {len(DUMP):,} bytes were kept"
    ]


@pytest.mark.parametrize("suffix", PACK)
def test_a_cut_stream_keeps_its_beginning(suffix: str) -> None:
    dumps = random.Random(7).randbytes(300_000).hex().encode()
    packed = PACK[suffix](dumps)
    opened = Opened(f"rank_0.{suffix}", packed[: len(packed) * 3 // 4])
    ((_, content),) = opened.contents.items()
    assert dumps.startswith(content)
    assert suffix == "bz2" or len(content) > 100_000  # bzip2 has blocks of 900 kB
    assert len(opened.what) == 1
    assert "is cut off" in opened.what[0]


@pytest.mark.parametrize("suffix", ["tar", *(f"tar.{suffix}" for suffix in PACK if suffix != "bz2")])
def test_a_cut_tar_keeps_the_members_before_the_cut(suffix: str) -> None:
    data = tar({"rank_0": b"whole", "rank_1": DUMP})
    data = data[: len(data) // 2]
    data = PACK[suffix[4:]](data) if suffix != "tar" else data
    opened = Opened(f"a.{suffix}", data)
    assert opened.contents[f"a.{suffix}!/rank_0"] == b"whole"
    assert DUMP.startswith(opened.contents[f"a.{suffix}!/rank_1"])
    assert opened.contents[f"a.{suffix}!/rank_1"]
    assert len(opened.what) == 1
    assert "the archive is cut off in the middle of it; the first" in opened.what[0]


def test_a_cut_zip_keeps_the_members_before_the_cut() -> None:
    data = zipped({"rank_0": b"whole", "rank_1": DUMP})
    opened = Opened("a.zip", data[: data.index(b"PK\1\2") - 1000])
    assert opened.contents["a.zip!/rank_0"] == b"whole"
    assert DUMP.startswith(opened.contents["a.zip!/rank_1"])
    assert len(opened.contents["a.zip!/rank_1"]) > 1000
    assert opened.what[0].startswith("a.zip: has no directory")
    assert opened.what[1].startswith("a.zip!/rank_1: is cut off; the first")


def test_several_streams_and_padding_and_garbage_after_the_end() -> None:
    assert Opened("a.gz", gzip.compress(b"one ") + gzip.compress(b"two") + b"\0" * 500).contents == {
        "a.gz": b"one two"
    }
    opened = Opened("a.gz", gzip.compress(b"one") + b"garbage")
    assert opened.contents == {"a.gz": b"one"}
    assert "is damaged" in opened.what[0]
    assert Opened("a.tar", tar({"x": b"1"}) + tar({"y": b"2"})).contents == {
        "a.tar!/x": b"1",
        "a.tar!/y": b"2",
    }


def test_a_gzip_bomb_is_one_line_and_the_rest_counts() -> None:
    little = Limits(expansion_slack=2 * MIB)
    zeros = bytes(40 * MIB)
    opened = Opened("bomb.gz", gzip.compress(zeros), little)
    assert opened.contents == {}
    assert opened.what == ["bomb.gz: expands to more than 400 times its size, as bombs do; not read"]
    # Beside good members of a zip, it costs only itself.
    both = Opened("a.zip", zipped({"bomb": zeros, "rank_0": b"good"}), little)
    assert both.contents == {"a.zip!/rank_0": b"good"}
    assert len(both.what) == 1
    assert "a.zip!/bomb: expands to more than" in both.what[0]


def test_a_bomb_in_layers_is_stopped_by_what_it_costs_in_all() -> None:
    layer = zipped({f"{n}.zip": zipped({"zeros": bytes(2 * MIB)}) for n in range(24)})
    opened = Opened("a.zip", layer, Limits(expansion_ratio=10, expansion_slack=4 * MIB))
    assert len(opened.contents) == 8  # 16 MiB of slack
    assert opened.what == [
        "a.zip: expands to more than 10 times its size, as bombs do; the rest of it was not read"
    ]


def test_overlapping_members_are_stopped() -> None:
    """The densest bombs let many names share one compressed body."""
    once = zipped({"a": bytes(16 * MIB)})
    directory = once.index(b"PK\1\2")
    end = once.index(b"PK\5\6")
    many = once[directory:end] * 500
    last = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 500, 500, len(many), directory, 0)
    opened = Opened("a.zip", once[:directory] + many + last)
    assert len(opened.contents) < 12
    assert sum("expands to more than 400 times its size" in what for what in opened.what) == 1
    assert len(opened.what) <= 5


def test_the_bound_of_all_archives_together_is_one_line(tmp_path: Path) -> None:
    spool = tmp_path / "spool"
    spool.mkdir()
    given = tmp_path / "given"
    given.mkdir()
    for number in range(10):
        (given / f"{number}.gz").write_bytes(gzip.compress(bytes(MIB)))
    (given / "plain").write_bytes(b"kept")
    blobs, notes = walk([given], spool, Limits(expanded_bytes=3 * MIB + 1))
    assert [Path(blob.source).name for blob in blobs] == ["0.gz", "1.gz", "2.gz", "plain"]
    assert [(Path(note.file).name, note.what) for note in notes] == [
        ("3.gz", "archives expand to more than 3 MiB in all; not opened, and 6 more archives")
    ]


def test_a_disk_that_would_fill_up_is_left_alone() -> None:
    opened = Opened("a.gz", gzip.compress(DUMP), Limits(free_bytes=1 << 60))
    assert opened.contents == {}
    assert "left on the disk of the spool; not opened" in opened.what[0]


def test_forged_headers_do_not_take_memory() -> None:
    header = bytearray(tar({"x": b""})[:512])
    forged = {
        "huge name": _forge(header, b"L", 1 << 40),
        "huge attributes": _forge(header, b"x", 1 << 40),
        "huge member": _forge(header, b"0", 1 << 62),
        "xz dictionary": lzma.compress(
            b"x", lzma.FORMAT_XZ, filters=[{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 29, "preset": 0}]
        ),
        "zstd window": b"\x28\xb5\x2f\xfd\x00\xa8" + bytes(50),
    }
    for name, data in forged.items():
        tracemalloc.start()
        try:
            opened = Opened("a.bin2", data)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert peak < 8 * MIB, name
        assert opened.what, name


def _forge(header: bytearray, flag: bytes, size: int) -> bytes:
    forged = bytearray(header)
    forged[156:157] = flag
    forged[124:136] = b"\x80" + size.to_bytes(11, "big")
    forged[148:156] = b" " * 8
    forged[148:156] = b"%06o\0 " % sum(forged)
    return bytes(forged) + b"0" * 4096


def test_a_zstd_bomb_stays_within_its_memory() -> None:
    bomb = PACK["zst"](bytes(700 * MIB))
    tracemalloc.start()
    try:
        opened = Opened("a.zst", bomb)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert "expands to more than" in opened.what[0]
    assert peak < 48 * MIB


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="the standard library reads zstd")
def test_zstd_without_the_package_is_one_clear_line(monkeypatch: pytest.MonkeyPatch) -> None:
    data = PACK["zst"](DUMP)
    monkeypatch.setitem(sys.modules, "zstandard", None)
    opened = Opened("rank_0.zst", data)
    assert opened.contents == {}
    assert opened.what == [
        "rank_0.zst: compressed with zstd, which needs the 'zstandard' package: "
        "pip install 'rankandfile[zstd]'; not read"
    ]


@pytest.mark.parametrize("magic", [b"7z\xbc\xaf\x27\x1c", b"Rar!\x1a\x07\x01\x00", b"\x04\x22\x4d\x18"])
def test_archives_that_are_not_read_are_said_so(magic: bytes) -> None:
    opened = Opened("a.x", magic + bytes(100))
    assert opened.contents == {}
    assert "which is not read; unpack it first" in opened.what[0]


_SEEDS = [
    tar({"rank_0": DUMP[:700], "d/rank_1": b"x" * 513, "é" * 90: b"long"}),
    zipped({"rank_0": DUMP[:700], "d/rank_1": b"abc"}),
    zipped({"rank_0": DUMP[:700], "d/rank_1": b"abc"}, zipfile.ZIP_STORED),
    gzip.compress(tar({"rank_0": DUMP[:700]}), mtime=0),
    *(pack(DUMP[:3000]) for pack in PACK.values()),
    zipped({"a.tar": tar({"x.gz": gzip.compress(b"x", mtime=0)})}),
]


@settings(max_examples=examples(300), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.sampled_from(_SEEDS),
    st.lists(st.tuples(st.integers(0, 1 << 16), st.integers(0, 255)), max_size=12),
    st.integers(0, 1 << 16),
)
def test_mutated_archives_never_raise(seed: bytes, changes: list[tuple[int, int]], cut: int) -> None:
    data = bytearray(seed)
    for place, value in changes:
        data[place % len(data)] = value
    keep = len(data) if cut % 2 else cut % len(data)
    small = Limits(expansion_slack=MIB, member_bytes=MIB)
    opened = Opened("a", bytes(data[:keep]), small)
    assert sum(map(len, opened.contents.values())) <= MIB + 400 * keep
    assert all(isinstance(note, Note) and "\n" not in str(note) for note in opened.notes)


@settings(max_examples=examples(200), deadline=None)
@given(
    st.sampled_from(
        [b"\x1f\x8b\x08", b"PK\3\4", b"PK\5\6", b"BZh91AY&SY", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd"]
    ),
    st.binary(),
)
def test_random_bytes_after_a_magic_never_raise(magic: bytes, rest: bytes) -> None:
    Opened("a", magic + rest)


def test_an_archive_alone_ends_at_its_end_mark() -> None:
    """Whoever sends it may wait there for an answer: reading on would wait for ever."""
    data = io.BytesIO(tar({"a": b"x", "b": b"y"}, tarfile.USTAR_FORMAT))
    archive = Tar(data.read, alone=True)
    assert [member.name for member in archive] == ["a", "b"]
    # Two headers, a block of each, and the two blocks of the mark.
    assert archive.broken is None and data.tell() == 6 * 512
