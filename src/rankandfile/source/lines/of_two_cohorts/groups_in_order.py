"""Groups that a loop made and put into a table, where the loop goes in another order on one rank than on another.

    for name in self.by_speed(speeds):
        self.groups[name] = dist.new_group(everyone)

A group is known by how many were made before it: what the table has under one name is another group on that rank.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rankandfile.model.known.group_makers import MAKES_GROUPS
from rankandfile.source.dependence import why
from rankandfile.source.lines.arguments import Origin, given
from rankandfile.source.lines.call_paths import CallPath
from rankandfile.source.lines.divergence import CodeDivergence
from rankandfile.source.lines.found_line import FoundLine, Search
from rankandfile.source.lines.loop_order import in_order, loops_around
from rankandfile.source.program.called import called_name
from rankandfile.source.program.modules import Function
from rankandfile.source.program.places import SourcePlace, place_in


def made_in_order(search: Search, divergence: CodeDivergence) -> FoundLine | None:
    """The loop that made the group for which the culprit's call is."""
    made = _made(search, divergence.culprit.path)
    return (
        FoundLine(made.place, made.line, made.text, made.reason, divergence, kind="order") if made else None
    )


def _made(search: Search, path: CallPath) -> Origin | None:
    for depth, value in given(search.places, path, "group_mismatch"):
        place = search.places.find(path[depth])
        if place is None or not isinstance(value, ast.Subscript) or _own_key(search, place, value):
            continue
        for function, line in _filled(place.function, value.value):
            where = place_in(function, line)
            for loop in loops_around(where):
                if (found := in_order(search.places, where, loop, chosen=True)) is not None:
                    return found
    return None


def _own_key(search: Search, place: SourcePlace, value: ast.Subscript) -> bool:
    """Which entry of the table it is, is each rank's own already."""
    return why(search.program, place.function, value.slice).level == "varying"


def _filled(function: Function, table: ast.expr) -> Iterator[tuple[Function, int]]:
    """Where a group is made and put into the table: in the function, or in another method of its object."""
    name = ast.unparse(table)
    own = function.owner is not None and name.startswith("self.")
    others = [f for f in function.module.functions if f.owner is function.owner] if own else [function]
    for other in others:
        for node in other.nodes:
            if not (isinstance(node, ast.Assign) and _makes_a_group(node.value)):
                continue
            if any(_puts_into(target, name) for target in node.targets):
                yield other, node.lineno


def _makes_a_group(value: ast.expr) -> bool:
    names = (called_name(node) for node in ast.walk(value) if isinstance(node, ast.Call))
    return any(MAKES_GROUPS.search(name) for name in names)


def _puts_into(target: ast.expr, table: str) -> bool:
    return isinstance(target, ast.Subscript) and ast.unparse(target.value) == table
