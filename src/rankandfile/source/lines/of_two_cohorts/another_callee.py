"""One line, two callees: a table of handlers, a list of hooks, a variable that holds a function.

Both ranks stand at `HANDLERS[kind](batch)`, and one of them is in `shared`, the other in `best`. No test stands between
the two calls: what decides is where the function came from.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from rankandfile.model.heuristics import heuristic
from rankandfile.source.files.text import without_comment
from rankandfile.source.flow import Condition
from rankandfile.source.lines.arguments import calls_on
from rankandfile.source.lines.call_paths import CallPath, Stop, first_unlike
from rankandfile.source.lines.divergence import CodeDivergence, ranks_in_words
from rankandfile.source.lines.found_line import FoundLine, Search
from rankandfile.source.lines.made_from import Entry, enters
from rankandfile.source.program.names import resolve
from rankandfile.source.program.places import SourcePlace


@heuristic(
    "one line with two callees",
    "two functions called from one line come from what made the ranks' choice of them",
)
def another_callee(search: Search, divergence: CodeDivergence) -> FoundLine | None:
    """Where the choice came from, as far as that is known to differ; else the line itself."""
    one, other = divergence.normal, divergence.culprit
    depth = first_unlike(one.path, other.path)
    if not depth:
        return None
    place, *callees = (search.places.find(path[d]) for path, d in _around(one.path, other.path, depth))
    if place is None or not place.known:
        return None
    # Methods of one name are told apart by their classes.
    names = [callee.function.qualname for callee in callees if callee is not None and callee.known]
    if len(set(names)) < 2 and (len(names) == 2 or one.path[depth][:2] == other.path[depth][:2]):
        return None
    if None in callees:
        return None
    line = without_comment(place.module.lines[place.line - 1].strip())
    if len(set(names)) < 2:
        names = [side.path[depth].function for side in (one, other)]
    story = (
        f"`{line}` ({place.path.rsplit('/', 1)[-1]}:{place.line}) calls {names[0]} on {ranks_in_words(one)} and "
        f"{names[1]} on {ranks_in_words(other)}."
    )
    chosen = [
        call for call in calls_on(place, Stop(place.line)) if resolve(place.function, call.func) is None
    ]
    for call in chosen:
        entry = enters(search.program, place.function, call.func)
        if entry is not None:
            return replace(at(entry, divergence, "callee"), story=story)
    if not chosen:
        return None
    if (loop := _of_items(place, chosen)) is not None:
        text = without_comment(place.module.lines[loop.lineno - 1].strip())
        again = Condition(loop.lineno, text, "for", "another round", "exhausted", loop.iter)
        reason = search.why(place, again)
        found = FoundLine(place, loop.lineno, text, divergence=divergence, kind="items", story=story)
        first_come = _in_order_of_arrival(search, place, loop.iter)
        return replace(found, reason=reason, unordered=first_come)
    return FoundLine(place, place.line, line, divergence=divergence, kind="callee", story=story)


def _of_items(place: SourcePlace, calls: list[ast.Call]) -> ast.For | None:
    """The loop around the line whose items the calls are made on: what comes first there decides."""
    roots = {node.id for call in calls for node in ast.walk(call.func) if isinstance(node, ast.Name)}
    around = [
        node
        for node in ast.walk(place.function.node)
        if isinstance(node, ast.For) and node.lineno <= place.line <= (node.end_lineno or node.lineno)
    ]
    for loop in sorted(around, key=lambda node: -node.lineno):
        if roots & {name.id for name in ast.walk(loop.target) if isinstance(name, ast.Name)}:
            return loop
    return None


def _in_order_of_arrival(search: Search, place: SourcePlace, items: ast.expr) -> bool:
    """What the loop goes over is a set, or a dictionary that is filled as its keys come in."""
    if isinstance(items, ast.Call) and isinstance(items.func, ast.Attribute):
        return items.func.attr in ("values", "items", "keys") and not items.args
    return search.why(place, Condition(items.lineno, "", "for", "", "", items)).source == "set_order"


def at(entry: Entry, divergence: CodeDivergence | None, kind: str) -> FoundLine:
    """The line of the place where the ranks' own part comes in."""
    module = entry.function.module
    place = SourcePlace(module.path, module, entry.function, entry.line)
    text = without_comment(module.lines[entry.line - 1].strip())
    return FoundLine(place, entry.line, text, entry.reason, divergence, kind=kind)


def _around(one: CallPath, other: CallPath, depth: int) -> list[tuple[CallPath, int]]:
    return [(one, depth - 1), (one, depth), (other, depth)]
