"""Whether a statement, once it is run, comes to a part of itself in any case, and once."""

from __future__ import annotations

import ast

from rankandfile.source.remedies.place_to_mend import PlaceToMend


def may_be_left_out(place: PlaceToMend, part: ast.expr, statement: ast.stmt) -> bool:
    """A test or a loop of its own within the statement says whether, and how often, it is asked for."""
    below: ast.AST = part
    for outer in place.module.enclosing(part):
        match outer:
            case ast.BoolOp():
                always = below is outer.values[0]
            case ast.IfExp() | ast.If():
                always = below is outer.test
            case ast.For() | ast.AsyncFor() | ast.comprehension():
                always = below is outer.iter
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                always = below is outer.generators[0]
            case ast.Lambda() | ast.While() | ast.Try() | ast.FunctionDef():
                always = False
            case _:
                always = True
        if not always or outer is statement:
            return not always
        below = outer
    return False
