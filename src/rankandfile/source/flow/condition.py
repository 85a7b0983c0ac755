"""What a person reads about a decision: where it is written, and what each outcome means."""

from __future__ import annotations

import ast
from typing import Literal, TypeAlias

from msgspec import Struct

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
Exit: TypeAlias = Literal["return", "raise", "end", "own"]
NO_MORE_ITEMS = "no more items"


class Point(Struct, frozen=True):
    """A place finer than a line: the call on it whose function has this name, as the next frame of a stack tells."""

    line: int
    call: str | None = None


class Condition(Struct, frozen=True):
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
    after: Point | None = None
    """What control has got through in any case: an exception came from behind it."""

    @property
    def of_items(self) -> bool:
        """A loop's, whether items are left; and not whether an item is kept."""
        comprehension = self.kind == "comprehension" and NO_MORE_ITEMS in (self.here, self.there)
        return self.kind == "for" or comprehension


def tested(lines: list[str], line: int, test: ast.expr) -> Condition:
    """That the test of this line comes out true, or does not."""
    return Condition(line, lines[line - 1].strip(), "if", "taken", "not taken", test)


def written(lines: list[str], owner: ast.AST, line: int) -> str:
    """The condition as it stands in the file, its header on one line."""
    last = max(line, _last(owner) or line)
    parts = [part.strip() for part in lines[line - 1 : min(last, line + 30)]]
    return " ".join(part for part in parts if part)


def _last(owner: ast.AST) -> int | None:
    """The last line of what stands in front of the colon."""
    if isinstance(owner, (ast.If, ast.While)):
        return owner.test.end_lineno
    if isinstance(owner, (ast.For, ast.AsyncFor)):
        return owner.iter.end_lineno
    if isinstance(owner, (ast.With, ast.AsyncWith)):
        return owner.items[-1].context_expr.end_lineno
    if isinstance(owner, ast.ExceptHandler):
        return owner.type.end_lineno if owner.type else owner.lineno
    if isinstance(owner, ast.match_case):
        return (owner.guard or owner.pattern).end_lineno
    return owner.end_lineno if isinstance(owner, ast.Assert) else None
