"""Guards: make ranks agree before they part, and fail at once, with names, where they went different ways.

Every guard works on any backend and device, with or without a process group: where there is nobody to agree with, a
guard does nothing. Guards talk through the job's store, never through its process groups. `RAF_GUARDS=0` removes
them: each then does what its documentation says under "Off". See docs/guards.md.
"""

from __future__ import annotations

from rankandfile.runtime.guards.announce import about_to_call
from rankandfile.runtime.guards.batches import uneven
from rankandfile.runtime.guards.decisions import agree, same, share, step
from rankandfile.runtime.guards.errors import (
    Disagreement,
    GuardError,
    GuardTimeout,
    Parted,
    PeerFailed,
    StoreLost,
)
from rankandfile.runtime.guards.together import collective_finally, solo

__all__ = [
    "Disagreement",
    "GuardError",
    "GuardTimeout",
    "Parted",
    "PeerFailed",
    "StoreLost",
    "about_to_call",
    "agree",
    "collective_finally",
    "same",
    "share",
    "solo",
    "step",
    "uneven",
]
