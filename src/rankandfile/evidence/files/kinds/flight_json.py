"""A dump of torch's flight recorder as JSON."""

from __future__ import annotations

import re

from rankandfile.evidence.files.kind import FileKind, Head, Sign
from rankandfile.evidence.flight.as_json import KEYS, decode


def _by_name(head: Head) -> bool:
    """An empty ring, or a dump whose keys a later recorder renamed."""
    named = "version" in head.keys[0] or re.search(r"trace|dump|rank|fr_", head.name, re.IGNORECASE)
    return head.json is not None and bool(named)


KIND = FileKind(
    "flight_json",
    (Sign(120, lambda head: bool(head.keys[0] & KEYS)), Sign(430, _by_name)),
    decode,
    is_dump=True,
)
