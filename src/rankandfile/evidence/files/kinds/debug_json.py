"""Dumps of many ranks in one JSON document, as torch's debug server gathers them."""

from __future__ import annotations

from rankandfile.evidence.files.kind import FileKind, Sign
from rankandfile.evidence.flight.as_json import KEYS, decode

KIND = FileKind("debug_json", (Sign(130, lambda head: bool(head.keys[1] & KEYS)),), decode, is_dump=True)
