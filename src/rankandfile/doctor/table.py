"""The variables that decide what can be diagnosed: their spellings, releases and defaults.

Source of a row: B = found in released binaries and headers of torch 1.13 to 2.13 (releases between the examined ones
are interpolated), S = source read, R = seen in a run of torch 2.13. Where nothing says since when a name is read,
`since` is None.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from rankandfile import recorder_names

Release = tuple[int, int]
Kind = Literal["flag", "number", "text"]

FIRST: Release = (1, 12)
LAST: Release = (2, 13)
"""What the table covers. Later releases are taken to be like the last one, and that is said."""

_RELEASE = re.compile(r"v?(\d{1,3})\.(\d{1,4})")


def parse(text: str) -> Release | None:
    """The release in ``2.4``, ``2.4.1+cu121`` or ``v2.4``."""
    found = _RELEASE.match(text.strip())
    return (int(found[1]), int(found[2])) if found else None


def shown(release: Release) -> str:
    return f"{release[0]}.{release[1]}"


class Spelling(NamedTuple):
    name: str
    since: Release | None
    advised_from: Release | None = None
    """First release for which this spelling is the one to recommend; as soon as it is read, if None."""


class Variable(NamedTuple):
    spellings: tuple[Spelling, ...]
    """The first wins where several are set."""
    kind: Kind
    defaults: tuple[tuple[Release, str], ...]
    """From this release on; before the first, there is no such feature."""
    source: str

    @property
    def name(self) -> str:
        return self.spellings[0].name

    @property
    def since(self) -> str:
        """From which release on it has the default that it has today, in words."""
        return f"torch {shown(self.defaults[-1][0])}"

    def default(self, release: Release | None) -> str | None:
        """None: nothing tells, because the release does not or the default changed over the releases."""
        values = [value for since, value in self.defaults if release is None or since <= release]
        if not values or (release is None and len(values) > 1):
            return None
        return values[-1]


def _one(
    name: str, since: Release | None, kind: Kind, *defaults: tuple[Release, str], source: str
) -> Variable:
    return Variable((Spelling(name, since),), kind, defaults, source)


def _renamed(name: str, kind: Kind, *defaults: tuple[Release, str], source: str) -> Variable:
    """``NCCL_X`` up to 2.1, ``TORCH_NCCL_X`` since; the old name stays as an alias."""
    old = Spelling(name.removeprefix("TORCH_"), (1, 12))
    return Variable((Spelling(name, (2, 2)), old), kind, defaults, source)


RING = Variable(
    (
        Spelling(recorder_names.RING, recorder_names.RING_SINCE, recorder_names.RING_MAKES_PIPE),
        Spelling(recorder_names.OLD_RING, recorder_names.OLD_RING_SINCE),
    ),
    "number",
    ((recorder_names.OLD_RING_SINCE, "0"), (recorder_names.KEEPS_BY_ITSELF, recorder_names.ENTRIES)),
    "B",
)
DUMP = _one("TORCH_NCCL_DUMP_ON_TIMEOUT", (2, 2), "flag", ((2, 2), "0"), ((2, 7), "1"), source="B")
PATH = Variable(
    (
        Spelling(recorder_names.DUMP_FILE, recorder_names.DUMP_FILE_SINCE),
        Spelling(recorder_names.OLD_DUMP_FILE, recorder_names.OLD_DUMP_FILE_SINCE),
    ),
    "text",
    (
        ((2, 2), "/tmp/nccl_trace_rank_"),
        ((2, 7), "$HOME/.cache/torch/nccl_trace_rank_"),
        ((2, 9), "$HOME/.cache/torch/comm_lib_trace_rank_"),
    ),
    "B; the name after 2.8 read in the source of 2.13",
)
PIPE = _one("TORCH_NCCL_DEBUG_INFO_PIPE_FILE", None, "text", ((2, 2), ""), source="B")
CPP_STACK = Variable(
    (Spelling("TORCH_FR_CPP_STACK", None, (2, 13)), Spelling("TORCH_NCCL_TRACE_CPP_STACK", (2, 2))),
    "flag",
    (((2, 2), "0"),),
    "B R",
)
WITH_STACKS = _one("TORCH_INCLUDE_STACK_TRACE", (2, 10), "flag", ((2, 10), "1"), source="B")
ONLY_ACTIVE = _one("TORCH_INCLUDE_ONLY_ACTIVE", (2, 10), "flag", ((2, 10), "0"), source="B")
DUMP_WAIT = _one(
    "TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC", (2, 3), "number", ((2, 3), "60000"), ((2, 8), "15000"), source="B"
)
TIMING = _one("TORCH_NCCL_ENABLE_TIMING", (2, 2), "flag", ((2, 2), "0"), source="B")
DESYNC = _renamed("TORCH_NCCL_DESYNC_DEBUG", "flag", ((1, 12), "0"), source="B S")
MONITORING = _one("TORCH_NCCL_ENABLE_MONITORING", (2, 2), "flag", ((2, 2), "0"), ((2, 3), "1"), source="B S")
HEARTBEAT = _one(
    "TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC",
    (2, 2),
    "number",
    ((2, 2), "120"),
    ((2, 3), "600"),
    ((2, 5), "480"),
    source="B",
)
PROPAGATE = _one("TORCH_NCCL_PROPAGATE_ERROR", (2, 7), "flag", ((2, 7), "0"), source="B")
ERROR_HANDLING = _renamed("TORCH_NCCL_ASYNC_ERROR_HANDLING", "number", ((2, 2), "3"), source="B")
BLOCKING_WAIT = _renamed("TORCH_NCCL_BLOCKING_WAIT", "flag", ((1, 12), "0"), source="B S")

VARIABLES = (
    RING,
    DUMP,
    PATH,
    PIPE,
    CPP_STACK,
    WITH_STACKS,
    ONLY_ACTIVE,
    DUMP_WAIT,
    TIMING,
    DESYNC,
    MONITORING,
    HEARTBEAT,
    PROPAGATE,
    ERROR_HANDLING,
    BLOCKING_WAIT,
)

#: Names that exist and that no check asks about, so that none of them is taken for a slip of the pen.
OTHERS = frozenset(
    {
        "TORCH_FR_DUMP_DYNAMIC_FILE_NAME",
        "TORCH_NCCL_AVOID_RECORD_STREAMS",
        "TORCH_NCCL_BCAST_UNIQUEID",
        "TORCH_NCCL_COORD_CHECK_MILSEC",
        "TORCH_NCCL_CUDA_EVENT_CACHE",
        "TORCH_NCCL_EXTRA_DUMP_ON_EXEC",
        "TORCH_NCCL_HIGH_PRIORITY",
        "TORCH_NCCL_LOG_CPP_STACK_ON_UNCLEAN_SHUTDOWN",
        "TORCH_NCCL_NAN_CHECK",
        "TORCH_NCCL_RANKS_PER_ROOT",
        "TORCH_NCCL_RETHROW_CUDA_ERRORS",
        "TORCH_NCCL_SHOW_EAGER_INIT_P2P_SERIALIZATION_WARNING",
        "TORCH_NCCL_USE_COMM_NONBLOCKING",
        "TORCH_NCCL_USE_TENSOR_REGISTER_ALLOCATOR_HOOK",
    }
)

SPELLINGS = {spelling.name: (variable, spelling) for variable in VARIABLES for spelling in variable.spellings}
