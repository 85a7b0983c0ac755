"""The value of a decision: what it is that decides, by the kind of statement."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from rankandfile.source.flow.condition import Condition

from . import failures
from .frame import Frame
from .syntax import EACH, LEN
from .value import UNIFORM, UNKNOWN, Value, join

if TYPE_CHECKING:
    from .evaluate import Evaluator


def of_condition(ev: Evaluator, condition: Condition, frame: Frame) -> Value:
    """How the outcome of the condition differs between ranks."""
    node = condition.node
    if isinstance(node, ast.ExceptHandler):
        return failures.handled(ev, node, frame)
    if condition.kind == "with":
        return failures.swallowed(ev, condition, frame)
    if condition.kind == "call":
        return failures.raised(ev, node, frame)
    if isinstance(node, ast.match_case):
        return failures.subject(ev, node, frame)
    if condition.kind == "for" or "no more items" in (condition.here, condition.there):
        return rounds(ev, node, frame)
    return ev.value(node, frame) if isinstance(node, ast.expr) else UNKNOWN


def rounds(ev: Evaluator, iterable: ast.AST, frame: Frame) -> Value:
    """How often a loop goes round, and in which order."""
    if not isinstance(iterable, ast.expr):
        return UNKNOWN
    length = ev.value(iterable, frame, (LEN,))
    if length.differs:
        return length
    return join([length, ordered(ev, iterable, frame)])


def ordered(ev: Evaluator, iterable: ast.expr, frame: Frame) -> Value:
    """Only what is about the order of the items counts, not the items."""
    items = ev.value(iterable, frame, (EACH,))
    key = isinstance(iterable, ast.Call) and any(k.arg == "key" for k in iterable.keywords)
    return items if items.source == "set_order" or (key and items.differs) else UNIFORM
