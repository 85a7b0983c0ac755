"""What a file is, from its first bytes; its name decides only where they do not."""

from __future__ import annotations

import re
from typing import Literal

from rankandfile.evidence.exits.leftover_kinds import is_core, is_core_pattern, is_memory_counters
from rankandfile.evidence.files.json_outline import outline
from rankandfile.evidence.files.tar import is_header
from rankandfile.wire.layout import MAGIC

HEAD = 4096
"""How many first bytes `kind` likes to see. It makes do with less."""

Container = Literal["gzip", "bzip2", "xz", "zstd", "tar", "zip", "7z", "rar", "lz4"]
Kind = Literal[
    "gzip",
    "bzip2",
    "xz",
    "zstd",
    "tar",
    "zip",
    "7z",
    "rar",
    "lz4",
    "ring",
    "flight_pickle",
    "flight_json",
    "debug_json",
    "debug_html",
    "flight_table",
    "stacks",
    "wait_counters",
    "elastic_error",
    "exit_list",
    "memory_counters",
    "core",
    "core_pattern",
    "log",
    "case",
    "empty",
    "unknown",
]

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

_PICKLED_DICT = re.compile(rb"\x80[\2-\5](\x95.{8})?(\}|$)", re.DOTALL)
_PICKLE_NAME = re.compile(r"(\.(pkl|pickle)|(trace|dump|rank)[^./]*[0-9])$", re.IGNORECASE)

_FLIGHT_KEYS = {"entries", "pg_config", "pg_status", "comm_lib_version", "nccl_version", "nccl_comm_state"}
_STACK_KEYS = {"thread_id", "frames"}

_TABLE = re.compile(r"^=== (TorchComms )?FR Trace|^--- (Groups|Memberships) ---$", re.MULTILINE)
_STACKS = re.compile(
    r"^(Current thread|Thread) 0x[0-9a-f]+.*most recent call first|^Fatal Python error|^Thread [0-9]+ \("
    r"|^Process [0-9]+: |^Thread [0-9]+ \((idle|active)|^Traceback for thread"
    r"|^=== Rank [0-9]+: .*(pyspy|traceback)",
    re.MULTILINE,
)
_COUNTERS = re.compile(r"^=== Rank [0-9]+: .*wait_counter|^\s*\"pytorch\.wait_counter", re.MULTILINE)
_HTML = re.compile(r"^\s*<(!doctype html|html)", re.IGNORECASE)


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


def kind(head: bytes, name: str) -> Kind:
    """The kind of a file, from its first `HEAD` bytes (all of it, if it is smaller) and its name."""
    if not head:
        return "empty"
    if packed := container(head, name):
        return packed
    if head.startswith(MAGIC):
        return "ring"
    if head.startswith(b"PAR1"):
        return "case"
    if is_core(head):
        return "core"
    if is_memory_counters(head):
        return "memory_counters"
    if is_core_pattern(head, name):
        return "core_pattern"
    if _PICKLED_DICT.match(head):
        return "flight_pickle"
    if b"\0" not in head:
        text = head.decode("utf-8", "replace").removeprefix("\ufeff")
        if text.count("\ufffd") <= len(text) // 8 + 1:
            return _text_kind(text, name.rpartition("/")[2])
    return "flight_pickle" if _PICKLE_NAME.search(name) else "unknown"


def _text_kind(text: str, name: str) -> Kind:
    if text.lstrip()[:1] in ("{", "["):
        return _json_kind(text, name)
    if _HTML.match(text):
        return (
            "debug_html"
            if "Torch Distributed Debug Server" in text or "PyTorch Distributed" in text
            else "unknown"
        )
    if _TABLE.search(text):
        return "flight_table"
    if _COUNTERS.search(text):
        return "wait_counters"
    if _STACKS.search(text):
        return "stacks"
    # The report of failed workers at the top can be longer than the head.
    if re.match(r"(torchcomms_)?fr_trace_[0-9_]+\.txt", name):
        return "flight_table"
    if re.match(r"(stacks|pyspy_dump)_[0-9_]+\.txt", name):
        return "stacks"
    return "log" if text.strip() else "unknown"


def _json_kind(text: str, name: str) -> Kind:
    top, inner = outline(text)
    if "schema" in top and '"rankandfile.case/' in text:
        return "case"
    if "communicators" in top:
        return "log"  # what NCCL's RAS service answered: events, like those of a log
    if top & _FLIGHT_KEYS:
        return "flight_json"
    if inner & _FLIGHT_KEYS:
        return "debug_json"
    if any(key.startswith("pytorch.wait_counter") for key in top | inner):
        return "wait_counters"
    if inner >= _STACK_KEYS:
        return "stacks"
    if "message" in top and {"message", "extraInfo"} <= inner:
        return "elastic_error"
    if "pid" in inner and (inner & {"exitcode", "exit_code"} or {"rank", "state"} <= inner):
        return "exit_list"
    if "\n{" in text.strip() or text.startswith("["):
        return "log"
    # An empty ring, or a dump whose keys a later recorder renamed.
    return (
        "flight_json"
        if "version" in top or re.search(r"trace|dump|rank|fr_", name, re.IGNORECASE)
        else "unknown"
    )
