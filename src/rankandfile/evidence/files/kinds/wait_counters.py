"""Torch's wait counters: how long threads have waited in sum, which says nothing of a hang."""

from __future__ import annotations

import re

from rankandfile.evidence.files.kind import FileKind, Head, Sign

_COUNTERS = re.compile(r"^=== Rank [0-9]+: .*wait_counter|^\s*\"pytorch\.wait_counter", re.MULTILINE)


def _has_keys(head: Head) -> bool:
    return any(key.startswith("pytorch.wait_counter") for keys in head.keys for key in keys)


def _has_lines(head: Head) -> bool:
    text = head.words or ""
    return "wait_counter" in text and _COUNTERS.search(text) is not None


KIND = FileKind(
    "wait_counters",
    (Sign(140, _has_keys), Sign(220, _has_lines)),
)
