"""Where evidence and code agree on a more exact cause than the evidence alone had.

A call was skipped or added, or another one made, or a rank left early, so the evidence says. The code can show why:

| the code shows | then it is |
| --- | --- |
| a handler swallowed what was raised in between (not for a rank that left) | swallowed_exception |
| the decision raises, and no handler is around: what came after was a tear-down (not for a rank that left) | raised |
| the decision is on the rank itself (not for a rank that left) | rank_conditional |
| the loop over the rank's own share of the data ended, and nothing else varies | uneven_inputs |

Nothing else is changed: a cause that the evidence established by itself stays. That ranks took two branches is said
by the evidence, too, where it shows a `try` and its `finally`.
"""

from __future__ import annotations

from rankandfile.model.heuristics import Heuristic
from rankandfile.source.lines.found_line import FoundLine

#: A decision on the rank itself is not far from where the rank is asked for.
_DIRECT = 3
_CAUGHT = Heuristic("swallowed in the code", "a handler around what a rank left out swallowed an exception")
_RAISES = Heuristic(
    "raised in the code", "a decision that raises ended the rank; what it left out is a tear-down"
)
_SHARE = Heuristic("uneven in the code", "a loop over a rank's own share of the data ended early")
_OWN_RANK = Heuristic("rank-conditional in the code", "a decision on the rank itself made it")
_PATHS = {"skipped_collective", "extra_collective", "different_collective"}


def exact_cause(cause: str, found: FoundLine) -> str | None:
    """The cause that evidence and code agree on; None where it is the given one, or the code shows none."""
    shown = _shown(cause, found)
    return shown if shown != cause else None


def _shown(cause: str, found: FoundLine) -> str | None:
    if (
        cause not in _PATHS | {"early_exit", "rank_conditional"}
        or found.divergence is None
        or not found.divergence.settled
    ):
        return None
    if found.kind == "caught":
        return "swallowed_exception" if cause in _PATHS and not _CAUGHT.off else None
    if found.kind == "share":
        return None if _SHARE.off else "uneven_inputs"
    if found.kind != "decision" or found.decision is None or found.reason is None:
        return None
    if found.reason.level != "varying":
        return None
    if found.raises and cause != "early_exit" and not _RAISES.off:
        return "raised"
    if cause == "rank_conditional":
        return None
    if found.decision.condition.kind == "for" and found.reason.source == "shard_length":
        return None if _SHARE.off else "uneven_inputs"
    if cause in _PATHS and found.reason.source == "rank_api" and len(found.reason.chain) <= _DIRECT:
        return None if _OWN_RANK.off else "rank_conditional"
    return None
