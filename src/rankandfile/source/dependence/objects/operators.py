"""What a class of the tree makes of Python's own signs: whether its object is true, and what it answers to `==`, `<`,
`in` and `+`.

In: an expression that a sign is put to. Out: what the methods that Python calls for it return, on all ranks together;
uniform where it is no object of such a class.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rankandfile.source.dependence.frame import Frame
from rankandfile.source.dependence.returned import body
from rankandfile.source.dependence.syntax import text
from rankandfile.source.dependence.value import UNKNOWN, Value, join
from rankandfile.source.program.names import method

if TYPE_CHECKING:
    from rankandfile.source.dependence.evaluate import Evaluator

_TRUTH = ("__bool__", "__len__")
"""The first that there is."""
_COMPARES: dict[type[ast.cmpop], tuple[str, ...]] = {
    ast.Eq: ("__eq__",),
    ast.NotEq: ("__ne__", "__eq__"),
    ast.Lt: ("__lt__", "__gt__"),
    ast.LtE: ("__le__", "__ge__"),
    ast.Gt: ("__gt__", "__lt__"),
    ast.GtE: ("__ge__", "__le__"),
    ast.In: ("__contains__", "__iter__"),
    ast.NotIn: ("__contains__", "__iter__"),
}
_WORDS = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.FloorDiv: "floordiv", ast.Mod: "mod",
    ast.MatMult: "matmul", ast.BitOr: "or", ast.BitAnd: "and", ast.BitXor: "xor",
}  # fmt: skip
_MAY_BE_ONE = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Await, ast.NamedExpr)


def true(ev: Evaluator, e: ast.expr, frame: Frame) -> Value:
    """Whether the object counts as true."""
    return join(_answers(ev, e, frame, _TRUTH))


def compared(ev: Evaluator, e: ast.Compare, frame: Frame) -> Value:
    sides = [e.left, *e.comparators]
    found: list[Value] = []
    for op, left, right in zip(e.ops, sides, sides[1:], strict=False):
        names = _COMPARES.get(type(op), ())
        for side in [right] if isinstance(op, (ast.In, ast.NotIn)) else [left, right]:
            found.extend(_answers(ev, side, frame, names))
    return join(found)


def worked_out(ev: Evaluator, e: ast.BinOp, frame: Frame) -> Value:
    word = _WORDS.get(type(e.op), "")
    names = (f"__{word}__", f"__r{word}__") if word else ()
    return join(value for side in (e.left, e.right) for value in _answers(ev, side, frame, names))


def _answers(ev: Evaluator, e: ast.expr, frame: Frame, names: tuple[str, ...]) -> Iterator[Value]:
    for cls in ev.objects.classes(e, frame) if isinstance(e, _MAY_BE_ONE) else ():
        made = next((found for name in names if (found := method(cls, name)) is not None), None)
        if made is not None:
            inside = Frame(made, None, frame.depth + 1, (*frame.key, e))
            yield UNKNOWN if inside.too_deep else body(ev, made, inside, (), f"{text(e, 40)}.{made.name}()")
