"""What the variables in a stack tell of its process: its rank, by a name that programs give to it.

A variable of that name can also count the ranks, or be somebody else's. So one process must tell one number only, and
the processes of a job different ones; who compares them sees to that (`ownership`).
"""

from __future__ import annotations

import re

from rankandfile.evidence.raw import Frame
from rankandfile.evidence.tables.frames import is_torch_frame

_NAMES = frozenset(
    (
        "rank", "RANK", "global_rank", "world_rank", "rank_global", "rank_id", "my_rank", "myrank", "mpi_rank", "irank",
        "ddp_rank", "dist_rank", "process_index", "proc_rank", "proc_id", "task_index",
    )
)  # fmt: skip
_VALUE = re.compile(r"\d{1,6}")
#: One that is torch's, or the interpreter's, may speak of any rank.
_OTHERS = re.compile(
    r"(?:^|[/\\])(?:torch|multiprocessing|concurrent|threading|queue|subprocess)(?:[/\\.]|$)"
)


def own_rank(frame: Frame, name: str, value: str) -> int | None:
    """The rank that this variable of this frame is likely to tell."""
    if name not in _NAMES or not _VALUE.fullmatch(value.strip()):
        return None
    return None if is_torch_frame(frame.file) or _OTHERS.search(frame.file) else int(value)


#: Of whose argument a line tells the root, and how torch calls that: who gives, or who gets.
_ROOTED = re.compile(
    r"\.(?P<op>I?[bB]cast|I?[sS]catterv?|I?[rR]educe|I?[gG]atherv?|broadcast(?:_object_list)?|scatter|gather)\("
    r"(?P<given>[^\n]*)"
)
_ROOT = re.compile(r"\b(?:root|src|dst)\s*=\s*(\w+)")


def root_in_line(code: str, variables: dict[str, str]) -> str | None:
    """`Bcast: src=3`, where the source line of a call names its root and a variable of that name has the number."""
    call = _ROOTED.search(code)
    named = _ROOT.search(call["given"]) if call else None
    if call is None or named is None:
        return None
    value = named[1] if named[1].isdecimal() else variables.get(named[1], "").strip()
    if not _VALUE.fullmatch(value):
        return None
    gives = re.fullmatch(r"I?(?:[bB]cast|[sS]catterv?)|broadcast\w*|scatter", call["op"])
    return f"{call['op']}: {'src' if gives else 'dst'}={value}"
