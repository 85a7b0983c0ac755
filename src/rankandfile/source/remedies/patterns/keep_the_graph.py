"""Keep the graph: what is made from nothing hangs on the input all the same, so that its backward pass is run."""

from __future__ import annotations

import ast

from rankandfile.source.dependence.syntax import dotted
from rankandfile.source.effects.fresh_tensors import given_up
from rankandfile.source.remedies.pattern import PATHS, Draft, Pattern, spelling
from rankandfile.source.remedies.place_to_mend import PlaceToMend
from rankandfile.source.remedies.reach import collective
from rankandfile.source.remedies.words import quoted


def make(place: PlaceToMend, plain: bool) -> Draft | None:
    made = made_from_nothing(place)
    source = _like(made) if isinstance(made, ast.Call) else None
    if made is None or source not in place.in_program.parameters:
        return None
    say = spelling(place, plain)
    say.edits.expression(made, f"{place.module.source(made)} + 0.0 * {source}.sum()")
    return Draft(
        say.edits,
        "Keep the graph",
        f"{quoted(place.module, made)} is made from nothing, so that a backward pass ends there, and the collectives "
        f"that it would make further back are left out on this rank. Now it hangs on `{source}`, with nothing added.",
        "What lies between the two still gets no gradient: count that as zero.",
    )


def made_from_nothing(place: PlaceToMend) -> ast.expr | None:
    """The tensor without a graph that one answer of the test gives, where neither answer makes a collective itself: all
    that it decides is the graph."""
    node = place.node
    if not isinstance(node, (ast.If, ast.IfExp)) or any(map(collective, place.events(place.concerned()))):
        return None
    tests = (ast.dump(node.test), node.test.lineno)
    found = (one for one in given_up(place.in_program) if (ast.dump(one.test), one.test.lineno) == tests)
    return next((one.what for one in found), None)


def _like(made: ast.Call) -> str | None:
    """The name of the tensor that the new one is made like: `x` of `x.new_zeros(...)`, of `torch.zeros_like(x)`."""
    if not isinstance(made.func, ast.Attribute):
        return None
    if made.func.attr.startswith("new_"):
        return dotted(made.func.value)
    return dotted(made.args[0]) if made.func.attr.endswith("_like") and made.args else None


ORDER = 65
PATTERN = Pattern("keep_the_graph", PATHS, make)
