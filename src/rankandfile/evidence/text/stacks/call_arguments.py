"""What a function of torch.distributed was asked for: its peer, its root, its splits, its tag.

Of all variables that a snapshot may show, these say what no recorder of gloo keeps. Only arguments of torch's own
functions count, only these names, and only whole numbers or short lists of them: nothing private fits in.
"""

from __future__ import annotations

import re

from rankandfile.evidence.raw import Frame

_FILE = re.compile(r"(?:^|[/\\])torch[/\\]distributed[/\\]distributed_c10d\.py$")
_NAMES = frozenset(
    {"src", "dst", "group_src", "group_dst", "tag", "input_split_sizes", "output_split_sizes", "ranks"}
)
_VALUE = re.compile(r"\d{1,9}|\[\d{1,9}(?:, \d{1,9}){0,63}\]")


def asked(frame: Frame, name: str, value: str) -> str | None:
    """`src=1`, if this variable of this frame is worth keeping."""
    if name not in _NAMES or not _FILE.search(frame.file) or not _VALUE.fullmatch(value):
        return None
    return f"{frame.function}: {name}={value.replace(' ', '')}"
