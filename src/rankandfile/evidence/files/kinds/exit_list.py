"""A list of processes with how each ended, as the lab and `raf run` write it: ``exits.json``."""

from __future__ import annotations

from rankandfile.evidence.exits.documents import decode
from rankandfile.evidence.files.kind import FileKind, Head, Sign


def recognise(head: Head) -> bool:
    inner = head.keys[1]
    return "pid" in inner and bool(inner & {"exitcode", "exit_code"} or {"rank", "state"} <= inner)


KIND = FileKind("exit_list", (Sign(170, recognise),), decode)
