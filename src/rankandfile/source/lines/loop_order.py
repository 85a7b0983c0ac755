"""The loop that puts equal calls in an order, and where its items come in another order on one rank than on another."""

from __future__ import annotations

import ast
from collections import deque
from typing import NamedTuple

from rankandfile.model.heuristics import heuristic
from rankandfile.source.dependence import why, why_sorted
from rankandfile.source.dependence.reaching_assignments import reaching
from rankandfile.source.dependence.syntax import COMPREHENSIONS, dotted
from rankandfile.source.flow import Condition, Kind
from rankandfile.source.program.called import called_name
from rankandfile.source.program.modules import Function, Program
from rankandfile.source.program.places import SourcePlace, SourcePlaces, place_in

from .arguments import Origin, assigned
from .call_paths import CallPath
from .made_from import Entry, called_in, enters, results

_FURTHEST = 4
_KEEP_THE_ORDER = ("list", "tuple", "iter", "enumerate", "reversed")


class Going(NamedTuple):
    """A loop, or the part of a comprehension that is one, and what it goes over."""

    line: int
    kind: Kind
    items: ast.expr
    target: ast.expr


@heuristic("order of a loop", "equal calls for different items are in the order of the loop around them")
def loop_order(places: SourcePlaces, path: CallPath) -> Origin | None:
    """Two ranks make the same call from the same line, for different items: the innermost loop around it that does
    not take the same items in the same order on every rank, or where what it goes over was made."""
    for frame in reversed(path):
        place = places.find(frame)
        if place is None or not place.known:
            continue
        for loop in loops_around(place):
            if (found := in_order(places, place, loop)) is not None:
                return found
    return None


def goes_by_items(places: SourcePlaces, path: CallPath) -> bool:
    """An item of a loop around it is named in the statement that leads to the call."""
    found = (place for frame in path if (place := places.find(frame)) is not None and place.known)
    return any(_used(place, loop) for place in found for loop in loops_around(place))


def in_order(places: SourcePlaces, place: SourcePlace, loop: Going, chosen: bool = False) -> Origin | None:
    """Where the items' order can become the rank's own; `chosen`: which call it is, is known to come from the items, so
    whatever makes them differ counts."""
    line, kind, items, _ = loop
    text = place.module.line_at(line)
    reason = why(
        places.program, place.function, Condition(line, text, kind, "another item", "no more items", items)
    )
    known = reason.level in ("varying", "axes")
    if not known and (by_key := _sorted_before(places.program, place.function, items)) is not None:
        return by_key
    if not chosen and (not known or (reason.source == "shard_length" and not _used(place, loop))):
        # How many they are says nothing of the order of calls that are made with something else.
        return None
    entry = enters(places.program, place.function, items)
    if entry is not None and handed_out(places.program, place, items, entry):
        return Origin(entry.place, entry.line, entry.text, entry.reason)
    if not known:
        if entry is None:
            return None
        reason = entry.reason
    made = assigned(place.function, items, line)
    at = made.lineno if made is not None else line
    return Origin(place, at, place.module.line_at(at), reason)


def _used(place: SourcePlace, loop: Going) -> bool:
    """An item is named in the statement at the place."""
    names = {node.id for node in ast.walk(loop.target) if isinstance(node, ast.Name)}
    at = [n for n in place.function.nodes if isinstance(n, ast.Name) and n.lineno == place.line]
    return any(node.id in names for node in at)


def _sorted_before(program: Program, function: Function, items: ast.expr) -> Origin | None:
    """What the loop goes over was put in order further back, by a key that differs: in a function that is called for
    it, or into a variable."""
    values = deque([(function, items, 0)])
    seen: set[ast.expr] = set()
    while values:
        where, value, depth = values.popleft()
        if value in seen or depth > _FURTHEST:
            continue
        seen.add(value)
        if isinstance(value, ast.Call) and called_name(value) == "sorted" and value.args:
            reason = why_sorted(program, where, value)
            if reason.level == "varying":
                place = place_in(where, value.lineno)
                return Origin(place, value.lineno, where.module.line_at(value.lineno), reason)
            values.append((where, value.args[0], depth + 1))
        elif isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Slice):
            values.append((where, value.value, depth + 1))
        elif isinstance(value, ast.Call) and called_name(value) in _KEEP_THE_ORDER and value.args:
            values.append((where, value.args[0], depth + 1))
        elif isinstance(value, ast.Call):
            values.extend(
                (inside, result, depth + 1)
                for inside in called_in(program, where, value)
                for result in results(inside)
            )
        elif (name := dotted(value)) is not None:
            given = reaching(where).everywhere(name)
            values.extend(
                (where, d.value, depth + 1) for d in given if d.value is not None and d.how == "assign"
            )
    return None


def handed_out(program: Program, place: SourcePlace, items: ast.expr, entry: Entry) -> bool:
    """Whether it is a test inside the function that hands the items out; of a collection that others fill there is
    none: its items are in order of arrival."""
    return entry.test and entry.function in called_in(program, place.function, items)


def loops_around(place: SourcePlace) -> list[Going]:
    """The loops that go over the place, the innermost first."""
    found: list[tuple[int, Going]] = []
    for node in place.function.nodes:
        first, last = getattr(node, "lineno", 0), getattr(node, "end_lineno", 0) or 0
        if not first <= place.line <= last:
            continue
        if isinstance(node, (ast.For, ast.AsyncFor)):
            found.append((first, Going(node.lineno, "for", node.iter, node.target)))
        elif isinstance(node, COMPREHENSIONS):
            found += [
                (first, Going(part.iter.lineno, "comprehension", part.iter, part.target))
                for part in node.generators
            ]
    return [loop for _, loop in sorted(found, key=lambda one: -one[0])]
