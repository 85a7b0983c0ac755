"""Loops that go over what a rank has of the data, and whose end is the end of it.

Not those of a number, nor those over what the program has put under keys, or over the parts of a model: that there are
less of them is no end of the data.
"""

from __future__ import annotations

import ast

from rankandfile.source.dependence.syntax import ancestors, is_range
from rankandfile.source.lines.divergence import Side
from rankandfile.source.lines.found_line import FoundLine
from rankandfile.source.lines.of_two_cohorts.filled_collection import kept_under_keys, parts_of_a_model

from .ways import way_of_each


def over_own_items(found: FoundLine) -> bool:
    """The loop goes over what this rank has of the data, or has left of it."""
    assert found.decision is not None and found.reason is not None
    items = found.decision.condition.node
    place = found.decision.place
    if isinstance(items, ast.expr) and (
        kept_under_keys(place, items) or parts_of_a_model(place.function, items)
    ):
        return False
    return found.reason.source == "shard_length" or (
        found.reason.source == "local_data" and not is_range(items)
    )


def gone_round_more_often(found: FoundLine) -> bool:
    """The decision is about what a loop around it has gathered, and that differs as some have gone round more often."""
    assert found.decision is not None and found.reason is not None
    function, condition = found.decision.place.function, found.decision.condition
    upon = {step.upon for step in found.reason.chain if step.upon is not None}
    return any(
        isinstance(loop, ast.For) and (function.module.path, loop.lineno) in upon and not is_range(loop.iter)
        for loop in ancestors(function.module, condition.node)
    )


def ran_out(found: FoundLine) -> Side | None:
    """The side for which a loop over the rank's own items was over, where the other went round once more."""
    decision, divergence = found.decision, found.divergence
    if found.kind != "decision" or decision is None or divergence is None or found.reason is None:
        return None
    condition = decision.condition
    if condition.kind != "for" or found.reason.level != "varying" or not over_own_items(found):
        return None
    ways = way_of_each(decision, divergence)
    return ways.get("exhausted") if "another round" in ways else None
