"""Where everything is in a ring file.

A header, a ring of records of one size, and a table of what records refer to by number (stacks, frames, shapes, groups,
threads, steps, texts), which only grows. All numbers are little-endian.

A writer can be killed between any two instructions. What it wrote before that is kept by the kernel. So:

* a record is written in two goes: zeros over its check and its times, then body and check together. A record whose
  check does not fit its body was being written, or is not there;
* the times at its end are written later, each by one aligned store;
* an entry of the table counts when the header's `table_used` includes it, and has a check of its own.
"""

from __future__ import annotations

import struct
import zlib
from typing import NamedTuple

MAGIC = b"RAFRING\x01"
VERSION = 1
HEADER_SIZE = 4096
RECORD_SIZE = 128
CAPACITY = 8192
TABLE_SIZE = 2 << 20

HEADER = struct.Struct("<8sIIIIQQQQiiiiIIQQQIIQ64s64s")
#: Fields of the header that change while the job runs.
TABLE_USED_AT = struct.calcsize("<8sIIIIQQ")
LAST_AT = struct.calcsize("<8sIIIIQQQ")
RANK_AT = struct.calcsize("<8sIIIIQQQQ")
STATE_AT = struct.calcsize("<8sIIIIQQQQiiiiIIQQQ")
BEAT_AT = STATE_AT + 8
U64 = struct.Struct("<Q")
U32 = struct.Struct("<I")
RANK_AND_WORLD = struct.Struct("<ii")

#: States of a ring.
OPEN, CLOSED = 0, 1

#: Who wrote the calls.
PYTHON, NATIVE = 1, 2

#: Kinds of record.
#: A pulse is where the main thread was while nothing else was recorded.
CALL, STEP, DECISION, PULSE = 1, 2, 3, 4

#: The kind of the decision that tells to which part of a step the job has come; its number there, from 1, is in
#: `out_elements`.
PHASE = "phase"
PHASES = ("data", "forward", "backward", "optimizer", "save", "evaluate")

#: Bits of a record's flags. A captured call went into a CUDA graph: it is made when the graph is replayed. One in
#: flight is made in a handler, a `finally` or an `__exit__`, while an exception is on its way. A pulse that is SYNC
#: stands in the wait of a work object.
SYNC, P2P, ON_DEVICE, CAPTURED, IN_FLIGHT = 1, 2, 4, 8, 16

#: The kind of the decision that tells of an exception: its words are the second text, its frames the record's stack.
EXCEPTION = "exception"

BODY = struct.Struct("<QQQQQQQQQQIIIIIIiBBBB")
BODY_SIZE = BODY.size
CHECK_AT = BODY_SIZE
LEFT_AT = BODY_SIZE + 8
DONE_AT = BODY_SIZE + 12
NO_TAIL = bytes(RECORD_SIZE - BODY_SIZE)
#: In place of a time: the call raised.
RAISED = 0xFFFFFFFF

ENTRY = struct.Struct("<IIc")

#: Kinds of entry in the table: a JSON list each, that begins with its number (but for E and O).
ENVIRONMENT, FRAME, STACK, SHAPE, GROUP, THREAD, TEXT, SOURCE = b"E", b"F", b"K", b"S", b"G", b"T", b"D", b"O"


class Header(NamedTuple):
    magic: bytes
    version: int
    header_size: int
    record_size: int
    capacity: int
    table_at: int
    table_size: int
    table_used: int
    last: int
    """Number of the newest record; a hint, which may lag by one."""
    rank: int
    world: int
    local_rank: int
    attempt: int
    pid: int
    parent: int
    started: int
    """When the process started, in the kernel's ticks since boot: with the pid, an identity."""
    wall_ns: int
    mono_ns: int
    """The two clocks at the same moment."""
    state: int
    writer: int
    beat_ns: int
    """Wall clock when the process last ran Python for the recorder."""
    host: bytes
    run: bytes


class Record(NamedTuple):
    """One call, step, decision or pulse, as it was entered."""

    number: int
    """The n-th record of the process, from 1."""
    mono_ns: int
    wall_ns: int
    hash: int
    """The group's rolling hash after this call; 0 for a send or receive."""
    in_elements: int
    out_elements: int
    """Of a step, its number and one, where it has a number; of a decision, the number of a phase."""
    splits: int
    """A digest of the split sizes; 0 without. Of a send or receive, its tag."""
    seq: int
    """The call's number among the group's collectives, from 1; for a send or receive, of the last one before."""
    p2p_seq: int
    op_seq: int
    stack: int
    site: int
    shape: int
    group: int
    thread: int
    step: int
    peer: int
    """Rank within the group: a root, a destination or a source; -1 for none."""
    kind: int
    op: int
    reduce_op: int
    """One of `REDUCTIONS`; 0 where the operator reduces nothing."""
    flags: int


def record_in(data: bytes | memoryview, at: int) -> tuple[Record, int, int] | None:
    """The record at this place, and the two times at its end; None for one that was being written, or is not there."""
    body = data[at : at + BODY_SIZE]
    record = Record(*BODY.unpack(body))
    if zlib.crc32(body) != U32.unpack_from(data, at + CHECK_AT)[0]:
        return None
    left, done = (int(U32.unpack_from(data, at + where)[0]) for where in (LEFT_AT, DONE_AT))
    return record, left, done


#: Numbers of the c10d operators in records; never renumber, only append.
OPERATORS = (
    "",
    "allreduce_",
    "broadcast_",
    "reduce_",
    "allgather_",
    "_allgather_base_",
    "allgather_coalesced_",
    "allgather_into_tensor_coalesced_",
    "reduce_scatter_",
    "_reduce_scatter_base_",
    "reduce_scatter_tensor_coalesced_",
    "allreduce_coalesced_",
    "gather_",
    "scatter_",
    "alltoall_",
    "alltoall_base_",
    "barrier",
    "monitored_barrier_",
    "send",
    "recv_",
    "recv_any_source_",
)

#: Numbers of the reductions, in torch's order; never renumber.
REDUCTIONS = ("", "SUM", "AVG", "PRODUCT", "MIN", "MAX", "BAND", "BOR", "BXOR", "PREMUL_SUM", "UNUSED")
