"""What each rank prints: its own progress, and what its watchdog and heartbeat monitor say at the end."""

from __future__ import annotations

from rankandfile.lab.sim.clocktext import c10, python
from rankandfile.lab.sim.host import Host, Record
from rankandfile.lab.sim.layout import Group, Layout
from rankandfile.lab.sim.machine import SECOND
from rankandfile.lab.sim.ops import numel
from rankandfile.lab.sim.sites import frames_of
from rankandfile.lab.sim.torch_versions import Torch
from rankandfile.lab.sim.watchdog import Aftermath, Patience, Timeout

Lines = list[tuple[int, str]]

_UNKNOWN_SIZE = 18_446_744_073_709_551_615
_OP_TYPES = {
    "_all_gather_base": "_ALLGATHER_BASE",
    "_reduce_scatter_base": "_REDUCE_SCATTER_BASE",
    "all_to_all": "ALLTOALL_BASE",
    "all_gather": "ALLGATHER",
    "all_reduce": "ALLREDUCE",
    "all_reduce_barrier": "ALLREDUCE",
    "broadcast": "BROADCAST",
    "reduce": "REDUCE",
    "coalesced": "COALESCED",
}
_ADVICE = (
    "This is most likely caused by incorrect usages of collectives, e.g., wrong sizes used across ranks, the order "
    "of collectives is not same for all ranks or the scheduled collective, for some reason, didn't run. Additionally, "
    "this can be caused by GIL deadlock or other reasons such as network errors or bugs in the communications library "
    "(e.g. NCCL), etc. "
)
_EPILOGUE = (
    "Some NCCL operations have failed or timed out. Due to the asynchronous nature of CUDA kernels, subsequent GPU "
    "operations might run on corrupted/incomplete data."
)
_SILENCE = 60 * SECOND


def rank_log(host: Host, layout: Layout, patience: Patience, torch: Torch, end: Aftermath) -> Lines:
    """All lines of one rank, with their times, in order."""
    alive_until = host.gone_at if host.gone_at is not None else end.ended_at
    lines: Lines = []
    for time, text in host.lines:
        if text.startswith("Traceback"):
            lines.extend((time, f"[rank{host.rank}]: {line}") for line in text.split("\n"))
        else:
            lines.append((time, f"{python(time)} {'' if text.startswith('WARNING') else 'INFO '}{text}"))
    if host.ending is not None and host.ending.how == "left" and host.ended_at is not None:
        text = (
            "WARNING: destroy_process_group() was not called before program exit, which can leak resources."
        )
        lines.append(
            (host.ended_at, f"[rank{host.rank}]:{_stamp('W', host.ended_at, torch, 1476)} Warning: {text}")
        )
    ended = host.ended_at if host.ended_at is not None else end.ended_at
    if end.signal_at is not None and ended > end.signal_at:
        lines += _watchdog(host, layout, patience, torch, end)
    lines = [line for line in lines if line[0] <= alive_until]
    return sorted(lines, key=lambda line: line[0])


def _watchdog(host: Host, layout: Layout, patience: Patience, torch: Torch, end: Aftermath) -> Lines:
    assert end.signal_at is not None
    rank, lines = host.rank, Lines()
    own = end.timeouts.get(rank)

    def say(time: int, line: int, text: str) -> None:
        lines.append((time, f"[rank{rank}]:{_stamp('E', time, torch, line)} {text}"))

    default = _prefix(torch, layout, layout.groups[0], rank)
    fatal = ""
    if own is not None:
        fatal = caught(own, patience)
        say(own.time, torch.source_line, fatal)
        prefix = _prefix(torch, layout, layout.groups[own.record.what.group], rank)
        enqueued, completed = _progress(host, own.record.what.group, own.time)
        text = torch.progress.format(failed=_seq(own.record), enqueued=enqueued, completed=completed)
        say(own.time + 41_000, torch.source_line + 1500, f"{prefix} {text}")
        if torch.prints_stack:
            say(own.time + 90_000, torch.source_line, "Stack trace of the failed collective: ")
            frames = frames_of(own.record.what.site)
            lines += [
                (own.time + 90_001 + i, f"#{i} {f.name} from {f.filename}:{f.line}")
                for i, f in enumerate(frames)
            ]
    elif host.device_error is not None:
        fatal = f"CUDA error: {host.device_error[1]}"
    heard_at = end.dumps.get(rank)
    if heard_at is not None:
        if rank == end.signal_from and torch.first_signal:
            say(heard_at, 2106, f"{default} {torch.first_signal}")
        elif torch.first_signal:
            say(
                heard_at,
                1685,
                f"{default} Observed flight recorder dump signal from another rank via TCPStore.",
            )
        who = "this local rank" if rank == end.signal_from else f" rank {end.signal_from}"
        enqueued, completed = _progress(host, 0, heard_at)
        say(
            heard_at + 90_000, 1746,
            f"{default} Received a dump signal due to a collective timeout from {who} and we will try our best to dump "
            f"the debug info. Last enqueued NCCL work: {enqueued}, last completed NCCL work: {completed}.{_ADVICE}",
        )  # fmt: skip
        say(
            heard_at + 120_000,
            1536,
            f"{default} ProcessGroupNCCL preparing to dump debug info. Include stack trace: 1",
        )
    if fatal:
        time = (own.time if own else end.signal_at) + _SILENCE
        say(time, 700, f"[Rank {rank}] {_EPILOGUE}")
        say(
            time + 1000,
            714,
            f"[Rank {rank}] To avoid data inconsistency, we are taking the entire process down.",
        )
        prefix = _prefix(torch, layout, layout.groups[own.record.what.group if own else 0], rank)
        death = f"{prefix} Process group watchdog thread terminated with exception: {fatal}"
        say(time + 60_000, 1895, death)
        lines.append(
            (time + 61_000, "terminate called after throwing an instance of 'c10::DistBackendError'")
        )
        lines.append((time + 61_001, f"  what():  {death}"))
    return lines


def caught(timeout: Timeout, patience: Patience) -> str:
    """W1: the collective that ran out, in NCCL's terms."""
    what = timeout.record.what
    ran = (timeout.time - timeout.record.created) // 1_000_000
    work = f"WorkNCCL(SeqNum={_seq(timeout.record)}, OpType={_op_type(what.op)}"
    sizes = (_UNKNOWN_SIZE, _UNKNOWN_SIZE) if not what.inputs else (numel(what.inputs), numel(what.outputs))
    work += f", NumelIn={sizes[0]}, NumelOut={sizes[1]}, Timeout(ms)={patience.timeout_ms})"
    return (
        f"[Rank {timeout.rank}] Watchdog caught collective operation timeout: {work} ran for {ran} milliseconds "
        "before timing out."
    )


def _op_type(op: str) -> str:
    if op.endswith("_coalesced"):
        return "COALESCED"
    return _OP_TYPES.get(op) or op.split(" ")[0].upper()


def _seq(record: Record) -> int:
    return record.p2p_seq if record.what.is_p2p else record.collective_seq


def _progress(host: Host, group: int, now: int) -> tuple[int, int]:
    """Last enqueued and last completed of a group. One counter is printed for two kinds of calls: collectives and
    sends; the last one written wins, as in torch."""
    enqueued = completed = -1
    for record in host.records:
        if record.what.group != group or record.node is None or record.created > now:
            continue
        enqueued = _seq(record)
        if record.node.done is not None and record.node.done <= now:
            completed = _seq(record)
    return enqueued, completed


def _prefix(torch: Torch, layout: Layout, group: Group, rank: int) -> str:
    number = [g.index for g in layout.groups_of(rank)].index(group.index)
    inside = layout.inside(group, rank)
    return torch.group_prefix.format(pg_id=number, name=group.name, desc=group.desc, rank=inside)


def _stamp(severity: str, time: int, torch: Torch, line: int) -> str:
    if not torch.dated:
        return f"[{severity} ProcessGroupNCCL.cpp:{line}]"
    return f"[{severity}{c10(time)} ProcessGroupNCCL.cpp:{line}]"
