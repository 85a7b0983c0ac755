"""What a rank's program may do, as the simulator sees it: a stream of these, one rank at a time."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import NamedTuple

Shape = tuple[int, ...]

DTYPE_BYTES = {"Float": 4, "BFloat16": 2, "Half": 2, "Long": 8, "Int": 4, "Byte": 1, "Double": 8}


class Call(NamedTuple):
    """A collective. It is enqueued; the host goes on unless it is a barrier."""

    op: str  # as recorded after "nccl:"
    group: str  # the role of the group for this rank
    inputs: tuple[Shape, ...]
    outputs: tuple[Shape, ...]
    site: str
    dtype: str = "Float"
    root: int = 0  # rank inside the group
    splits: tuple[int, ...] | None = None  # rows sent to each member
    received: tuple[int, ...] | None = None  # rows expected from each member
    async_op: bool = False  # the compute stream does not wait for it until a Wait
    pieces: int = 0  # > 0: a coalescing block of that many like collectives, closed as one


#: `all_gather` of tensors of different sizes is done as one broadcast from each member, coalesced.
UNEVEN_GATHER = "_broadcast_oop"


class Transfer(NamedTuple):
    """One send or receive, alone or inside a batch; the peer is a rank inside the group."""

    kind: str  # "send" or "recv"
    group: str
    peer: int
    shape: Shape
    site: str
    dtype: str = "BFloat16"


class Batch(NamedTuple):
    """`batch_isend_irecv`: its transfers progress together; the closing entry has a stack of its own."""

    transfers: tuple[Transfer, ...]
    site: str


class Compute(NamedTuple):
    """A kernel on the compute stream; `seconds=None` never ends."""

    seconds: float | None


class Work(NamedTuple):
    """The host is busy with something else for so long; `seconds=None` never ends. `doing` is a site."""

    seconds: float | None
    doing: str = "step"


class Wait(NamedTuple):
    """The compute stream waits for the asynchronous collectives issued so far."""


class Sync(NamedTuple):
    """The host waits for the compute stream (`.item()`), or for all streams (`synchronize`)."""

    site: str
    everything: bool = False


class Say(NamedTuple):
    """A line in the rank's log."""

    text: str


class Leave(NamedTuple):
    """The program ends, by itself or not: `how` is one of `ENDINGS`."""

    how: str
    site: str = "exit"
    code: int = 0
    text: str = ""


#: How a program can end -> whether its process is gone, and with it what it has enqueued.
ENDINGS = {
    "finished": True,  # destroyed its groups, exit status 0
    "left": True,  # exit status 0 without destroying the groups
    "raised": True,  # an exception nobody caught
    "killed": True,  # by a signal
    "exited": True,  # sys.exit with a status
    "vanished": True,  # the machine is gone: nobody reports anything
    "destroying": False,  # sits in destroy_process_group; its heartbeat monitor has stopped, so it never dumps
}


class DeviceFault(NamedTuple):
    """A kernel that breaks the device context: nothing enqueued after it on this rank ever runs."""

    text: str


class Mark(NamedTuple):
    """Planted by a fault: at this point the program departs from what its peers do. Costs nothing, leaves no trace
    in the evidence; the truth is written from it."""

    kind: str
    call: Call | Transfer | Batch | None = None


Op = Call | Transfer | Batch | Compute | Work | Wait | Sync | Say | Leave | DeviceFault | Mark
Program = Iterator[Op]


def numel(shapes: tuple[Shape, ...]) -> int:
    return sum(map(prod, shapes))


def barrier(site: str) -> Call:
    return Call("all_reduce_barrier", "world", ((1,),), ((1,),), site)


def all_reduce(group: str, size: int, site: str, dtype: str = "Float", *, async_op: bool = False) -> Call:
    return Call("all_reduce", group, ((size,),), ((size,),), site, dtype, async_op=async_op)


def all_gather(group: str, members: int, size: int, site: str) -> Call:
    return Call("_all_gather_base", group, ((size,),), ((size * members,),), site, "BFloat16")


def reduce_scatter(group: str, members: int, size: int, site: str) -> Call:
    return Call("_reduce_scatter_base", group, ((size * members,),), ((size,),), site, "BFloat16")


def broadcast(group: str, size: int, site: str, dtype: str = "Float") -> Call:
    return Call("broadcast", group, ((size,),), ((size,),), site, dtype)


def all_to_all(group: str, splits: tuple[int, ...], received: tuple[int, ...], width: int, site: str) -> Call:
    return Call(
        "all_to_all", group, ((sum(splits), width),), ((sum(received), width),), site, "BFloat16",
        splits=splits, received=received,
    )  # fmt: skip
