"""Small jobs for the tests: a program per rank, run under the rules of gloo or NCCL until nothing moves any more.

What a rank does is a list of calls. The run decides what completes, so that a test states a fault and not its
symptoms. gloo: a rank sits in each call until it is done. NCCL: the host issues everything at once, and the device
does it in order.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import polars as pl
from msgspec import structs

from rankandfile.model.case import Case
from rankandfile.model.tables import schema

SECOND = 1_000_000_000
START = 1_800_000_000 * SECOND


#: The group of all ranks.
WORLD = "0"


class Call(NamedTuple):
    """One call; `peer` for a send or receive; `batch` numbers those issued as one."""

    group: str
    op: str
    size: int = 1024
    site: str = ""
    dtype: str = "Float"
    peer: int | None = None
    sizes: tuple[list[list[int]], list[list[int]]] | None = None
    early: bool = False
    """This rank may finish before the others have joined (the root of a broadcast)."""


class Stop(NamedTuple):
    """The host does something else from here on, for ever."""


class Hold(NamedTuple):
    """The device never gets past this point; the host goes on."""


Step = Call | Stop | Hold


@dataclass(frozen=True)
class Job:
    groups: dict[str, list[int]]
    programs: dict[int, list[Step]]
    backend: str = "nccl"
    timing: bool = False
    descs: dict[str, str] = field(default_factory=dict)
    stalled: frozenset[tuple[str, int]] = frozenset()
    """Collectives (group, number) that the network never finishes."""


@dataclass
class _Made:
    call: Call
    seq: int
    record: int
    state: str = "issued"


def _matches(calls: list[_Made]) -> bool:
    """Whether it would be finished: the same operation, size and dtype everywhere. A send and a receive are halves."""
    first = calls[0].call
    alike = all((c.call.size, c.call.dtype) == (first.size, first.dtype) for c in calls)
    return alike and (first.peer is not None or all(c.call.op == first.op for c in calls))


def run(job: Job) -> dict[int, list[_Made]]:
    """What each rank has issued when nothing moves any more, and how far it got."""
    made: dict[int, list[_Made]] = {rank: [] for rank in job.programs}
    at = dict.fromkeys(job.programs, 0)
    held = {rank: [i for i, s in enumerate(p) if isinstance(s, Hold)] for rank, p in job.programs.items()}
    issued_at: dict[int, list[int]] = {rank: [] for rank in job.programs}
    counts: dict[tuple[int, str], int] = {}
    moved = True
    while moved:
        moved = False
        for rank, program in job.programs.items():
            while at[rank] < len(program) and _may_issue(job, made[rank]):
                step = program[at[rank]]
                if isinstance(step, Stop):
                    break
                if isinstance(step, Call):
                    transfer = step.peer is not None
                    seq = counts.get((rank, step.group), 0) + (0 if transfer else 1)
                    counts[rank, step.group] = seq
                    made[rank].append(_Made(step, seq, len(made[rank])))
                    issued_at[rank].append(at[rank])
                at[rank] += 1
                moved = True
        for rank in made:
            moved |= _advance(job, rank, made, issued_at, held)
    return made


def _may_issue(job: Job, calls: list[_Made]) -> bool:
    return job.backend == "nccl" or not calls or calls[-1].state not in ("issued", "started")


def _head(
    job: Job,
    rank: int,
    made: dict[int, list[_Made]],
    issued_at: dict[int, list[int]],
    held: dict[int, list[int]],
) -> _Made | None:
    for call, position in zip(made[rank], issued_at[rank], strict=True):
        if call.state in ("issued", "started"):
            blocked = any(hold < position for hold in held[rank])
            return None if blocked else call
    return None


def _advance(
    job: Job,
    rank: int,
    made: dict[int, list[_Made]],
    issued_at: dict[int, list[int]],
    held: dict[int, list[int]],
) -> bool:
    """Finish the rank's oldest call, and its peers', if all have come to it."""
    head = _head(job, rank, made, issued_at, held)
    if head is None:
        return False
    began = job.timing and head.state == "issued"
    if began:
        head.state = "started"
    done = "completed" if job.backend == "nccl" else "ended"
    if head.call.early:
        head.state = done
        return True
    if head.call.peer is not None:
        group = [head, _other_half(rank, head, made)]
    else:
        group = [_numbered(made.get(member, []), head) for member in job.groups[head.call.group]]
    if any(call is None for call in group) or (head.call.group, head.seq) in job.stalled:
        return began
    calls = [call for call in group if call is not None]
    waiting = [call for call in calls if call.state in ("issued", "started")]
    heads = [_head(job, member, made, issued_at, held) for member in made]
    if not _matches(calls):
        return began
    if any(not any(call is other for other in heads) for call in waiting):
        return began
    for call in waiting:
        call.state = done
    return True


def _numbered(calls: list[_Made], head: _Made) -> _Made | None:
    same = (c for c in calls if c.call.group == head.call.group and c.seq == head.seq and c.call.peer is None)
    return next(same, None)


def _other_half(rank: int, head: _Made, made: dict[int, list[_Made]]) -> _Made | None:
    peer = head.call.peer
    assert peer is not None
    wanted = "recv" if head.call.op == "send" else "send"
    mine = [
        c
        for c in made[rank]
        if (c.call.group, c.call.op, c.call.peer) == (head.call.group, head.call.op, peer)
    ]
    theirs = [
        c
        for c in made.get(peer, [])
        if (c.call.group, c.call.op, c.call.peer) == (head.call.group, wanted, rank)
    ]
    index = next(i for i, c in enumerate(mine) if c is head)
    return theirs[index] if index < len(theirs) else None


def case_of(
    job: Job,
    *,
    lost: Sequence[int] = (),
    truncated: Sequence[int] = (),
    ring: int | dict[int, int] | None = None,
    frames: bool = True,
    members: bool = True,
    waited_s: float = 700.0,
    clock_s: dict[int, float] | None = None,
    shuffle: int | None = None,
) -> Case:
    """The case that the job's dumps would make, with evidence taken away as asked."""
    made = run(job)
    names = sorted(job.groups)
    sites: dict[str, int] = {}
    shapes: dict[tuple[object, object, str], int] = {}
    rows: list[dict[str, object]] = []
    dumps: list[dict[str, object]] = []
    order = [rank for rank in sorted(made) if rank not in lost]
    if shuffle is not None:
        random.Random(shuffle).shuffle(order)
    for dump, rank in enumerate(order):
        keep = ring.get(rank) if isinstance(ring, dict) else ring
        calls = made[rank][-keep:] if keep else made[rank]
        if rank in truncated:
            calls = calls[: len(calls) // 2]
        offset = int((clock_s or {}).get(rank, 0) * SECOND)
        rows += [_row(job, rank, dump, call, names, sites, shapes, offset, frames) for call in calls]
        wrapped = len(calls) < len(made[rank]) and rank not in truncated
        last = START + 10_000_000 * (len(made[rank]) - 1) + offset
        dumps.append(
            {
                "dump": dump, "source": f"dumps/rank_{rank}", "rank": rank, "backend": job.backend, "calls": len(calls),
                "wrapped": wrapped, "truncated": rank in truncated, "timing": job.timing, "has_frames": frames,
                "version": "2.10", "format": "pickle", "first_record": calls[0].record if calls else None,
                "last_record": calls[-1].record if calls else None, "last_ns": last,
                # Each rank writes its own, and no two at one time.
                "written_ns": last + int(waited_s * SECOND) + 3_000_000 * rank,
            }
        )  # fmt: skip
    world = max(r for m in job.groups.values() for r in m) + 1
    users = {name: sorted({r["rank"] for r in rows if r["group"] == i}) for i, name in enumerate(names)}  # type: ignore[type-var]
    return Case(
        calls=_table("calls", rows),
        groups=_table("groups", [
            {
                "group": i, "name": name, "desc": job.descs.get(name, name),
                "members": job.groups[name] if members else users[name],
                "members_from": "recorded" if members else "inferred",
            }
            for i, name in enumerate(names)
        ]),
        shapes=_table("shapes", [
            {"shape": i, "in_sizes": s[0], "out_sizes": s[1], "in_dtypes": [s[2]], "out_dtypes": [s[2]]}
            for s, i in shapes.items()
        ]),
        frames=_table("frames", [
            {"frame": i, "function": "step", "file": f"/workspace/{file}", "line": int(line), "is_torch": False}
            for (file, _, line), i in ((site.partition(":"), i) for site, i in sites.items())
        ]),
        stacks=_table("stacks", [{"stack": i, "frames": [i], "site": i} for i in sites.values()]),
        dumps=_table("dumps", dumps),
        world_size=world,
    )  # fmt: skip


def _row(
    job: Job, rank: int, dump: int, made: _Made, names: list[str], sites: dict[str, int],
    shapes: dict[tuple[object, object, str], int], offset: int, frames: bool,
) -> dict[str, object]:  # fmt: skip
    call = made.call
    sizes = call.sizes or ([[call.size]], [[call.size]])
    key = (_freeze(sizes[0]), _freeze(sizes[1]), call.dtype)
    shape = shapes.setdefault(key, len(shapes))
    site = sites.setdefault(call.site, len(sites)) if call.site and frames else None
    created = START + 10_000_000 * made.record + offset
    sends = call.op == "send"
    return {
        "rank": rank, "group": names.index(call.group), "seq": made.seq, "p2p_seq": made.record, "op_id": made.seq,
        "op": call.op, "name": f"{job.backend}:{call.op}", "is_p2p": call.peer is not None,
        "src": None if call.peer is None else (rank if sends else call.peer),
        "dst": None if call.peer is None else (call.peer if sends else rank),
        "shape": shape, "state": made.state, "retired": made.state in ("completed", "ended"), "created_ns": created,
        "site": site, "stack": site, "timeout_ms": 600_000, "record": made.record, "dump": dump,
    }  # fmt: skip


def _freeze(sizes: list[list[int]]) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(s) for s in sizes)


def _table(name: str, rows: list[dict[str, object]]) -> pl.DataFrame:
    columns = schema(name)
    return pl.DataFrame([{c: row.get(c) for c in columns} for row in rows], schema=columns)


def loop(body: list[Step], steps: int) -> list[Step]:
    return body * steps


def renumbered(job: Job, to: dict[int, int]) -> Job:
    """The same job with other rank numbers."""

    def step(s: Step) -> Step:
        return s._replace(peer=to[s.peer]) if isinstance(s, Call) and s.peer is not None else s

    return replace(
        job,
        groups={name: sorted(to[r] for r in ranks) for name, ranks in job.groups.items()},
        programs={to[r]: [step(s) for s in p] for r, p in job.programs.items()},
    )


def hidden(case: Case) -> Case:
    """As gloo leaves a job that also sends and receives: its transfers only show in the count of all operations."""
    return structs.replace(case, calls=case.calls.with_columns(op_id=pl.col("seq") * 3))
