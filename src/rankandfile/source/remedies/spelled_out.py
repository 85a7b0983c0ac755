"""A test with what the program's own properties ask written out: `not reply.usable`, where `usable` returns
`self.row is not None`, is `not reply.row is not None`."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Mapping

from .place_to_mend import PlaceToMend
from .reach import bound, resolve


def spelled_out(place: PlaceToMend, test: ast.expr) -> ast.expr:
    """The test itself where it asks no property, or one of which there are several kinds."""
    return _Spelling(place).visit(copy.deepcopy(test)) if _asks_attributes(test) else test


def answers_of(place: PlaceToMend, call: ast.Call) -> Iterator[ast.expr]:
    """What functions that do nothing but answer return to this call, in its own words."""
    for one in resolve(place.code, place.module, call.func):
        said = one.only_answer
        if said is None:
            continue
        given = bound(one, call)
        if one.owner is not None and isinstance(call.func, ast.Attribute) and one.node.args.args:
            given[one.node.args.args[0].arg] = call.func.value
        yield _Instead(given).visit(copy.deepcopy(said))


def _asks_attributes(test: ast.expr) -> bool:
    return any(isinstance(part, ast.Attribute) for part in ast.walk(test))


class _Spelling(ast.NodeTransformer):
    def __init__(self, place: PlaceToMend) -> None:
        self._place = place

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        asked = self._place.code.named(self._place.module, node.attr)
        answers = {ast.dump(said): (one, said) for one in asked if (said := one.only_answer) is not None}
        if len(answers) != 1 or not all(one.is_property for one in asked):
            return node
        ((one, said),) = answers.values()
        own = one.node.args.args[0].arg if one.node.args.args else ""
        return _Instead({own: node.value}).visit(copy.deepcopy(said)) if own else node


class _Instead(ast.NodeTransformer):
    """Expressions for names."""

    def __init__(self, given: Mapping[str, ast.expr]) -> None:
        self._given = given

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return copy.deepcopy(self._given.get(node.id, node))
