"""Where no recorded call waits: what stacks, logs and exit lists alone have to say."""

from __future__ import annotations

from rankandfile.reason.causes import finders
from rankandfile.reason.facts import Facts
from rankandfile.reason.waits.graph import NO_WAIT

from .finding import Finding


def settled(facts: Facts) -> Finding | None:
    every = (find(facts, NO_WAIT) for find in finders("job"))
    return next((finding for finding in every if finding is not None), None)
