"""The table that torch's analyser prints of many ranks' dumps."""

from __future__ import annotations

import re
from pathlib import Path

from rankandfile.evidence.files.decoded import Decoded
from rankandfile.evidence.files.kind import FileKind, Head, Sign
from rankandfile.evidence.flight import as_table, header

_TABLE = re.compile(r"^=== (TorchComms )?FR Trace|^--- (Groups|Memberships) ---$", re.MULTILINE)
_NAME = re.compile(r"(torchcomms_)?fr_trace_[0-9_]+\.txt")


def decode(path: Path, _name: str) -> Decoded:
    ranked, notes = as_table.decode(path.read_text(encoding="utf-8", errors="replace"))
    dumps, more = header.decode_all(ranked, "table")
    return Decoded(dumps=dumps, notes=[*notes, *more])


def _is_table(head: Head) -> bool:
    text = head.words or ""
    return ("=== " in text or "--- " in text) and _TABLE.search(text) is not None


def _by_name(head: Head) -> bool:
    """The report of failed workers at the top can be longer than the head."""
    return head.words is not None and _NAME.match(head.name) is not None


KIND = FileKind(
    "flight_table",
    (Sign(210, _is_table), Sign(300, _by_name)),
    decode,
    is_dump=True,
)
