"""`memory.events` or `memory.oom_control` of a control group.

A counter says that something in the group was killed for want of memory, perhaps only a data worker: a fact that
explains an end which is known otherwise, and no end by itself.
"""

from __future__ import annotations

import re
from pathlib import Path

from rankandfile.evidence.exits.ends import End
from rankandfile.evidence.files.decoded import Decoded
from rankandfile.evidence.files.kind import HEAD, FileKind, Head, Sign

_KILLED = re.compile(rb"^oom_kill (\d{1,12})$", re.MULTILINE)
_COUNTERS = re.compile(rb"(?:[a-z_]{2,40} \d{1,20}\r?\n?)+\s*")


def recognise(head: Head) -> bool:
    data = head.data
    return (
        len(data) < HEAD
        and b"oom_kill " in data
        and _KILLED.search(data) is not None
        and _COUNTERS.fullmatch(data) is not None
    )


def decode(path: Path, name: str) -> Decoded:
    with path.open("rb") as file:
        killed = _KILLED.findall(file.read(HEAD))
    count = int(killed[-1]) if killed else 0
    end = End(source=name, kind="cgroup", role="fact", error=f"oom_kill {count}")
    return Decoded(ends=[end] if count else [])


KIND = FileKind("memory_counters", (Sign(40, recognise),), decode)
