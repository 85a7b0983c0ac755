"""Which call of the program wrote a line of a log: by the words that it puts around what it fills in.

`log.warning("rank %d leaves out batch %d", rank, n)` wrote "rank 2 leaves out batch 33". Whatever is called may write:
a print, a logger, a function of the program's own. What is filled in is not looked at.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from msgspec import Struct

from .kept import kept
from .modules import Function, Program
from .scopes import own_nodes

_WORD = re.compile(r"[^\W\d_]{3,}")
_FEWEST_WORDS = 2
#: With so many pieces around what it fills in, a word is enough: `{name}: {error!r}, attempt {n} of {times}`.
_FEWEST_PIECES = 3
#: Of `%` and of `str.format`.
_FILLED = re.compile(r"%(?:\(\w+\))?[-+ #0]*[\d.*]*[diouxXeEfFgGcrsa]")
_BRACES = re.compile(r"\{[^{}]*\}")
_MOST_WRITERS = 20_000


class Writer(Struct, frozen=True, eq=False):
    function: Function
    call: ast.Call
    words: tuple[str, ...]
    """What it writes, without what is filled in between."""

    def begins(self, text: str) -> int | None:
        """Where in the line its words begin; None where they are not all there, in their order."""
        first, at = text.find(self.words[0]), 0
        for piece in self.words:
            found = text.find(piece, at)
            if found < 0:
                return None
            at = found + len(piece)
        return first


def written_by(program: Program, text: str) -> Writer | None:
    """The one call that may have written the line; None: there is none, or several. Of two that stand in it one after
    the other the first wrote what the second filled in, as an exception's words."""
    found = [(begins, writer) for writer in _writers(program) if (begins := writer.begins(text)) is not None]
    first = min((begins for begins, _ in found), default=None)
    outer = [writer for begins, writer in found if begins == first]
    return outer[0] if len(outer) == 1 else None


@kept
def _writers(program: Program) -> list[Writer]:
    found: list[Writer] = []
    modules = (program.module(path) for path in program.paths)
    for function in (function for module in modules if module is not None for function in module.functions):
        for node in own_nodes(function):
            if not isinstance(node, ast.Call):
                continue
            words = next(filter(None, (_words(argument) for argument in node.args[:2])), None)
            if words is not None and len(found) < _MOST_WRITERS:
                found.append(Writer(function, node, words))
    return found


def _words(argument: ast.expr) -> tuple[str, ...] | None:
    pieces = tuple(filter(None, (piece and piece.strip() for piece in _pieces(argument))))
    text = " ".join(pieces)
    words = len(_WORD.findall(text))
    told = words >= _FEWEST_WORDS or (words > 0 and len(pieces) >= _FEWEST_PIECES)
    return pieces if told and "\n" not in text else None


def _pieces(text: ast.expr) -> Iterator[str | None]:
    """What is written as it stands; None for what is filled in."""
    match text:
        case ast.Constant(value=str(written)):
            yield from _between(_FILLED, written)
        case ast.JoinedStr(values=values):
            for value in values:
                yield str(value.value) if isinstance(value, ast.Constant) else None
        case ast.BinOp(left=ast.Constant(value=str(written)), op=ast.Mod()):
            yield from _between(_FILLED, written)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            yield from _pieces(left)
            yield from _pieces(right)
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str(written)), attr="format")):
            yield from _between(_BRACES, written)
        case _:
            yield None


def _between(filled: re.Pattern[str], written: str) -> Iterator[str | None]:
    first, *others = filled.split(written)
    yield first
    for piece in others:
        yield None
        yield piece
