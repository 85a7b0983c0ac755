"""What a fuzzer does to the opening of archives: whatever the bytes, nothing leaves the spool and bounds hold."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import shutil
import tarfile
import tempfile
import zipfile
from pathlib import Path

from rankandfile.evidence.files.limits import MIB, Limits
from rankandfile.evidence.files.walk import walk

_FOLDER = Path(tempfile.mkdtemp(dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
#: Small, so that a bomb shows in what is written and not in the time it takes.
LIMITS = Limits(
    expanded_bytes=32 * MIB,
    member_bytes=8 * MIB,
    expansion_slack=4 * MIB,
    free_bytes=0,
    files=5000,
    window_bytes=16 * MIB,
    seconds=15.0,
)
_NAMES = (
    "evidence.zip",
    "evidence.tar",
    "evidence.tgz",
    "rank_0.gz",
    "rank_0.bz2",
    "rank_0.xz",
    "rank_0.zst",
    "f",
)


def fuzz_archive(data: bytes) -> None:
    """The first byte chooses the name that the file has."""
    shutil.rmtree(_FOLDER, ignore_errors=True)
    given, spool = _FOLDER / "given", _FOLDER / "spool"
    given.mkdir(parents=True)
    spool.mkdir()
    path = given / _NAMES[data[0] % len(_NAMES) if data else 0]
    path.write_bytes(data[1:])
    blobs, notes = walk([path], spool, LIMITS)
    there = {one for one in _FOLDER.rglob("*") if one.is_file() or one.is_symlink()}
    assert there == {path} | {blob.path for blob in blobs}, "a file that nobody was told of"
    assert sum(blob.path.stat().st_size for blob in blobs) <= len(data) + LIMITS.expanded_bytes
    for blob in blobs:
        assert blob.size == blob.path.stat().st_size
        blob.source.encode()
    for note in notes:
        assert len(f"{note.file}{note.what}".encode()) < 10_000


def archive_seeds() -> list[bytes]:
    members = {
        "rank_0.json": b'{"entries": []}',
        "logs/rank_1.log": b"one\ntwo\n" * 50,
        "../out": b"x",
        "a/b/c": b"",
    }
    zipped = io.BytesIO()
    with zipfile.ZipFile(zipped, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    tarred = _tar(members, tarfile.PAX_FORMAT)
    nested = _tar({"inner.tar.gz": gzip.compress(tarred), "inner.zip": zipped.getvalue()}, tarfile.GNU_FORMAT)
    wholes = [zipped.getvalue(), tarred, gzip.compress(tarred), gzip.compress(nested), nested]
    wholes += [gzip.compress(b"text\n" * 99), bz2.compress(tarred), lzma.compress(tarred), _links()]
    return [bytes([number % len(_NAMES)]) + whole for number, whole in enumerate(wholes)]


def _tar(members: dict[str, bytes], format: int) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=format) as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def _links() -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for kind, name in ((tarfile.SYMTYPE, "soft"), (tarfile.LNKTYPE, "hard"), (tarfile.FIFOTYPE, "pipe")):
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, "/etc/passwd"
            archive.addfile(info)
    return buffer.getvalue()
