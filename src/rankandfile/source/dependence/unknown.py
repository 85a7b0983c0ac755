"""A function of which nothing is known: what goes in may come out, unless it may agree on it inside."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from .frame import Frame
from .syntax import arguments
from .value import UNKNOWN, Value, join

if TYPE_CHECKING:
    from .evaluate import Evaluator


_MAY_AGREE = re.compile(
    r"reduce|gather|broadcast|bcast|sync|agree|vote|consensus|allred|barrier|all_ranks|any_rank"
)


def by_arguments(ev: Evaluator, e: ast.Call, frame: Frame, name: str) -> Value:
    """Nothing is known of the function: what goes in may come out, unless it may agree on it inside."""
    return cautious(join([UNKNOWN, ev.all(arguments(e), frame)]), name)


def cautious(value: Value, name: str) -> Value:
    return UNKNOWN if value.differs and _MAY_AGREE.search(name) else value
