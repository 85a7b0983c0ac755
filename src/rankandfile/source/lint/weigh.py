"""How sure it is that ranks part: an error, a warning, a hint, or nothing that may be said."""

from __future__ import annotations

import ast

from rankandfile.model.lint import Severity
from rankandfile.source.dependence import Reason
from rankandfile.source.effects.partings import Parting

from .rule import RANK

_FAR = 9
_OR_NOT = " or not, as `"


def severity(parting: Parting) -> Severity | None:
    """None where the members of the collective's group all decide alike, or nothing is known."""
    reason = parting.reason
    if reason.level not in ("axes", "varying") or not _within(parting, reason):
        return None
    if not parting.event.sure or parting.leaving == "raise" or _far(parting, reason):
        return "hint"
    if isinstance(parting.owner, ast.ExceptHandler) or reason.source not in RANK:
        return "warning"
    return "warning" if parting.calls else "error"


def _within(parting: Parting, reason: Reason) -> bool:
    """Whether the decision can differ between members of the group that the collective is issued on."""
    group = frozenset(parting.group.split("+")) if parting.group else frozenset()
    if reason.level == "axes":
        return not group or bool(reason.axes & group)
    if reason.source in RANK:
        # Whoever is no member of a group must not call: the test may be about just that.
        return not group
    return not group or not group <= reason.agreed


def _far(parting: Parting, reason: Reason) -> bool:
    """A long way from the source, over decisions, says little about what a rank really meets."""
    doubts = sum(_OR_NOT in step.words for step in reason.chain)
    if reason.source in RANK and not parting.certain:
        return len(reason.chain) > 2 or doubts > 0
    return len(reason.chain) > _FAR or doubts > 1
