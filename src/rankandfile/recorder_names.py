"""What the recorder of torch is told by, in which release: the one table of these names, for all who say or set one."""

from __future__ import annotations

RING, OLD_RING = "TORCH_FR_BUFFER_SIZE", "TORCH_NCCL_TRACE_BUFFER_SIZE"
#: The first release that knows the name.
RING_SINCE, OLD_RING_SINCE = (2, 8), (2, 2)
#: Up to the release before, the pipe is made only where the ring was asked for by its old name.
RING_MAKES_PIPE = (2, 10)
#: From here on the ring is kept without being asked for, with so many calls.
KEEPS_BY_ITSELF, ENTRIES = (2, 11), "2000"

DUMP_FILE, OLD_DUMP_FILE = "TORCH_FR_DUMP_TEMP_FILE", "TORCH_NCCL_DEBUG_INFO_TEMP_FILE"
DUMP_FILE_SINCE, OLD_DUMP_FILE_SINCE = (2, 8), (2, 2)


def _before(old: str, since: tuple[int, int]) -> str:
    return f"{old} before torch {since[0]}.{since[1]}"


BEFORE = _before(OLD_RING, RING_SINCE)
FILE_BEFORE = _before(OLD_DUMP_FILE, DUMP_FILE_SINCE)
