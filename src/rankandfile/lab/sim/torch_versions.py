"""How the simulated torch words things and what it records, by release."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Torch:
    """One release, as far as its traces differ from others'."""

    release: str
    dumps: str  # Flight Recorder format version
    dated: bool  # c10 lines carry date and time
    group_prefix: str  # of a watchdog line
    progress: str  # the second line of a timeout (W2)
    prints_stack: bool  # the stack of the failed collective (W7)
    first_signal: str
    source_line: int  # where in ProcessGroupNCCL.cpp the timeout is printed; moves with every release
    records_pieces: bool


_OLD_PROGRESS = (
    "Timeout at NCCL work: {failed}, last enqueued NCCL work: {enqueued}, "
    "last completed NCCL work: {completed}."
)
_MID_PROGRESS = (
    "Exception (either an error or timeout) detected by watchdog at work: {failed}, "
    "last enqueued NCCL work: {enqueued}, last completed NCCL work: {completed}."
)
_NEW_PROGRESS = (
    " failure detected by watchdog at work sequence id: {failed} PG status: "
    "last enqueued work: {enqueued}, last completed work: {completed}"
)
_LONG_PREFIX = "[PG ID {pg_id} PG GUID {name}({desc}) Rank {rank}]"

RELEASES: dict[str, Torch] = {
    torch.release: torch
    for torch in (
        Torch("2.3", "1.4", False, "[PG {pg_id} Rank {rank}]", _OLD_PROGRESS, False, "", 563, False),
        Torch(
            "2.4", "2.1", True, "[PG {name} ({desc}) Rank {rank}]", _MID_PROGRESS, False,
            "First watchdog to set the dump signal", 607, False,
        ),
        Torch(
            "2.6", "2.4", True, _LONG_PREFIX, _NEW_PROGRESS, True,
            "Broadcasting flight-recorder dump signal", 632, False,
        ),
        Torch(
            "2.8", "2.9", True, _LONG_PREFIX, _NEW_PROGRESS, True,
            "First PG on this rank to signal dumping.", 685, True,
        ),
        Torch(
            "2.13", "2.10", True, _LONG_PREFIX, _NEW_PROGRESS, True,
            "First PG on this rank to signal dumping.", 733, True,
        ),
    )
}  # fmt: skip
