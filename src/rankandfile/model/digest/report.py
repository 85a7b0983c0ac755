"""What the watcher of a node tells of its ranks once a second: how far each has come in each group, and what it found.

A `Report` is one message: MessagePack or JSON, the same document. Within it, what is told every second is small, and
what never changes (members of a group, the frames of a path) is told once, and again now and then for whoever came
later. All times are seconds since 1970, ages are seconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

SCHEMA = "rankandfile.watch/1"

#: Hashes are sums modulo this: whole numbers that every JSON reader keeps exactly.
MODULUS = 1 << 53
#: Nobody sends more than this in one message; whoever reads one may refuse what is longer.
LARGEST = 16 << 20

Kind = Literal["desync", "order", "behind", "frozen", "missing", "storm"]
"""desync: the same number of a group is another call. order: ranks wait for each other, each in another call.
missing: a call waits for a rank whose process is gone. behind: a rank makes no calls and the others go on. frozen:
nothing moves anywhere. storm: calls pile up in flight, or the clocks of hosts are apart."""
Certainty = Literal["certain", "likely", "possible"]
State = Literal["runs", "waits", "stopped", "gone", "ended"]
"""waits: its newest call is open. ended: in order. gone: its process has ended otherwise."""

Count = Annotated[int, Meta(ge=0, le=1 << 53)]
Rank = Annotated[int, Meta(ge=-1, le=1 << 24)]
Word = Annotated[str, Meta(max_length=400)]
Line = Annotated[str, Meta(max_length=4000)]


class Prefix(Struct, frozen=True, array_like=True):
    """The sum over all calls of the group up to this one."""

    sequence: Count
    hash: Count


class Standing(Struct, frozen=True, array_like=True):
    """One rank in one group. An array, in this order."""

    group: Word
    """Id of a `Group`."""
    last: Count
    """Number of its newest collective there, from 1; 0 for none."""
    done: Count
    """The highest number up to which all are known to be over."""
    hash: Count
    """The sum over operation, dtype, sizes, root and reduction of the calls after `base`, up to `last`. How a sum is
    made is the watcher's own business: equal sums of equal `base` are equal calls."""
    base: Count = 0
    """The calls up to this one are not in the sums: nobody read them in time. 0 where nothing was lost."""
    prefixes: tuple[Prefix, ...] = ()
    """The sums at some earlier numbers, ascending; close together near `last`, wider apart before."""
    open_s: float | None = None
    """Age of its oldest call that is not over; null where none is open."""
    op: Word = ""
    """What that call asks for, or the newest where none is open: `all_reduce SUM Float [1]`."""
    path: Count = 0
    """Id of a `Path`: where that call comes from. 0 for unknown."""


class Digest(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One rank, at a moment."""

    rank: Rank
    host: Word = ""
    time: float
    """When its ring was read, by the clock of its host."""
    state: State = "runs"
    step: Count | None = None
    """The trainer's own, where it tells one."""
    phase: Word | None = None
    """data, forward, backward, optimizer, save, evaluate, where something tells it."""
    calls: Count = 0
    """How many calls it has made in all, sends and receives too."""
    flight: Count = 0
    """How many of its newest calls are open; at most as many as its ring keeps."""
    since: float = 0.0
    """When it was last seen to move; 0 for never."""
    groups: tuple[Standing, ...] = ()


class Group(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A process group: a name and its members."""

    id: Word
    """The same on all nodes."""
    name: Word
    description: Word = ""
    size: Count
    members: Line = ""
    """Global ranks, as `0-6,8`; empty where not known. A list that has no room is `0,8,...,8184` where all steps are
    the same; else its beginning, and how many there are."""


class Frame(Struct, frozen=True, array_like=True):
    file: Word
    line: Count
    function: Word


class Path(Struct, frozen=True, kw_only=True):
    """The frames of the program that led to a call, innermost first."""

    id: Count
    frames: tuple[Frame, ...]


class Side(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Ranks that did the same, in a finding."""

    ranks: Line
    """As `0-6,8`."""
    call: Word = ""
    """What they asked for; empty where they have not come."""
    path: tuple[Frame, ...] = ()
    """Innermost first; empty where nothing tells."""


class Finding(Struct, frozen=True, kw_only=True, omit_defaults=True):
    id: Word
    """The same each time that the incident is told."""
    kind: Kind
    certainty: Certainty
    words: Line
    """One line for a person."""
    since: float
    """When the first call was made that belongs to it."""
    time: float
    """When it was found."""
    group: Word = ""
    """Id of the `Group`; empty where it is not about one."""
    sequence: Count | None = None
    ranks: Line = ""
    """Who is at fault, as `0-6,8`; empty where nothing tells."""
    sides: tuple[Side, ...] = ()
    action: Word = ""
    """What was done; begins with `would ` where the watcher only observes."""
    case: Line = ""
    """Where the diagnosis lies, as `host:/path`."""
    over: bool = False
    """It did not last, or was taken back."""


class Job(Struct, frozen=True, kw_only=True, omit_defaults=True):
    id: Word
    """The same on all nodes, and another one for each start of the job."""
    name: Word = ""
    """For people: the program, or what a scheduler calls the job."""
    attempt: Count = 0
    """How often the launcher had started the ranks before."""
    world: Count = 0
    """How many ranks it has; 0 where not known."""
    started: float = 0.0


class Report(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One message of one node."""

    job: Job
    node: Word
    time: float
    schema: str = SCHEMA
    digests: tuple[Digest, ...] = ()
    groups: tuple[Group, ...] = ()
    """Those not told before, and now and then all."""
    paths: tuple[Path, ...] = ()
    """The same."""
    findings: tuple[Finding, ...] = ()
    """New ones and changed ones; one with a known id replaces it."""
    ended: int | None = None
    """The job is over on this node, with this exit code."""


def packed(report: Report) -> bytes:
    """As MessagePack (`application/msgpack`)."""
    return msgspec.msgpack.encode(report)


def as_json(report: Report) -> bytes:
    return msgspec.json.encode(report)


def read(data: bytes) -> Report:
    """A message, in either form. Raises ValueError, with a sentence, for anything else."""
    if len(data) > LARGEST:
        raise ValueError(f"a report of {len(data)} bytes: more than {LARGEST}")
    try:
        decode = msgspec.json.decode if data[:1] == b"{" else msgspec.msgpack.decode
        report = decode(data, type=Report)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"no report: {error}") from None
    if report.schema != SCHEMA:
        raise ValueError(f"a report of the schema {report.schema[:80]!r}, which is unknown")
    return report


def json_schema() -> dict[str, object]:
    found = msgspec.json.schema(Report)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": SCHEMA, **found}


def sums_at(standing: Standing) -> Sequence[Prefix]:
    """Its prefixes with the newest."""
    return (*standing.prefixes, Prefix(standing.last, standing.hash))
