"""From a framework's reduction of what was logged back to the line that logs more on one rank than on another.

Lightning keeps what `self.log(..., sync_dist=True)` and `log_dict` were given, and reduces it value by value at the end
of the epoch, in a place of its own. A rank that logged one key less is out of step from there on; nothing between the
two calls shows it, as the line that logged has been left long before.

In: two call paths of which one alone is in that reduction. Out: the line that logs, where what it logs can differ.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from msgspec.structs import replace

from rankandfile.model.heuristics import heuristic
from rankandfile.model.known.frameworks import framework_of
from rankandfile.source.dependence import why, why_held
from rankandfile.source.dependence.syntax import ancestors, argument
from rankandfile.source.effects.event import Event, event
from rankandfile.source.flow import Condition
from rankandfile.source.lines.call_paths import CallPath
from rankandfile.source.lines.divergence import CodeDivergence, ranks_in_words
from rankandfile.source.lines.found_line import FoundLine, Search
from rankandfile.source.lines.made_from import Entry
from rankandfile.source.program.modules import Function
from rankandfile.source.program.scopes import own_nodes

from .another_callee import at

#: The framework's function in which each of the values that were logged is reduced, one after the other.
_REDUCED_IN = "_get_cache"
_LOGS = ("log", "log_dict")
_LEVELS = {"varying": 0, "axes": 1}


@heuristic(
    "logged on some ranks",
    "a framework's reduction of what was logged is traced to the line that logs a value on some ranks only",
)
def logged_values(search: Search, divergence: CodeDivergence) -> FoundLine | None:
    """None where both sides are in it, or neither, or nothing that the program logs is known to differ."""
    one, other = divergence.normal, divergence.culprit
    inside = _reduces(one.path), _reduces(other.path)
    if inside[0] == inside[1] or not divergence.exact:
        return None
    entries = [entry for module in search.objects.index.modules for entry in _in(search, module.functions)]
    best = min(entries, key=lambda e: (_LEVELS[e.reason.level], len(e.reason.chain)), default=None)
    if best is None:
        return None
    more, less = (one, other) if inside[0] else (other, one)
    story = (
        "Each value that was logged with sync_dist is reduced by itself at the end of the epoch: "
        f"{ranks_in_words(more)} had one more to reduce where {ranks_in_words(less)} went on."
    )
    return replace(at(best, divergence, "logged"), singled=more.members, story=story)


def _reduces(path: CallPath) -> bool:
    return any(frame.function == _REDUCED_IN and framework_of(frame.file) for frame in path)


def _in(search: Search, functions: list[Function]) -> Iterator[Entry]:
    for function in functions:
        for node in own_nodes(function):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            if node.func.attr not in _LOGS:
                continue
            found = event(node, function)
            if found is None or found.op not in _LOGS or not found.sure:
                continue
            yield from _where_it_differs(search, function, node, found)


def _where_it_differs(search: Search, function: Function, call: ast.Call, found: Event) -> Iterator[Entry]:
    """What decides how many values it is given, or whether it is called: where that can differ between ranks."""

    def entries() -> Iterator[Entry]:
        if found.op == "log_dict" and (table := argument(call, 0, "dictionary")) is not None:
            yield Entry(function, found.line, table, why_held(search.program, function, table), False)
        for outer in ancestors(function.module, call):
            if outer is function.node:
                return
            if isinstance(outer, (ast.For, ast.AsyncFor)):
                again = Condition(outer.lineno, "", "for", "another round", "exhausted", outer.iter)
                yield Entry(function, outer.lineno, outer.iter, why(search.program, function, again), False)
            elif isinstance(outer, ast.If):
                reason = why(search.program, function, outer.test)
                yield Entry(function, outer.lineno, outer.test, reason, True)

    around = [entry for entry in entries() if entry.reason.level in _LEVELS]
    name = argument(call, 0, "name") if found.op == "log" and not around else None
    if name is not None and (reason := why(search.program, function, name)).level in _LEVELS:
        around = [Entry(function, found.line, name, reason, False)]
    yield from around
