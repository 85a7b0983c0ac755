"""The recorder's ring by its names: what it is called in which release of torch, for everyone who says it."""

from __future__ import annotations

RING, OLD_RING = "TORCH_FR_BUFFER_SIZE", "TORCH_NCCL_TRACE_BUFFER_SIZE"
#: The first release that knows the name.
RING_SINCE, OLD_RING_SINCE = (2, 8), (2, 2)
#: Up to the release before, the pipe is made only where the ring was asked for by its old name.
RING_MAKES_PIPE = (2, 10)

BEFORE = f"{OLD_RING} before torch {RING_SINCE[0]}.{RING_SINCE[1]}"
