"""Reduce first, then decide: the value that the test looks at is about to be made the same everywhere anyway."""

from __future__ import annotations

import ast

from rankandfile.source.remedies.patch import Refusal
from rankandfile.source.remedies.pattern import PATHS, Draft, Pattern, spelling
from rankandfile.source.remedies.place_to_mend import PlaceToMend, leaves, names
from rankandfile.source.remedies.words import quoted

_IN_PLACE = {"all_reduce", "broadcast"}
_KEEP_SCALE = {"AVG", "MAX", "MIN", "BAND", "BOR"}
_OF_NUMBERS = {"isnan", "isinf", "isfinite"}


def make(place: PlaceToMend, plain: bool) -> Draft | Refusal | None:
    node = place.node
    if not isinstance(node, ast.If) or node.orelse or leaves(node.body) not in ("return", "continue"):
        return None
    moved: list[ast.stmt] = []
    for statement in place.rest():
        moved.append(statement)
        value = _made_equal(statement)
        if value and value in names(node.test):
            if _adds_up(statement) and not _asks_only_for_numbers(node.test):
                return None  # of a sum over N ranks, a threshold for one rank's value means something else
            break
        if not isinstance(statement, ast.Assign) or any(isinstance(n, ast.Call) for n in ast.walk(statement)):
            return None
        if {t.id for t in statement.targets if isinstance(t, ast.Name)} & names(node):
            return None  # the branch uses the old value
    else:
        return None
    edits = spelling(place, plain).edits
    edits.before(node, *(place.module.lines_of(statement) for statement in moved))
    for statement in moved:
        edits.remove(statement)
    return Draft(
        edits,
        "Reduce first, then decide",
        f"{quoted(place.module, node.test)} looks at a value before {quoted(place.module, moved[-1])} makes "
        "it the same on all ranks of the group. The call comes first now, so that every rank decides alike.",
    )


def _made_equal(statement: ast.stmt) -> str:
    """The variable that a collective in this statement makes the same everywhere; empty if it is none such."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in _IN_PLACE:
        later = any(k.arg == "async_op" for k in call.keywords)
        if call.args and isinstance(call.args[0], ast.Name) and not later:
            return call.args[0].id
    return ""


def _adds_up(statement: ast.stmt) -> bool:
    """Whether the value comes out of the collective larger than it went in: a sum, as by default, or a product."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or ast.unparse(call.func).rpartition(".")[2] != "all_reduce":
        return False
    given = [*call.args[1:2], *(k.value for k in call.keywords if k.arg == "op")]
    return not given or ast.unparse(given[0]).rpartition(".")[2].upper() not in _KEEP_SCALE


def _asks_only_for_numbers(test: ast.expr) -> bool:
    """Whether it asks only if the value is a number at all: a NaN or an infinity on one rank is one in the sum, too."""
    if any(isinstance(node, ast.Compare) for node in ast.walk(test)):
        return False
    called = {
        ast.unparse(node.func).rpartition(".")[2] for node in ast.walk(test) if isinstance(node, ast.Call)
    }
    return bool(called & _OF_NUMBERS) and called <= _OF_NUMBERS | {
        "item",
        "any",
        "all",
        "bool",
        "float",
        "sum",
    }


ORDER = 150
PATTERN = Pattern("reduce_first", PATHS, make)
