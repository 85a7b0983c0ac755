"""A copy of `/proc/sys/kernel/core_pattern`: it says where the system puts core files."""

from __future__ import annotations

import re
from pathlib import Path

from rankandfile.evidence.exits.ends import End
from rankandfile.evidence.files.decoded import Decoded
from rankandfile.evidence.files.kind import HEAD, FileKind, Head, Sign
from rankandfile.evidence.text.logs.event import clean

#: The kernel's own limit is 128.
_LONGEST = 256
_NAME = re.compile(r"core_pattern(?:\.txt)?$")


def recognise(head: Head) -> bool:
    """Nothing but its name tells one from any other line."""
    line = head.data.strip()
    return (
        _NAME.search(head.path) is not None
        and 0 < len(line) <= _LONGEST
        and b"\n" not in line
        and line.decode("utf-8", "replace").isprintable()
    )


def decode(path: Path, name: str) -> Decoded:
    with path.open("rb") as file:
        text = clean(file.read(HEAD).decode("utf-8", "replace").strip(), _LONGEST)
    return Decoded(ends=[End(source=name, kind="core_pattern", role="fact", error=text)])


KIND = FileKind("core_pattern", (Sign(50, recognise),), decode)
