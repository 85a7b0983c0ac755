"""The handler that says what a rank's log says: where the verdict rests on such a line, it is where that rank went on
alone."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import polars as pl

from rankandfile.model.diagnosis import Verdict
from rankandfile.model.heuristics import heuristic
from rankandfile.source.files.text import without_comment
from rankandfile.source.flow import Condition
from rankandfile.source.program.modules import Module
from rankandfile.source.program.places import SourcePlace

from .arguments import called_name
from .exception_origin import raises_on
from .found_line import FoundLine, Search
from .program_exit import MOST_FILES

_EVENT = re.compile(r"L(\d+):(\d+)$")
_SAYS = {"print", "warn", "debug", "info", "warning", "error", "critical", "exception", "log", "log_rank"}
_HOLES = re.compile(r"%[-#0 +]*\d*(?:\.\d+)?[a-zA-Z]|%\([^)]*\)[a-zA-Z]|\{[^{}]*\}")
#: So many letters of a message are no coincidence.
_TELLING = 10


@heuristic(
    "handler that logs it", "the handler whose message stands in the log is where the rank went on alone"
)
def said_upon(search: Search, verdict: Verdict) -> FoundLine | None:
    """None where no handler says it, or several do."""
    lines = _lines(search, verdict)
    found = {
        (module.path, handler.lineno): (module, handler)
        for module, handler, pieces in (_messages(search) if lines else ())
        if any(_says(line, pieces) for line in lines)
    }
    if len(found) != 1:
        return None
    module, handler = next(iter(found.values()))
    function = module.function_at(handler.lineno)
    if function is None:
        return None
    place = SourcePlace(module.path, module, function, handler.lineno)
    text = without_comment(module.lines[handler.lineno - 1].strip())
    condition = Condition(handler.lineno, text, "except", "not raised", "raised", handler)
    return FoundLine(place, handler.lineno, text, search.why(place, condition), kind="said")


def _lines(search: Search, verdict: Verdict) -> list[str]:
    """What the culprits' logs say, of what the verdict rests on."""
    culprits = [culprit.rank for culprit in verdict.named]
    found: list[str] = []
    for word in verdict.evidence:
        if match := _EVENT.match(word):
            at = (pl.col("log") == int(match[1])) & (pl.col("line") == int(match[2]))
            rows = search.case.events.filter(at & pl.col("rank").is_in(culprits))
            found += [text for text in rows["text"].to_list() if text]
    return found


def _messages(search: Search) -> Iterator[tuple[Module, ast.ExceptHandler, list[str]]]:
    """The handlers after which the program goes on, and the fixed parts of each message they write."""
    for path in search.program.paths[:MOST_FILES]:
        text = search.program.files.read(path)
        module = search.program.module(path) if text is not None and "except" in text else None
        for node in ast.walk(module.tree) if module is not None else ():
            if module is None or not isinstance(node, ast.ExceptHandler) or raises_on(node):
                continue
            for call in ast.walk(node):
                if isinstance(call, ast.Call) and called_name(call) in _SAYS:
                    for argument in call.args[:2]:
                        if pieces := _pieces(argument):
                            yield module, node, pieces


def _pieces(message: ast.expr) -> list[str]:
    if isinstance(message, ast.Constant) and isinstance(message.value, str):
        return [piece for piece in _HOLES.split(message.value) if piece.strip()]
    if isinstance(message, ast.JoinedStr):
        parts = [part.value for part in message.values if isinstance(part, ast.Constant)]
        return [part for part in parts if isinstance(part, str) and part.strip()]
    return []


def _says(line: str, pieces: list[str]) -> bool:
    """The fixed parts stand in the line, one after the other."""
    at = 0
    for piece in pieces:
        # What a number is written beside may be cut, or coloured.
        at = line.find(piece.strip(" :,.;-"), at)
        if at < 0:
            return False
    return sum(letter.isalpha() for piece in pieces for letter in piece) >= _TELLING
