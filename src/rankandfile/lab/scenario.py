"""What a scenario says: a program, the change that plants the fault, the change that mends it, and the truth.

Code is named by anchors, never by line numbers: an anchor is text that occurs on exactly one line of one file of
the faulty tree. Lines, functions and sequence numbers in a truth file are looked up when the scenario runs.
"""

from __future__ import annotations

import msgspec


class Edit(msgspec.Struct, frozen=True):
    """Replace the single occurrence of `before` in `file`; an empty `before` makes a new file of `after`."""

    file: str
    before: str
    after: str


def above(file: str, anchor: str, text: str) -> Edit:
    """Put `text` before the anchor, which occurs only there."""
    return Edit(file, anchor, text + anchor)


def below(file: str, anchor: str, text: str) -> Edit:
    """Put `text` after the anchor."""
    return Edit(file, anchor, anchor + text)


def new_file(file: str, text: str) -> Edit:
    return Edit(file, "", text)


class At(msgspec.Struct, frozen=True):
    """A line of the faulty tree, by text that occurs only there."""

    file: str
    anchor: str
    condition: str = ""


class Cohort(msgspec.Struct, frozen=True):
    """Ranks that issued the same call at the divergence. `at=None`: they issued nothing more on the group."""

    ranks: tuple[int, ...]
    op: str = ""
    at: At | None = None
    group: str = ""


class Divergence(msgspec.Struct, frozen=True):
    """Where the sequences of a group part: the first call that the cohorts issue from different places.

    When only arguments differ, `occurrence` tells which of the calls from that place it is.
    """

    kind: str = "none"
    cohorts: tuple[Cohort, ...] = ()
    group: str = "default_pg"
    containing: int = 0
    occurrence: int = 1


def diverge(
    kind: str, *cohorts: Cohort, group: str = "default_pg", containing: int = 0, occurrence: int = 1
) -> Divergence:
    return Divergence(kind, cohorts, group, containing, occurrence)


class Strike(msgspec.Struct, frozen=True):
    """A signal from outside (kernel, scheduler, operator), once a rank has issued so many calls."""

    rank: int
    signal: str
    after_calls: int


class Cut(msgspec.Struct, frozen=True):
    """Links that go down, once `rank` has issued so many calls. Each rank then runs on a virtual host of its own."""

    rank: int
    after_calls: int
    links: tuple[int, ...]


class Look(msgspec.Struct, frozen=True):
    """Evidence is taken while the job still runs: so long after `rank` has issued so many calls."""

    rank: int
    after_calls: int
    wait_s: float = 0.0


class Evidence(msgspec.Struct, frozen=True):
    """What the incident leaves behind, and in which shape."""

    dump_name: str = "nccl_trace_rank_{rank}"
    dump_format: str = "pickle"
    logs: str = "per_rank"
    watchdog: bool = True
    no_dump: tuple[int, ...] = ()
    dump_at_exit: bool = False
    twice: bool = False
    debug_server: bool = False

    def dump_of(self, rank: int) -> str:
        """The name of this rank's dump. As torch does, the rank is put behind a name that has no place for it."""
        name = self.dump_name if "{rank}" in self.dump_name else f"{self.dump_name}{{rank}}"
        return name.format(rank=rank)


PRELOAD = (
    "torch._dynamo",
    "torch.distributed.fsdp",
    "torch.distributed.tensor",
    "torch.distributed.optim",
    "torch.utils.data",
)
"""Imported once, before the ranks are forked: DDP and FSDP pull most of it in at first use."""


class Scenario(msgspec.Struct, frozen=True, kw_only=True):
    """One hang with known truth. `needs`: what the machine must have beyond torch, in words for a person."""

    title: str
    program: str
    world_size: int
    cause: str
    culprits: tuple[int, ...]
    name: str = ""
    """Of the file."""
    location: At | None = None
    divergence: Divergence = Divergence()
    fault: tuple[Edit, ...] = ()
    fix: tuple[Edit, ...] = ()
    fix_summary: str = ""
    command: tuple[str, ...] = ("train.py",)
    """What follows `python`, before `args`."""
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}
    accepted_causes: tuple[str, ...] = ()
    cause_from_dumps: str = ""
    culprits_from_dumps: tuple[int, ...] = ()
    decoys: tuple[int, ...] = ()
    seen_in: str = ""
    hang: bool = True
    strikes: tuple[Strike, ...] = ()
    cuts: tuple[Cut, ...] = ()
    look: Look | None = None
    """Of a job that ends by itself."""
    tcp_retries: int = 0
    needs: tuple[str, ...] = ()
    hold_sockets: bool = True
    park_aborts: bool = True
    stall_s: float = 3.0
    limit_s: float = 60.0
    evidence: Evidence = Evidence()
    in_suite: bool = False
    preload: tuple[str, ...] = PRELOAD
