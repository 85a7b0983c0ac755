"""All ranks made the same call, with different sizes."""

from __future__ import annotations

from rankandfile.reason.divergence.find import find_divergence
from rankandfile.reason.facts import Facts
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import WaitEnd

from .arguments import difference, finding

CAUSE = "size_mismatch"


def find(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    p = find_divergence(facts, wait_end)
    if p is None or difference(facts, p) != "size":
        return None
    return finding(facts, wait_end, p, CAUSE, "size")
