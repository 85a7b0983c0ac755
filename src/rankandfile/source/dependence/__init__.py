"""Which values can differ between ranks, and why."""

from __future__ import annotations

import ast

from rankandfile.source.flow import Condition
from rankandfile.source.program import Function, Program

from .reason import UNKNOWN, Level, Reason, Step

__all__ = ["Level", "Reason", "Step", "why"]


def why(program: Program, function: Function, condition: Condition | ast.expr) -> Reason:
    """Why the decision can come out differently on two ranks; level "unknown" where nothing supports a claim."""
    node = condition.node if isinstance(condition, Condition) else condition
    if all(isinstance(part, (ast.Constant, ast.expr_context)) for part in ast.walk(node)):
        return Reason("uniform")
    return UNKNOWN
