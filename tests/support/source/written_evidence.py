"""What a rank that waits in a collective leaves without a recorder: its stack, as py-spy writes it, and its watchdog's
line."""

from __future__ import annotations

_STACK = """Process {pid}: python3 /workspace/train.py
Python v3.11.7 (/usr/bin/python3.11)

Thread {pid} (idle): "MainThread"
    {op} (torch/distributed/distributed_c10d.py:4287)
    {where}
"""
_GAVE_UP = (
    "[rank{rank}]:[E1123 15:25:06.0{rank}2521982 ProcessGroupNCCL.cpp:722] [Rank {rank}] Watchdog caught collective "
    "operation timeout: WorkNCCL(SeqNum={seq}, OpType={op}, NumelIn={numel}, NumelOut={out}, Timeout(ms)=600000) "
    "ran for 600021 milliseconds before timing out.\n"
)


def stack(rank: int, op: str, *frames: str) -> str:
    """`frames`: `train (train.py:16)`, the innermost first."""
    return _STACK.format(pid=100 + rank, op=op, where="\n    ".join(frames))


def gave_up(rank: int, op: str, seq: int, numel: int = 1, out: int | None = None) -> str:
    """`out`: elements of what comes out, where those are others."""
    return _GAVE_UP.format(
        rank=rank, op=op.replace("_", "").upper(), seq=seq, numel=numel, out=numel if out is None else out
    )
