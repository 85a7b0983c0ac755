"""A class of the program, and the classes that derive from it: what `self` may be in its methods."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from .kept import kept
from .modules import Program
from .names import Class, lineage

_MOST_CLASSES = 12


def family(cls: Class) -> Iterator[Class]:
    """The class first: who finds in it what is asked for reads no other file."""
    yield cls
    yield from islice(_derived(cls.module.program).get(cls, ()), _MOST_CLASSES)


@kept
def _derived(program: Program) -> dict[Class, list[Class]]:
    found: dict[Class, list[Class]] = {}
    for module in program.modules:
        for node in module.classes.values():
            one = Class(module, node)
            for above in lineage(one)[1:] if node.bases else ():
                found.setdefault(above, []).append(one)
    return found
