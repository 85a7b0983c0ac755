"""By what is known what the system leaves of an ended process: counters of a control group, a core file, the pattern
for the names of core files. Apart from their reading, which needs tables: the process that decodes is to stay small,
and asks this of every file."""

from __future__ import annotations

import re

KILLED = re.compile(rb"^oom_kill (\d{1,12})$", re.MULTILINE)
_COUNTERS = re.compile(rb"(?:[a-z_]{2,40} \d{1,20}\r?\n?)+\s*")
MOST = 4096
"""Bytes of the beginning that are looked at."""

_CORE = (b"\x7fELF\x02\x01", b"\x04\x00")
"""Of 64 bits, little endian; type: core."""


def is_memory_counters(head: bytes) -> bool:
    """`memory.events` or `memory.oom_control` of a control group."""
    return len(head) < MOST and KILLED.search(head) is not None and _COUNTERS.fullmatch(head) is not None


#: The kernel's own limit is 128.
_LONGEST_PATTERN = 256
_PATTERN_NAME = re.compile(r"core_pattern(?:\.txt)?$")


def is_core_pattern(head: bytes, name: str) -> bool:
    """A copy of `/proc/sys/kernel/core_pattern`: nothing but its name tells one from any other line."""
    line = head.strip()
    return (
        _PATTERN_NAME.search(name) is not None
        and 0 < len(line) <= _LONGEST_PATTERN
        and b"\n" not in line
        and line.decode("utf-8", "replace").isprintable()
    )


def is_core(head: bytes) -> bool:
    return head.startswith(_CORE[0]) and head[16:18] == _CORE[1]
