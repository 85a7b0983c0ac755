"""The catalogue: one module per family, each a table. Earlier shapes win where two claim the same words."""

from __future__ import annotations

from functools import cache

from rankandfile.evidence.text.logs.shape import Shape
from rankandfile.evidence.text.logs.shapes import (
    accelerator,
    agent,
    collectives,
    faulthandler,
    gloo,
    heartbeat,
    kernel,
    launchers,
    loader,
    nccl,
    nccl_setup,
    python,
    ras,
    slurm,
    store,
    watchdog,
)

FAMILIES = (
    watchdog, heartbeat, collectives, nccl, nccl_setup, ras, gloo, store, agent, loader, launchers, slurm, kernel,
    accelerator, faulthandler, python,
)  # fmt: skip

SHAPES: tuple[Shape, ...] = tuple(shape for family in FAMILIES for shape in family.SHAPES)


@cache
def by_needle() -> tuple[tuple[str, tuple[Shape, ...]], ...]:
    """Every literal with the shapes that it announces."""
    found: dict[str, list[Shape]] = {}
    for shape in SHAPES:
        for literal in shape.literals:
            found.setdefault(literal, []).append(shape)
    return tuple((literal, tuple(shapes)) for literal, shapes in found.items())
