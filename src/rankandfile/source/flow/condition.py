"""What a person reads about a decision: where it is written, and what each outcome means."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal[
    "if",
    "while",
    "for",
    "try",
    "except",
    "match",
    "with",
    "assert",
    "ifexp",
    "boolop",
    "comprehension",
    "call",
]
Exit: TypeAlias = Literal["return", "raise", "end"]


@dataclass(frozen=True)
class Point:
    """A place finer than a line: the call on it whose function has this name, as the next frame of a stack tells."""

    line: int
    call: str | None = None


@dataclass(frozen=True)
class Condition:
    """A decision that sends control to one place or to another."""

    line: int
    text: str
    """The line as written; the lines of a longer header joined."""
    kind: Kind
    here: str
    """What the outcome that leads to the first place means: "taken", "exhausted", "raised" ..."""
    there: str
    node: ast.AST
    """What decides: the test, the iterator, the handler of an exception, the call that raises."""
