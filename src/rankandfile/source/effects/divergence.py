"""One decision upon which ranks can diverge, with what follows one outcome only."""

from __future__ import annotations

import ast
from functools import cached_property
from typing import Literal, TypeAlias

from msgspec import Struct

from rankandfile.source.dependence import Reason, why
from rankandfile.source.flow.condition import Condition
from rankandfile.source.flow.graph import Node
from rankandfile.source.program.modules import Function

from .event import Event
from .sequences import Open

Leaving: TypeAlias = Literal["", "return", "break", "continue", "raise", "exit", "loop", "caught"]


SWALLOWS = (ast.ExceptHandler, ast.With, ast.AsyncWith)
"""Owners of divergences at which one rank's exception ends."""


class PossibleDivergence(Struct, frozen=True, eq=False, dict=True):
    """A decision of which one outcome issues a collective that the other does not."""

    function: Function
    condition: Condition
    owner: ast.AST
    """The statement or expression that a person would call the condition."""
    event: Event
    """The first collective that is missing."""
    calls: Open
    """The calls through which it is reached; none where it stands in the function itself."""
    when: bool
    """The outcome of the test after which it is issued."""
    leaving: Leaving
    """How the others get past it."""
    group: str
    """The group that it is issued on; empty: all ranks of the job."""
    instead: Event | None
    """What the others issue on the group where this is missing, if anything."""
    node: Node
    """The step that decides, or raises."""
    certain: bool = False
    """Some ranks of any job certainly decide one way, and others the other."""
    known: Reason | None = None
    """Why, where it does not lie in the function itself."""

    @cached_property
    def reason(self) -> Reason:
        """Why the decision can differ between ranks."""
        if self.known is not None:
            return self.known
        return why(self.function.module.program, self.function, self.condition)
