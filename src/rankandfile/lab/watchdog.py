"""Lines in the words of torch 2.13's NCCL watchdog, worked out from what each rank was really waiting for.

gloo has no watchdog, so these lines are *emulated*: group, sequence number, op, sizes and stack come from the rank's
own Flight Recorder, and the clock is run forward to the moment at which the group's timeout would have expired.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

Dump = Mapping[str, Any]
_OP_TYPES = {
    "all_reduce": "ALLREDUCE",
    "all_gather": "ALLGATHER",
    "all_to_all": "ALLTOALL",
    "barrier": "BARRIER",
    "broadcast": "BROADCAST",
    "gather": "GATHER",
    "reduce": "REDUCE",
    "scatter": "SCATTER",
}
_ADVICE = (
    "This is most likely caused by incorrect usages of collectives, e.g., wrong sizes used across ranks, the order "
    "of collectives is not same for all ranks or the scheduled collective, for some reason, didn't run."
)


def watchdog_lines(
    dumps: Mapping[int, Dump], members: Mapping[str, Sequence[int]], *, store_reachable: bool = True
) -> dict[int, list[str]]:
    """What each rank with a dump would have logged once the first timeout had expired, in order of time.

    Without a store no rank hears of another's timeout: each logs its own.
    """
    stuck = {rank: _oldest_waiting(dump) for rank, dump in dumps.items()}
    expiry = {r: min(map(_expires, entries.values())) for r, entries in stuck.items() if entries}
    if not expiry:
        return {rank: [] for rank in dumps}
    first = min(expiry, key=lambda r: (expiry[r], r))
    lines: dict[int, list[str]] = {}
    for rank, dump in dumps.items():
        if not store_reachable:
            first = rank
            if rank not in expiry:
                lines[rank] = []
                continue
        at = expiry.get(rank, expiry[first]) + 0.0004 * rank
        # A rank that has not timed out itself sees the signal of the first one at the next poll of the store.
        at = min(at, expiry[first] + 0.5 + 0.0004 * rank)
        lines[rank] = []
        for name, entry in stuck[rank].items():
            if _expires(entry) <= at + 1.0:
                lines[rank] += _timeout(rank, name, entry, dump, members, _expires(entry))
        lines[rank] += _signal(rank, first, dump, members, at)
    return lines


def _oldest_waiting(dump: Dump) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for entry in dump["entries"]:
        if not entry["retired"]:
            out.setdefault(entry["process_group"][0], entry)
    return out


def _expires(entry: Mapping[str, Any]) -> float:
    return float(entry["time_created_ns"] / 1e9 + entry["timeout_ms"] / 1e3)


def _stamp(rank: int, at: float, line: int) -> str:
    moment = time.gmtime(at)
    fraction = int((at % 1) * 1e9)
    clock = time.strftime("%H:%M:%S", moment)
    return f"[rank{rank}]:[E{moment.tm_mon}{moment.tm_mday:02d} {clock}.{fraction:09d} ProcessGroupNCCL.cpp:{line}]"


def _prefix(rank: int, name: str, desc: str, pg_id: int, members: Mapping[str, Sequence[int]]) -> str:
    ranks = list(members.get(name, ()))
    inside = ranks.index(rank) if rank in ranks else rank
    label = f"{name}({desc})" if desc and desc != "undefined" else name
    return f"[PG ID {pg_id} PG GUID {label} Rank {inside}]"


def _timeout(
    rank: int,
    name: str,
    entry: Mapping[str, Any],
    dump: Dump,
    members: Mapping[str, Sequence[int]],
    at: float,
) -> list[str]:
    seq, limit = entry["collective_seq_id"], entry["timeout_ms"]
    op = _OP_TYPES.get(entry["profiling_name"].split(":")[-1], "UNKNOWN")
    numel_in, numel_out = (sum(prod(s) for s in entry[k]) for k in ("input_sizes", "output_sizes"))
    enqueued, completed = _progress(dump, name)
    # The watchdog looks every 100 ms, so that it is always a little late.
    ran = limit + 12 + (seq * 37 + rank * 11) % 88
    who = _prefix(rank, name, entry["process_group"][1], entry["pg_id"], members)
    head = f"{_stamp(rank, at, 722)} [Rank {rank}]"
    work = (
        f"WorkNCCL(SeqNum={seq}, OpType={op}, NumelIn={numel_in}, NumelOut={numel_out}, Timeout(ms)={limit})"
    )
    return [
        f"{head} Watchdog caught collective operation timeout: {work} ran for {ran} milliseconds "
        "before timing out.",
        f"{_stamp(rank, at, 2271)} {who}  failure detected by watchdog at work sequence id: {seq} PG status: "
        f"last enqueued work: {enqueued}, last completed work: {completed}",
        f"{_stamp(rank, at, 733)} Stack trace of the failed collective: ",
        *(
            f"#{i} {f['name']} from {f['filename']}:{f['line']}"
            for i, f in enumerate(entry.get("frames", ()))
        ),
        "",
    ]


def _signal(rank: int, first: int, dump: Dump, members: Mapping[str, Sequence[int]], at: float) -> list[str]:
    who = _prefix(rank, "0", "default_pg", 0, members)
    if rank == first:
        return [f"{_stamp(rank, at, 2106)} {who} First PG on this rank to signal dumping."]
    enqueued, completed = _progress(dump, "0")
    return [
        f"{_stamp(rank, at, 1685)} {who} Observed flight recorder dump signal from another rank via TCPStore.",
        f"{_stamp(rank, at, 1746)} {who} Received a dump signal due to a collective timeout from  rank {first} "
        "and we will try our best to dump the debug info. "
        f"Last enqueued NCCL work: {enqueued}, last completed NCCL work: {completed}.{_ADVICE}",
    ]


def _progress(dump: Dump, name: str) -> tuple[int, int]:
    seen: dict[bool, list[int]] = defaultdict(list)
    for entry in dump["entries"]:
        if entry["process_group"][0] == name:
            seen[bool(entry["retired"])].append(entry["collective_seq_id"])
    every = seen[True] + seen[False]
    return max(every, default=-1), max(seen[True], default=-1)
