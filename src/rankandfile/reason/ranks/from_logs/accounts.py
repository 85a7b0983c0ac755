"""What logs and exit lists say of each rank: how it ended, what it raised, how far its watchdog saw it come.

A line is its writer's claim. Only an origin (an exception of the program, a fault of the own device) and a positive
end of the process say something of the rank itself; whoever reports that it waited is a messenger, and says of itself
no more than that it came to the call.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from typing import Literal

import msgspec
from msgspec import Struct, field

from rankandfile.model.column import Fields, Row
from rankandfile.model.work import Work
from rankandfile.reason.ranks.activity import CodePlace

#: What a process ends itself with: its watchdog, an assertion, an exception that nobody caught.
OWN = "SIGABRT"
ABORTED = f"aborted itself ({OWN})"

#: How a process ended. echo: its launcher or its own watchdog ended it. gone: nothing tells how.
EndKind = Literal["killed", "exited", "finished", "echo", "running", "gone"]


class End(Struct, frozen=True):
    kind: EndKind
    words: str
    evidence: tuple[str, ...]
    contradicted: tuple[str, ...] = ()
    """What other sources say of the same process, where they disagree."""
    others: tuple[End, ...] = ()
    """The same, one by one."""
    how: str = ""
    """As the list of exits has it: a signal's name, `exit code N`, or `out of memory`; empty where it has none."""
    unexplained: bool = False
    """Killed by SIGKILL, and nothing that tells of its end says what for."""

    @property
    def aborted(self) -> bool:
        """By its own watchdog, an assertion, or an exception that nobody caught: nothing tells which."""
        return self.kind == "echo" and self.words == ABORTED

    @property
    def happened(self) -> str:
        """Its words, as what a sentence says of the process."""
        return f"was {self.words}" if self.kind in ("killed", "echo") and not self.aborted else self.words


class Error(Struct, frozen=True):
    """A failure of the rank's own: an exception, or a fault of its device or link."""

    words: str
    evidence: tuple[str, ...]
    thread: str | None = None
    """The thread that raised it, where it was not the main one."""
    place: CodePlace | None = None
    """The innermost frame of the program."""
    line: str = ""
    """What the line says, where the words tell besides why it is taken for this rank's; else empty."""


class Report(Struct, frozen=True):
    """What a rank's watchdog says of one group."""

    rank: int
    group: str
    desc: str
    group_rank: int | None
    seq: int | None
    """The call it gave up on; None in an answer to a dump signal."""
    op: str | None
    size_in: int | None
    size_out: int | None
    enqueued: int | None
    completed: int | None
    timeout_ms: int | None
    evidence: str
    site: CodePlace | None = None
    """Where the program issued the call, if the watchdog printed its stack."""
    way: tuple[CodePlace, ...] = ()
    """That stack, innermost frame first."""


class LostBetween(Struct, frozen=True):
    """The only two hosts between which connections were lost."""

    hosts: tuple[str, str]
    error: Error


class AtWork(Struct, frozen=True):
    """What was seen of a rank's process between two looks."""

    work: Work
    evidence: tuple[str, ...]


class Accounts(Struct, frozen=True, dict=True):
    ends: dict[int, End] = field(default_factory=dict)
    raised: dict[int, Error] = field(default_factory=dict)
    caught: frozenset[int] = frozenset()
    """Of those that raised, ranks of which the program caught every exception, as far as their logs tell."""
    in_flight: dict[int, Error] = field(default_factory=dict)
    """Exceptions that were being handled when the rank made its last call."""
    echoes: dict[int, Error] = field(default_factory=dict)
    """Exceptions by which a rank learned that others had failed."""
    lost_peers: dict[int, Error] = field(default_factory=dict)
    """Lines, other than exceptions, by which a rank learned that a peer was gone."""
    device: dict[int, Error] = field(default_factory=dict)
    link: dict[int, Error] = field(default_factory=dict)
    host_links: dict[str, Error] = field(default_factory=dict)
    """Links that went down on hosts of several ranks: whose they are, nothing tells."""
    stuck_watchdogs: dict[int, Error] = field(default_factory=dict)
    """Ranks whose watchdog thread stood still: in a call of CUDA or NCCL, or for want of the interpreter's lock."""
    unreachable: dict[int, Error] = field(default_factory=dict)
    """Ranks of hosts that a scheduler gave up, or that NCCL lost while its messages to them failed."""
    lost_between: LostBetween | None = None
    misfits: dict[int, Error] = field(default_factory=dict)
    """Ranks that were sent a message of another size than the one they expected."""
    stopped: dict[int, Error] = field(default_factory=dict)
    """Lines that tell why a host may not get on: a loader worker gone, the interpreter's lock not to be had."""
    host_stalls: dict[int, Error] = field(default_factory=dict)
    """Ranks of hosts whose kernel says that processes wait there for a file system that does not answer."""
    suspended: dict[int, Error] = field(default_factory=dict)
    """Processes that a signal has stopped, as the kernel says, where not all are: they run nothing."""
    watched: tuple[Error, ...] = ()
    """What others that watch over a job say of a wait that had lasted too long, and that nothing shows to be over."""
    waited_in_vain: dict[int, Error] = field(default_factory=dict)
    """Exceptions by which a rank ended a wait for others that had lasted too long, and where it waited."""
    work: dict[int, AtWork] = field(default_factory=dict)
    """Whether processes got on between two looks."""
    reports: tuple[Report, ...] = ()
    left_out: int = 0
    """Lines of watchdogs that a collector of logs has left out as alike, whose ranks are not told."""
    logged: frozenset[int] = frozenset()
    """Ranks of which there is any line, or a log file."""
    last_lines: dict[int, str] = field(default_factory=dict)
    hosts: dict[int, str] = field(default_factory=dict)

    @cached_property
    def of_rank(self) -> dict[int, tuple[Report, ...]]:
        out: dict[int, list[Report]] = defaultdict(list)
        for report in self.reports:
            out[report.rank].append(report)
        return {rank: tuple(reports) for rank, reports in out.items()}

    @cached_property
    def gave_up(self) -> frozenset[int]:
        """Ranks whose watchdog gave up on a collective: they wait in one."""
        return frozenset(r.rank for r in self.reports if r.seq is not None)

    def gone(self, rank: int) -> bool:
        """Its process ended by itself or was killed: not by its launcher, nor by its own watchdog."""
        end = self.ends.get(rank)
        return end is not None and end.kind in ("killed", "exited", "finished")

    def alive(self, rank: int) -> bool:
        """Its process was there until the job was ended from outside, or still is."""
        end = self.ends.get(rank)
        return end is not None and end.kind in ("running", "echo")


def fields_of(row: Row) -> Fields:
    try:
        decoded = msgspec.json.decode(row["fields"] or "{}")
    except msgspec.DecodeError:
        return {}
    return decoded if isinstance(decoded, dict) else {}
