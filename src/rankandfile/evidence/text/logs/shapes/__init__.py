"""The catalogue: one module per family, each with a table of its shapes, `SHAPES`, found by being here.

Where two shapes claim the same words, the one whose family has the smaller `ORDER` wins; families without one come
after those, and before `python`.
"""

from __future__ import annotations

from functools import cache

from rankandfile import listing
from rankandfile.evidence.text.logs.shape import Shape

SHAPES: tuple[Shape, ...] = tuple(
    shape for family in listing.members(__name__, "SHAPES", tuple) for shape in family
)


@cache
def by_needle() -> tuple[tuple[str, tuple[Shape, ...]], ...]:
    """Every literal with the shapes that it announces."""
    found: dict[str, list[Shape]] = {}
    for shape in SHAPES:
        for literal in shape.literals:
            found.setdefault(literal, []).append(shape)
    return tuple((literal, tuple(shapes)) for literal, shapes in found.items())
