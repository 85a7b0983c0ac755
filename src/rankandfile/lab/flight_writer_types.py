"""What a Flight Recorder dump holds, as the writers want it: kinds of calls, and calls that refer to a kind.

A job issues few kinds of calls (an op at a place in the code, on a group, with sizes) and issues each of them
thousands of times. Keeping the two apart is what lets a writer assemble bytes instead of encoding objects.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

Sizes = tuple[tuple[int, ...], ...]


class Frame(NamedTuple):
    """One line of a stack, as torch records it. Two calls on one line are two frames that look alike: the
    recorder tells them apart by instruction, and writes each as a dict of its own."""

    name: str
    filename: str
    line: int
    instruction: int = 0


class Kind(NamedTuple):
    """Everything of a call that does not change from one repetition to the next."""

    pg_id: int
    group: str
    desc: str
    op: str  # the profiling name: "nccl:all_reduce"
    input_sizes: Sizes = ()
    input_dtypes: tuple[str, ...] = ()
    output_sizes: Sizes = ()
    output_dtypes: tuple[str, ...] = ()
    timeout_ms: int = 600_000
    is_p2p: bool = False
    frames: tuple[Frame, ...] = ()  # innermost first
    thread_name: str = "python3"
    thread_id: str = "139872"


class Entry(NamedTuple):
    """One call: which kind it is of, where it stands in the three counters, and how far it got."""

    kind: int
    record_id: int
    collective_seq_id: int
    p2p_seq_id: int
    op_id: int
    time_created_ns: int
    started_ns: int | None = None
    completed_ns: int | None = None
    retired: bool = False
    duration_ms: float | None = None

    @property
    def state(self) -> str:
        """torch keeps no state: it derives it from the two discovery times, and so does this."""
        if self.completed_ns is not None:
            return "completed"
        return "scheduled" if self.started_ns is None else "started"


@lru_cache(maxsize=256)
def _ranks_text(ranks: tuple[int, ...]) -> str:
    """Every rank of a large job writes the same long list of the whole world."""
    return "[" + ", ".join(map(str, ranks)) + "]"


class GroupConfig(NamedTuple):
    """One value of `pg_config`; the ranks become a string such as "[0, 1]"."""

    name: str
    desc: str
    ranks: tuple[int, ...]

    def ranks_text(self) -> str:
        return _ranks_text(self.ranks)


class GroupStatus(NamedTuple):
    """One value of `pg_status`; -1 means none yet."""

    last_enqueued: int = -1
    last_started: int = -1
    last_completed: int = -1


@dataclass(frozen=True)
class Dump:
    """One rank's recorder, ready to be written in any version."""

    kinds: Sequence[Kind] = ()
    entries: Sequence[Entry] = ()
    pg_config: Mapping[str, GroupConfig] = field(default_factory=dict)
    pg_status: Mapping[str, GroupStatus] = field(default_factory=dict)
    comm_lib_version: str = ""
    comm_state: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


class Fields(NamedTuple):
    """Which fields one format version knows."""

    groups: bool  # process_group, dtypes, is_p2p, two sequence numbers, pg_config by name
    status: bool  # timeout_ms, pg_status, the JSON form
    threads: bool  # thread_name, thread_id
    library_key: str | None  # how the communication library's version is called


VERSIONS: dict[str, Fields] = {
    "1.4": Fields(groups=False, status=False, threads=False, library_key=None),
    "2.1": Fields(groups=True, status=False, threads=False, library_key=None),
    "2.4": Fields(groups=True, status=True, threads=False, library_key=None),
    "2.9": Fields(groups=True, status=True, threads=True, library_key="nccl_version"),
    "2.10": Fields(groups=True, status=True, threads=True, library_key="comm_lib_version"),
}

STATUS_KEYS = ("last_enqueued_collective", "last_started_collective", "last_completed_collective")


def wanted(entries: Sequence[Entry], *, only_active: bool) -> Sequence[Entry]:
    """`onlyActive` drops what was seen to complete, and nothing else."""
    return [entry for entry in entries if entry.completed_ns is None] if only_active else entries
