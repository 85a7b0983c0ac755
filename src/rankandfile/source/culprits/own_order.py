"""Whether each rank puts the same calls in an order of its own.

By a loop over its own items, or by a test whose two arms make the same calls in another order.
"""

from __future__ import annotations

import ast

from rankandfile.source.dependence.syntax import dotted, if_of
from rankandfile.source.lines.found_line import FoundLine


def own_order(found: FoundLine) -> bool:
    if found.reason is None or found.reason.level != "varying":
        return False
    return found.kind == "order" or _turned_round(found)


def _turned_round(found: FoundLine) -> bool:
    decision = found.decision
    test = if_of(decision.place.function.node, decision.condition.node) if decision is not None else None
    if found.kind != "decision" or test is None or not test.orelse:
        return False
    one, other = (_called(arm) for arm in (test.body, test.orelse))
    return len(one) > 1 and one != other and sorted(one) == sorted(other)


def _called(arm: list[ast.stmt]) -> list[str]:
    """What is called in it, as it is written, in the order in which it stands there."""
    calls = [node for each in arm for node in ast.walk(each) if isinstance(node, ast.Call)]
    calls.sort(key=lambda call: (call.lineno, call.col_offset))
    return [name for call in calls if (name := dotted(call.func)) is not None]
