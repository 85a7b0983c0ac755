"""Which torch wrote this, by its wording (log-line source numbers differ by build and say nothing)."""

from __future__ import annotations

from collections.abc import Iterable

_WORDINGS = (
    ("PG status: last enqueued work", ">= 2.6"),
    ("Stack trace of the failed collective", ">= 2.6"),
    ("First PG on this rank to signal dumping", ">= 2.7"),
    ("Flight Recorder debug info to", ">= 2.7"),
    ("detected by watchdog at work: ", "2.4, 2.5"),
    ("Timeout at NCCL work: ", "2.3-2.5"),
    ("a dump signal due to", ">= 2.5"),
    ("a dump signal from this local rank", "2.4"),
    ("First watchdog to set the dump signal", "2.4"),
    ("NCCL monitor thread timeout", "2.2"),
    ("Heartbeat monitor timed out!", "2.3, 2.4"),
    ("NCCL watchdog thread terminated", "<= 2.2"),
    ("TensorShape=[", "1.13"),
    ("destroy_process_group() was not called", ">= 2.6"),
    ("process group has NOT been destroyed", "2.3-2.5"),
)  # fmt: skip


def torch_of(texts: Iterable[str]) -> str | None:
    """The releases that the lines agree with, narrowest wording first; None where nothing tells."""
    found: dict[str, None] = {}
    for text in texts:
        for wording, releases in _WORDINGS:
            if wording in text and "CollectiveFingerPrint" not in text:
                found[releases] = None
        if len(found) > 4:
            break
    return "; ".join(sorted(found)) or None
