"""What a framework brings into a class of the program: the classes it derives from, and what its hooks are given."""

from __future__ import annotations

from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import Class, external_bases
from rankandfile.source.registry.entry import Source
from rankandfile.source.registry.tables import TABLE, canonical


def outside(cls: Class) -> list[str]:
    """The classes outside the tree that a class derives from."""
    return [canonical(name) for name in sorted(external_bases(cls))]


def hook_parameter(function: Function, name: str) -> str | Source | None:
    """What a framework gives a method of a class derived from one of its own: a class's name, or a kind of value."""
    if function.owner is None:
        return None
    for base in outside(Class(function.module, function.owner)):
        given = TABLE.hooks.get(base, {}).get(name)
        if given is not None:
            return given
    return None
