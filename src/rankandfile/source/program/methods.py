"""Methods by their name alone: for an object of which nothing says what it is."""

from __future__ import annotations

from .kept import kept
from .modules import Function, Program

#: Of a name that so many classes have, nobody can tell which is meant.
_MOST = 4


def methods_named(program: Program, name: str) -> list[Function]:
    """All methods of that name in the program; none where too many have it."""
    found = _by_name(program).get(name, [])
    return found if len(found) <= _MOST else []


@kept
def _by_name(program: Program) -> dict[str, list[Function]]:
    found: dict[str, list[Function]] = {}
    for module in filter(None, map(program.module, program.paths)):
        for function in module.functions:
            if function.owner is not None:
                found.setdefault(function.name, []).append(function)
    return found
