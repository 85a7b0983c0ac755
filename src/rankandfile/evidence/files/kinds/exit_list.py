"""A list of processes with how each ended, as the lab and `raf run` write it: ``exits.json``."""

from __future__ import annotations

from rankandfile.evidence.exits.documents import decode
from rankandfile.evidence.files.kind import FileKind, Head, Sign


def recognise(head: Head) -> bool:
    inner = head.keys[1]
    whose, how = inner & {"pid", "rank"}, inner & {"exitcode", "exit_code"}
    return bool(whose and how) or {"pid", "rank", "state"} <= inner


KIND = FileKind("exit_list", (Sign(170, recognise),), decode)
