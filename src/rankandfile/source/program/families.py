"""A class of the program, and the classes that derive from it: what `self` may be in its methods."""

from __future__ import annotations

from .kept import kept
from .modules import Program
from .names import Class, lineage

#: Of a large tree, the first.
_MOST_FILES = 1500
_MOST_CLASSES = 12


def family(cls: Class) -> list[Class]:
    """The class first."""
    return [cls, *_derived(cls.module.program).get(cls, [])[:_MOST_CLASSES]]


@kept
def _derived(program: Program) -> dict[Class, list[Class]]:
    found: dict[Class, list[Class]] = {}
    for module in filter(None, map(program.module, program.paths[:_MOST_FILES])):
        for node in module.classes.values():
            one = Class(module, node)
            for above in lineage(one)[1:] if node.bases else ():
                found.setdefault(above, []).append(one)
    return found
