"""What a file is, from its first bytes; its name decides only where they do not."""

from __future__ import annotations

import re
from functools import cache
from typing import Literal

from rankandfile import listing
from rankandfile.evidence.files.kind import HEAD, FileKind, Head, Sign
from rankandfile.evidence.files.tar import is_header

__all__ = ["COMPRESSED", "HEAD", "UNREADABLE", "container", "kind", "recognise", "signs"]

Container = Literal["gzip", "bzip2", "xz", "zstd", "tar", "zip", "7z", "rar", "lz4"]

COMPRESSED = ("gzip", "bzip2", "xz", "zstd")
UNREADABLE = ("7z", "rar", "lz4")

_MAGIC: tuple[tuple[bytes, Container], ...] = (
    (b"\x1f\x8b\x08", "gzip"),
    (b"\xfd7zXZ\0", "xz"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"PK\3\4", "zip"),
    (b"PK\5\6", "zip"),
    (b"7z\xbc\xaf\x27\x1c", "7z"),
    (b"Rar!\x1a\x07", "rar"),
    (b"\x04\x22\x4d\x18", "lz4"),
)
_BZIP2 = re.compile(rb"BZh[1-9](1AY&SY|\x17rE8P\x90)")

OPAQUE = (
    ".pt",
    ".pth",
    ".ckpt",
    ".bin",
    ".npz",
    ".safetensors",
    ".whl",
    ".jar",
    ".egg",
    ".distcp",
    ".parquet",
)
"""Files that are no evidence however they are packed: a checkpoint is a zip of gigabytes."""


def container(head: bytes, name: str) -> Container | None:
    """The kind of archive or compression, or None. 512 bytes are enough, and needed for tar."""
    if name.lower().endswith(OPAQUE):
        return None
    for magic, kind in _MAGIC:
        if head.startswith(magic):
            return kind
    if _BZIP2.match(head):
        return "bzip2"
    if head[257:262] == b"ustar" or (name.lower().endswith(".tar") and is_header(head)):
        return "tar"
    return None


def kind(head: bytes, name: str) -> str:
    """The name of a file's kind, from its first `HEAD` bytes (all of it, if it is smaller) and its name."""
    return recognise(head, name).name


def recognise(head: bytes, name: str) -> FileKind:
    """The kind of a file: the one whose sign holds first. A container within a container is none that is read."""
    if head and (packed := container(head, name)):
        return FileKind(packed, ())
    given = Head(head, name)
    return next((kind for sign, kind in signs() if sign.holds(given)), FileKind("unknown", ()))


@cache
def signs() -> list[tuple[Sign, FileKind]]:
    """The signs of all kinds, in the order in which they are asked."""
    kinds = listing.members(f"{__package__}.kinds", "KIND", FileKind)
    return sorted(((sign, kind) for kind in kinds for sign in kind.signs), key=lambda pair: pair[0].place)
