"""Where no recorded call waits: what stacks, logs and exit lists alone have to say."""

from __future__ import annotations

from collections.abc import Callable

from rankandfile.reason.causes import (
    barrier_named,
    init_stuck,
    teardown_only,
    transfers,
)
from rankandfile.reason.facts import Facts

from .finding import Finding

#: Who is asked first is believed first.
_SETTLE: tuple[Callable[[Facts], Finding | None], ...] = (
    teardown_only.settle,
    init_stuck.settle,
    barrier_named.settle,
    transfers.settle,
)


def without_calls(facts: Facts) -> list[Finding]:
    return [finding for settle in _SETTLE if (finding := settle(facts)) is not None]
