"""The error file of one worker of torchelastic: ``error.json``."""

from __future__ import annotations

from rankandfile.evidence.exits.documents import decode
from rankandfile.evidence.files.kind import FileKind, Head, Sign


def recognise(head: Head) -> bool:
    top, inner = head.keys
    return "message" in top and {"message", "extraInfo"} <= inner


KIND = FileKind("elastic_error", (Sign(160, recognise),), decode)
