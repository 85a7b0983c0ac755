"""The bounds of what a stranger's file may make this process do.

Every default lies far above what real jobs leave behind (1024 ranks with megabytes each, 16k ranks with a
few hundred kilobytes each, solid archives of both) and far below what a bomb needs to hurt.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

from msgspec import Struct, field

MIB = 1 << 20
GIB = 1 << 30


@cache
def _share_of_memory() -> int:
    """Half of what this process can have; of what the machine has free now, at least a gigabyte."""
    return max(min([max(free_memory(), 2 * GIB), *_bounds()]) // 2, 64 * MIB)


def free_memory() -> int:
    with suppress(OSError, ValueError, IndexError):
        said = Path("/proc/meminfo").read_text().partition("MemAvailable:")[2]
        return int(said.split(maxsplit=1)[0]) << 10
    with suppress(OSError, ValueError, AttributeError):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return 0


def _bounds() -> Iterator[int]:
    """Above which the system kills this process, or gives it nothing."""
    with suppress(OSError, ValueError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            number, controllers, group = line.split(":", 2)
            if number == "0" or "memory" in controllers.split(","):
                base = Path("/sys/fs/cgroup", *([] if number == "0" else ["memory"]))
                below = base / group.lstrip("/")
                for folder in (below, *(above for above in below.parents if above.is_relative_to(base))):
                    for name in ("memory.max", "memory.limit_in_bytes"):
                        with suppress(OSError, ValueError):
                            yield int((folder / name).read_text())
    with suppress(ImportError, ValueError, OSError):
        import resource

        # Libraries reserve addresses that they never use.
        most = resource.getrlimit(resource.RLIMIT_AS)[0]
        if most >= 0:
            yield most // 2


class Limits(Struct, frozen=True, kw_only=True):
    """Bounds for one loading. Reaching one is a note, never an error."""

    seconds: float = 3600.0
    """How long reading may take in all; 1024 ranks take seconds."""

    files: int = 1_000_000
    """Files, folders and archive members that are looked at; 16k ranks with ten files each need 160k."""

    memory_bytes: int = field(default_factory=_share_of_memory)
    """What this process may take for what it reads: as decoders hand it over, as tables, and while they are reasoned
    about, by the weights of `tables/room.py`."""

    follow_links: bool = False
    """Whether links are followed out of the files and folders that were named: a stranger's folder may have some
    that lead anywhere on this machine."""

    file_bytes: int = 8 * GIB
    """Largest plain file that is handed on: handing on costs no memory, and decoders have smaller bounds."""

    member_bytes: int = 2 * GIB
    """Largest file that may come out of an archive; a ring is a few megabytes, a log rarely a gigabyte."""

    expanded_bytes: int = 48 * GIB
    """All that archives may expand to, together. Spooled to disk, not to memory."""

    expansion_ratio: int = 400
    """How far one compressed file may expand, beyond `expansion_slack`. Dumps and solid archives of
    many like ranks stay well below; bombs start at 1000."""

    expansion_slack: int = 32 * MIB
    """What a compressed file may always expand to, however small; an archive as a whole, four times that."""

    free_bytes: int = 512 * MIB
    """Room that stays free on the disk of the spool: a full disk hurts more than a file not read."""

    archive_depth: int = 4
    """Archives within archives, a compressed tar being one: a zip of .tar.gz of .json.gz is three."""

    window_bytes: int = 128 * MIB
    """Memory one decompressor may ask for: enough for `xz -9` and `zstd --ultra`, not for a forged header."""

    dump_bytes: int = 2 * GIB
    """Largest dump that is decoded: a ring of millions of calls, where 2000 is usual and 20,000 is much."""
