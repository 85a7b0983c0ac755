"""What a tool is: a name, what it is for, typed arguments, and a function of the bench."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

import msgspec

from rankandfile.agent.bench import Bench
from rankandfile.agent.result import Line, Page, page

#: Of one argument: a condition of a program is shorter. Python reads no number of more digits than some 4,000.
MOST_CHARACTERS = 4_000
_LONGEST_REFUSAL = 1_000
_MOST_LINES = 1 << 62


class ToolError(ValueError):
    """The question cannot be answered as it was asked; the text says how to ask."""


class Arguments(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What every tool takes."""

    cursor: int = 0
    """Where to go on: the number that a longer answer ended with."""


def schema_of(arguments: type[Arguments]) -> dict[str, Any]:
    """JSON Schema of a tool's arguments, on one level."""
    whole = msgspec.json.schema(arguments)
    defined: dict[str, Any] = whole.pop("$defs")
    own: dict[str, Any] = defined.pop(arguments.__name__)
    own.pop("title", None)
    own.pop("description", None)
    for name, told in field_docs(arguments).items():
        own["properties"][name]["description"] = told
    return own | ({"$defs": defined} if defined else {})


@dataclass(frozen=True)
class Tool:
    answer: Callable[[Bench, Any], Iterable[Line]]
    """Its name is the tool's, and its docstring says what the tool is for."""
    arguments: type[Arguments]

    @property
    def name(self) -> str:
        return self.answer.__name__

    @property
    def description(self) -> str:
        return " ".join((self.answer.__doc__ or "").split())

    def schema(self) -> dict[str, Any]:
        """JSON Schema of the arguments, on one level."""
        return schema_of(self.arguments)

    def call(self, bench: Bench, arguments: dict[str, Any]) -> Page:
        """Raises ToolError with a sentence that whoever asks can act on."""
        try:
            if _longest(arguments) > MOST_CHARACTERS:
                raise ToolError(f"{self.name}: an argument has no more than {MOST_CHARACTERS:,} characters")
            asked = msgspec.convert(arguments, self.arguments, strict=False)
            if not 0 <= asked.cursor < _MOST_LINES:
                raise ToolError(f"{self.name}: a cursor is the number that an answer ended with")
            return page(self.answer(bench, asked), asked.cursor)
        except ToolError as error:
            raise ToolError(_short(str(error))) from error
        except (msgspec.ValidationError, ValueError, OverflowError) as error:
            # Half a character, a number of a thousand digits: nobody answers that, and the next question may be one.
            raise ToolError(_short(f"{self.name}: {error}")) from error


def _longest(arguments: Any) -> int:
    """Characters of the longest text among them, or digits of a number."""
    if isinstance(arguments, dict):
        return max(map(_longest, arguments.values()), default=0)
    if isinstance(arguments, list | tuple):
        return max(map(_longest, arguments), default=0)
    if type(arguments) is int:
        return arguments.bit_length() // 3
    return len(arguments) if isinstance(arguments, str) else 0


def _short(words: str) -> str:
    return words if len(words) <= _LONGEST_REFUSAL else f"{words[:_LONGEST_REFUSAL]} ..."


@cache
def field_docs(owner: type) -> dict[str, str]:
    """Field -> what it means, as the string below it says, which Python itself keeps nowhere. Inherited ones
    too; empty where the program came without its source."""
    found: dict[str, str] = {}
    for one in reversed(owner.__mro__):
        try:
            tree = ast.parse(textwrap.dedent(inspect.getsource(one)))
        except (OSError, TypeError, SyntaxError):
            continue
        body = tree.body[0].body if isinstance(tree.body[0], ast.ClassDef) else []
        for before, after in pairwise(body):
            if (
                isinstance(before, ast.AnnAssign)
                and isinstance(before.target, ast.Name)
                and isinstance(after, ast.Expr)
                and isinstance(after.value, ast.Constant)
                and isinstance(after.value.value, str)
            ):
                found[before.target.id] = " ".join(after.value.value.split())
    return found
