"""Which call of the program wrote a line of a log: by the words that it puts around what it fills in.

`log.warning("rank %d leaves out batch %d", rank, n)` wrote "rank 2 leaves out batch 33". Whatever is called may write:
a print, a logger, a function of the program's own.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise

from msgspec import Struct

from .kept import kept
from .modules import Function, Program
from .scopes import own_nodes

_WORD = re.compile(r"[^\W\d_]{3,}")
_FEWEST_WORDS = 2
#: With so many pieces around what it fills in, a word is enough: `{name}: {error!r}, attempt {n} of {times}`.
_FEWEST_PIECES = 3
#: Of a word that stands alone.
_LONG = 6
#: Of `%` and of `str.format`.
_FILLED = re.compile(r"%(?:\(\w+\))?[-+ #0]*[\d.*]*[diouxXeEfFgGcrsa]")
_BRACES = re.compile(r"\{[^{}]*\}")
_MOST_WRITERS = 20_000


class Writer(Struct, frozen=True, eq=False):
    function: Function
    call: ast.Call
    words: tuple[str, ...]
    """What it writes, without what is filled in between."""

    def filled(self, text: str) -> list[tuple[ast.expr, str]]:
        """What it has filled in, with what stands there in the line; empty where the two cannot be told apart."""
        written = next((each for each in self.call.args[:2] if _words(each)), None)
        pieces = [] if written is None else [*_pieces(written)]
        values = _values(written, self.call) if written is not None else []
        if len(values) != pieces.count(None) or any(a is b is None for a, b in pairwise(pieces)):
            return []
        match = re.search(
            "".join("(.*?)" if piece is None else re.escape(piece) for piece in pieces) + "$", text
        )
        return list(zip(values, match.groups(), strict=True)) if match else []

    def begins(self, text: str) -> int | None:
        """Where in the line its words begin; None where they are not all there, in their order."""
        first, at = text.find(self.words[0]), 0
        for piece in self.words:
            found = text.find(piece, at)
            if found < 0:
                return None
            at = found + len(piece)
        return first


def written_by(program: Program, text: str, terse: bool = False) -> Writer | None:
    """The one call that may have written the line; None: there is none, or several. Of two that stand in it one after
    the other the first wrote what the second filled in, as an exception's words. `terse`: or of a word alone."""
    writers = _writers(program)
    found = _of(writers.clear, text) or (_of(writers.terse, text) if terse else [])
    first = min((begins for begins, _ in found), default=None)
    outer = [writer for begins, writer in found if begins == first]
    return outer[0] if len(outer) == 1 else None


def raised_with(program: Program, text: str) -> list[Writer]:
    """The exceptions that the program raises with words that stand in the line."""
    found = _of(_writers(program).clear, text)
    return [writer for _, writer in found if _is_raised(writer)]


def _is_raised(writer: Writer) -> bool:
    return any(isinstance(node, ast.Raise) and node.exc is writer.call for node in own_nodes(writer.function))


def _of(writers: list[Writer], text: str) -> list[tuple[int, Writer]]:
    return [(begins, writer) for writer in writers if (begins := writer.begins(text)) is not None]


class _Writers(Struct, frozen=True):
    clear: list[Writer]
    terse: list[Writer]
    """Whose words are few: they may stand in lines of others."""


@kept
def _writers(program: Program) -> _Writers:
    found, terse = list[Writer](), list[Writer]()
    modules = (program.module(path) for path in program.paths)
    for function in (function for module in modules if module is not None for function in module.functions):
        for node in own_nodes(function):
            if not isinstance(node, ast.Call):
                continue
            words = next(filter(None, (_words(argument) for argument in node.args[:2])), None)
            if words is None or len(found) + len(terse) >= _MOST_WRITERS:
                continue
            writer = Writer(function, node, words)
            if _tell(words):
                found.append(writer)
            elif any(None in _pieces(argument) for argument in node.args[:2]):
                terse.append(writer)
    return _Writers(found, terse)


def _words(argument: ast.expr) -> tuple[str, ...] | None:
    pieces = tuple(filter(None, (piece and piece.strip() for piece in _pieces(argument))))
    text = " ".join(pieces)
    told = _tell(pieces) or any(len(word) >= _LONG for word in _WORD.findall(text))
    return pieces if told and "\n" not in text else None


def _tell(pieces: tuple[str, ...]) -> bool:
    words = len(_WORD.findall(" ".join(pieces)))
    return words >= _FEWEST_WORDS or (words > 0 and len(pieces) >= _FEWEST_PIECES)


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


def _values(written: ast.expr, call: ast.Call) -> list[ast.expr]:
    """What is filled in there, in the order in which it stands."""
    match written:
        case ast.JoinedStr(values=values):
            return [value.value for value in values if isinstance(value, ast.FormattedValue)]
        case ast.BinOp(right=ast.Tuple(elts=values)):
            return values
        case ast.BinOp(right=value):
            return [value]
        case ast.Call(args=values):
            return values
    return call.args[call.args.index(written) + 1 :]


def _between(filled: re.Pattern[str], written: str) -> Iterator[str | None]:
    first, *others = filled.split(written)
    yield first
    for piece in others:
        yield None
        yield piece
