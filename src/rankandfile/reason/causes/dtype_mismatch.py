"""All ranks made the same call, with different dtypes."""

from __future__ import annotations

from rankandfile.reason.divergence.find import parted
from rankandfile.reason.facts import Facts
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import Root

from .arguments import difference, finding

CAUSE = "dtype_mismatch"


def find(facts: Facts, root: Root) -> Finding | None:
    p = parted(facts, root)
    if p is None or difference(facts, p) != "dtype":
        return None
    return finding(facts, root, p, CAUSE, "dtype")
