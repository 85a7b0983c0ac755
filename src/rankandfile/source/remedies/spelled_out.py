"""A test with what the program's own properties ask written out: `not reply.usable`, where `usable` returns
`self.row is not None`, is `not reply.row is not None`."""

from __future__ import annotations

import ast
import copy

from .place_to_mend import PlaceToMend


def spelled_out(place: PlaceToMend, test: ast.expr) -> ast.expr:
    """The test itself where it asks no property, or one of which there are several kinds."""
    return _Spelling(place).visit(copy.deepcopy(test)) if _asks_attributes(test) else test


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
        return _Instead(own, node.value).visit(copy.deepcopy(said)) if own else node


class _Instead(ast.NodeTransformer):
    """One expression for a name."""

    def __init__(self, name: str, expression: ast.expr) -> None:
        self._name, self._expression = name, expression

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return copy.deepcopy(self._expression) if node.id == self._name else node
