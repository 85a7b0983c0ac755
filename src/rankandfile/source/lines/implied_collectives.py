"""Collectives that a line does not name: `loss.backward()`, a sharded forward, a property that broadcasts."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from rankandfile.model.heuristics import heuristic
from rankandfile.source.effects.event import event
from rankandfile.source.program.modules import Function
from rankandfile.source.registry.tables import TABLE


@heuristic("implied collectives", "a backward pass or a sharded forward is named for the collective in it")
def implicit(call: ast.expr | None, function: Function | None, frames: Sequence[str] = ()) -> str | None:
    """The collective that a call implies, in words ("DDP reduces gradients here"); None if none is known.

    `call` (or a property that is read) stands in `function`; `frames` are the names of the framework's functions below
    it in a stack, outermost first, where a stack was seen. Either is enough.
    """
    for name in frames:
        words = TABLE.internals.get(name)
        if words is not None:
            return words
    if call is None or function is None:
        return None
    try:
        found = event(call, function)
    except RecursionError:
        return None
    return None if found is None else found.words
