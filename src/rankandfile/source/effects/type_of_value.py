"""Tensors that get their type from a Python value: an int makes int64, a float float32, a number of NumPy's its own."""

from __future__ import annotations

import ast

from rankandfile.source.dependence.reaching_assignments import reaching
from rankandfile.source.dependence.syntax import argument, dotted
from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import External, resolve
from rankandfile.source.registry.tables import sanitiser

from .event import Event

_MADE_OF_VALUES = ("torch.tensor", "torch.as_tensor")
_OF_ONE_TYPE = {"int", "float", "len", "bool", "sum"}


def type_of_value(function: Function, event: Event) -> ast.Call | None:
    """The `torch.tensor(...)` without a type that a collective in place is called on, where nothing in the code says of
    which type its value is."""
    rule = sanitiser(event.name)
    if rule is None or not rule.in_place or not isinstance(event.site, ast.Call):
        return None
    tensor = argument(event.site, *rule.in_place)
    values: list[ast.expr] = [tensor] if tensor is not None else []
    if (variable := dotted(tensor)) is not None:
        flow = reaching(function)
        found = flow.of(variable, flow.nodes(event.site))
        values = [d.value for d in found if d.how == "assign" and not d.path and d.value is not None]
    for value in values:
        if isinstance(value, ast.Call) and value.args and argument(value, 1, "dtype") is None:
            target = resolve(function, value.func)
            if isinstance(target, External) and target.dotted in _MADE_OF_VALUES:
                return value if _is_open(value.args[0]) else None
    return None


def _is_open(value: ast.expr) -> bool:
    """Whether nothing in the code says of which type the value is."""
    if isinstance(value, (ast.List, ast.Tuple)):
        return bool(value.elts) and all(_is_open(each) for each in value.elts)
    if isinstance(value, ast.IfExp) and isinstance(value.body, ast.Constant):
        return not isinstance(value.orelse, ast.Constant) or type(value.body.value) is not type(
            value.orelse.value
        )
    if isinstance(value, ast.Call):
        return dotted(value.func) not in _OF_ONE_TYPE
    return not isinstance(value, (ast.Constant, ast.Compare, ast.BoolOp, ast.UnaryOp))
