"""Where each rank's host is, as the last snapshot of its stack shows, and whether it moved between snapshots."""

from __future__ import annotations

import polars as pl
from msgspec import Struct
from msgspec.structs import replace

from rankandfile.model.case import Case
from rankandfile.model.code_read import NO_CODE, CodeRead
from rankandfile.model.column import Row
from rankandfile.model.diagnosis import Location
from rankandfile.model.snapshots import stack_id
from rankandfile.reason.calls.peers_and_roots import NOTHING, Asked, asked

from .activity import activities, short_function
from .busy_threads import WAITS_FOR_THREADS, busy_threads
from .called_from import callers
from .motion import Motion, motions
from .threads import last_of_each_rank, telling

#: A time before 2000 is one of day, or of a year that nothing tells: only looks are compared by it.
_DATED_NS = 946_684_800_000_000_000


class Stand(Struct, frozen=True):
    """What the thread that matters of one rank was doing when someone looked last."""

    rank: int
    activity: str
    within: str | None
    waits: str
    """ranks, maybe or no: whether it waits for other ranks there."""
    phrase: str
    op: str
    """The function that shows what it does, such as all_reduce."""
    location: Location
    """The innermost frame of the program."""
    stack: int
    """A row of `stacks`."""
    died: bool
    """The stack is of the moment at which the process ended itself."""
    running: bool | None
    """It was running, not waiting, whenever someone looked."""
    moving: bool | None
    """Other frames in another snapshot. None: seen once."""
    snapshots: int
    evidence: tuple[str, ...]
    apart_ns: int | None = None
    """From the first snapshot to the last; None: one, or nothing tells when they were taken."""
    last_ns: int | None = None
    """When its last snapshot was taken, by its stamp or its file."""
    asked: Asked = NOTHING
    """What the function was asked for, where a snapshot shows it."""
    worker: str = ""
    """What its data-loading worker was doing, where that tells."""
    caller: str = ""
    """From where that was called, where others wait in the same line and were called from elsewhere."""

    @property
    def words(self) -> str:
        """`in write, checkpoint.py:38, the same in 5 snapshots`."""
        if self.died:
            return f"{self.where} when it ended"
        if self.moving is None:
            return self.where
        how = "moving between" if self.moving else "the same in"
        return f"{self.where}, {how} {self.snapshots} snapshots"

    @property
    def where(self) -> str:
        """`waiting for a call to complete in wire.py:9, called in forward_all, schedule.py:30`."""
        return f"{self.phrase}, {self.caller}" if self.caller else self.phrase


def stands(case: Case, code: CodeRead = NO_CODE) -> dict[int, Stand]:
    """Rank -> where its host is, by the last stack that tells it."""
    rows = telling(case.looks, case.stacks, case.frames)
    if not rows.height:
        return {}
    rows = rows.join(
        case.stack_files.select("file", "written_ns"), on="file", how="left", maintain_order="left"
    )
    last = last_of_each_rank(rows)
    doings = {
        row["stack"]: row
        for row in activities(rows, case.stacks, case.frames, code.lines).iter_rows(named=True)
    }
    motion = {m.rank: m for m in motions(rows, case.stacks, case.frames) if m.rank is not None}
    workers = _busy_workers(rows, doings)
    frames = _frames(case, doings)
    asked_of = asked(rows)
    out: dict[int, Stand] = {}
    for row in last.iter_rows(named=True):
        doing = doings.get(row["stack"])
        if doing is not None:
            stand = _stand(row, doing, motion.get(row["rank"]), frames)
            known = asked_of.get((row["rank"], stand.op))
            if known is not None and not stand.moving:
                stand = replace(stand, asked=known, evidence=(*stand.evidence, known.evidence))
            peer = code.peers.get(row["rank"])
            if peer is not None and not stand.moving and (with_ := _asked_by_code(stand, peer)) is not None:
                stand = replace(stand, asked=with_)
            worker = workers.get(row["rank"])
            if doing["activity"] == "data_loader" and worker is not None:
                stand = _with_worker(stand, worker, doings[worker["stack"]], frames)
            out[row["rank"]] = stand
    out |= _while_threads_run(case, out)
    waiting = {s.stack: s.phrase for s in out.values() if s.waits == "ranks" and not s.moving}
    called = callers(case, waiting)
    return {rank: replace(s, caller=called.get(s.stack, "")) for rank, s in out.items()} if called else out


def _while_threads_run(case: Case, stands: dict[int, Stand]) -> dict[int, Stand]:
    """Of those that wait for something of their own process, who has a thread that gets on meanwhile: they do, too."""
    wait = [r for r, s in stands.items() if s.activity in WAITS_FOR_THREADS and not (s.died or s.moving)]
    busy = busy_threads(case.looks, case.stacks, case.frames, wait) if wait else {}
    return {
        rank: replace(
            stands[rank],
            phrase=f"{stands[rank].phrase}; {thread.words}",
            moving=True,
            evidence=(*stands[rank].evidence, thread.evidence),
        )
        for rank, thread in busy.items()
    }


def _asked_by_code(stand: Stand, peer: int) -> Asked | None:
    """What it asked for, where no stack shows the arguments, and the source says whom the transfer is with."""
    if stand.asked != NOTHING or stand.op not in ("recv", "irecv", "send", "isend"):
        return None
    receives = stand.op.endswith("recv")
    evidence = stand.evidence[0]
    src, dst = (peer, None) if receives else (None, peer)
    return Asked(stand.op, src=src, dst=dst, evidence=evidence, by_source=True)


def _frames(case: Case, doings: dict[int, Row]) -> dict[int, Location]:
    wanted = {number for doing in doings.values() for number in (doing["site"], doing["frame"])}
    rows = case.frames.filter(pl.col("frame").is_in(list(wanted)))
    return {
        frame: Location(file=file, line=line, function=function)
        for frame, file, line, function in rows.select("frame", "file", "line", "function").iter_rows()
    }


def _stand(row: Row, doing: Row, motion: Motion | None, frames: dict[int, Location]) -> Stand:
    return Stand(
        rank=row["rank"],
        activity=doing["activity"],
        within=doing["within"],
        waits=doing["waits"],
        phrase=doing["phrase"],
        op=doing["op"] or short_function(frames[doing["frame"]].function or ""),
        location=frames[doing["site"]],
        stack=row["stack"],
        died=row["shows"] == "died",
        running=None if _spins(doing) else motion.running if motion else row["active"],
        moving=None if motion is None else motion.kind == "moving",
        snapshots=motion.snapshots if motion else 1,
        evidence=(stack_id(row["file"], row["line"]),),
        apart_ns=motion.apart_ns if motion else None,
        last_ns=row["at_ns"] if (row["at_ns"] or 0) > _DATED_NS else row["written_ns"],
    )


def _spins(doing: Row) -> bool:
    """A wait that uses its processor, as those for a device do, or that only begins: it is no motion."""
    return doing["waits"] == "ranks" or doing["activity"] in ("cuda_sync", "nccl_call")


def _busy_workers(rows: pl.DataFrame, doings: dict[int, Row]) -> dict[int, Row]:
    """Per rank, a data-loading worker that is in the middle of something: that is what the loader waits for."""
    mine = rows.filter((pl.col("role") == "worker") & pl.col("rank").is_not_null()).sort("ordinal")
    busy: dict[int, Row] = {}
    for row in mine.iter_rows(named=True):
        doing = doings.get(row["stack"])
        if doing is not None and doing["activity"] != "idle":
            busy[row["rank"]] = row
    return busy


def _with_worker(stand: Stand, worker: Row, doing: Row, frames: dict[int, Location]) -> Stand:
    return replace(
        stand,
        phrase=f"{stand.phrase}; its worker is {doing['phrase']}",
        location=frames[doing["site"]],
        worker=doing["activity"],
        evidence=(*stand.evidence, stack_id(worker["file"], worker["line"])),
    )
