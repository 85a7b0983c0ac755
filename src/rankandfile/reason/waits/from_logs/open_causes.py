"""The causes that watchdogs' lines leave open, in the words that say what would have happened."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from rankandfile.model.diagnosis import Alternative
from rankandfile.reason.document import perhaps

Causes = Iterable[tuple[str, str]]
"""A cause, and what would have happened."""

BELOW_THE_HOSTS: Causes = (
    ("network_stalled", "All have begun it, and the network does not carry it."),
    ("gpu_stuck", "One member's device has not come to it."),
)
ANOTHER_CALL: Causes = (
    ("different_collective", "They made another call there, or one more or less before it."),
    ("dtype_mismatch", "They made that call with a tensor of another type, which no watchdog tells."),
)
IN_A_CIRCLE: Causes = (
    ("order_inversion", "Some of the ranks may make these calls in another order."),
    ("skipped_collective", "Some of the ranks may have left out a call before."),
)


def open_causes(
    causes: Causes, ranks: Collection[int] = (), decided_by: str = "dumps of all ranks"
) -> tuple[Alternative, ...]:
    return tuple(perhaps(cause, words, ranks, decided_by=decided_by) for cause, words in causes)
