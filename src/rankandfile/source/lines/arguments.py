"""Where the value came from that one rank called a collective with, and the others with another one."""

from __future__ import annotations

import ast

from msgspec import Struct
from msgspec.structs import replace

from rankandfile.source.dependence import Reason, objects_of, why
from rankandfile.source.program.called import called_name
from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import resolve
from rankandfile.source.program.places import SourcePlace, SourcePlaces, place_in

from .call_paths import CallPath, Stop
from .made_from import handed_over
from .no_group import none_from

_ROOTS = {"src", "dst", "root", "group_src", "group_dst"}
_FURTHEST = 4
_COPIES = {"float", "double", "half", "bfloat16", "to", "cuda", "cpu", "contiguous", "clone", "detach"}
_LEVELS = {"varying": 0, "axes": 1, "unknown": 2, "uniform": 3}


class Origin(Struct, frozen=True):
    place: SourcePlace
    line: int
    text: str
    reason: Reason
    depth: int = 0
    """Of the frame in which it stands; the outermost is 0."""


def origin(places: SourcePlaces, path: CallPath, cause: str) -> Origin | None:
    """The line that made the argument, followed through the frames to where it was given its value."""
    found = [
        _followed(places, path, depth, argument, cause) for depth, argument in given(places, path, cause)
    ]
    best = [one for one in found if one is not None]
    # Of two that vary, one is made from the other: the one further out, or the earlier one.
    return min(best, key=lambda one: (_LEVELS[one.reason.level], one.depth, one.line), default=None)


def given(places: SourcePlaces, path: CallPath, cause: str) -> list[tuple[int, ast.expr]]:
    """The arguments that the cause is about, of the calls on the innermost frame's line."""
    depth = len(path) - 1
    while depth >= 0 and places.find(path[depth]) is None:
        depth -= 1
    if depth < 0:
        return []
    place = places.find(path[depth])
    if place is None or not place.known:
        return []
    found: list[tuple[int, ast.expr]] = []
    for call in calls_on(place, Stop(path[depth].line)):
        named = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
        if cause == "root_mismatch":
            roots = [value for name, value in named.items() if name in _ROOTS] or call.args[1:2]
            found += [(depth, root) for root in roots]
        elif cause == "group_mismatch":
            found += [(depth, value) for name, value in named.items() if name == "group"]
        elif cause == "split_mismatch" and (len(call.args) > 2 or any("split" in name for name in named)):
            splits = [value for name, value in named.items() if "split" in name]
            found += [(depth, split) for split in [*call.args[2:4], *splits]]
        else:
            found += [
                (depth, a)
                for a in [*call.args, *(v for n, v in named.items() if n not in {*_ROOTS, "group"})]
            ]
    return found


def calls_on(place: SourcePlace, stop: Stop) -> list[ast.Call]:
    """The calls that the line makes, the outermost first; those of the known name, where one is known."""
    spanning = [
        node
        for node in place.function.nodes
        if isinstance(node, ast.Call) and node.lineno <= stop.line <= (node.end_lineno or node.lineno)
    ]
    named = [call for call in spanning if stop.call is not None and called_name(call) == stop.call]
    return named or spanning


def _followed(places: SourcePlaces, path: CallPath, depth: int, value: ast.expr, cause: str) -> Origin | None:
    for _ in range(_FURTHEST):
        place = places.find(path[depth])
        if place is None or not place.known:
            return None
        made = assigned(place.function, value, path[depth].line)
        if cause == "size_mismatch":
            made = _before_copies(place.function, made)
        elif made is None and cause == "group_mismatch":
            made = kept(place.function, value)
        if made is not None:
            place = replace(place, function=place.module.function_at(made.lineno) or place.function)
            inside = _decided_inside(places, place, made.value) or _handed_on(
                places, place.function, made.value
            )
            if inside is not None:
                return inside
            text = place.module.line_at(made.lineno)
            return Origin(place, made.lineno, text, why(places.program, place.function, made.value), depth)
        if cause == "group_mismatch":
            without = none_from(places.program, place.function, value)
            if without is not None:
                return _at(places, *without)
        handed = from_caller(places, path, depth, value, place.function)
        if handed is None:
            text = place.module.line_at(value.lineno)
            return Origin(place, value.lineno, text, why(places.program, place.function, value), depth)
        depth, value = depth - 1, handed
    return None


def _at(places: SourcePlaces, function: Function, value: ast.expr) -> Origin:
    module = function.module
    place = place_in(function, value.lineno)
    text = module.line_at(value.lineno)
    return Origin(place, value.lineno, text, why(places.program, function, value))


def _handed_on(places: SourcePlaces, function: Function, value: ast.expr) -> Origin | None:
    """What is kept as it came says nothing: where it comes from, if the function is called in one place."""
    found: Origin | None = None
    for _ in range(_FURTHEST):
        if not isinstance(value, ast.Name) or value.id not in function.parameters:
            break
        sites = list(handed_over(objects_of(places.program), function, value.id))
        if len(sites) != 1:
            break
        ((function, value),) = sites
        found = _at(places, function, value)
    return found


def _decided_inside(places: SourcePlaces, place: SourcePlace, value: ast.expr) -> Origin | None:
    """The decision, in the function that the value comes from, upon which it returns one thing or another."""
    target = resolve(place.function, value.func) if isinstance(value, ast.Call) else None
    if not isinstance(target, Function) or isinstance(target.node, ast.Lambda):
        return None
    inside = place_in(target, target.first_line)
    for node in ast.walk(target.node):
        if isinstance(node, ast.If) and any(
            isinstance(n, ast.Return) for part in node.body for n in ast.walk(part)
        ):
            reason = why(places.program, target, node.test)
            if reason.level in ("varying", "axes"):
                text = target.module.line_at(node.lineno)
                return Origin(replace(inside, line=node.lineno), node.lineno, text, reason)
    return None


def assigned(function: Function, value: ast.expr, line: int, unpacked: bool = False) -> ast.Assign | None:
    """The last plain assignment, before the line, to the variable that the value is; `unpacked`: of what a call gave,
    as in `group, size = layout.of(kind)`."""
    if not isinstance(value, ast.Name):
        return None
    found = [
        node
        for node in function.nodes
        if isinstance(node, ast.Assign)
        and node.lineno < line
        and (not unpacked or isinstance(node.value, ast.Call))
        for target in node.targets
        for part in (_parts(target) if unpacked else [target])
        if isinstance(part, ast.Name) and part.id == value.id
    ]
    return max(found, key=lambda node: node.lineno, default=None)


def _parts(target: ast.expr) -> list[ast.expr]:
    return target.elts if isinstance(target, ast.Tuple) else []


def kept(function: Function, value: ast.expr) -> ast.Assign | None:
    """The only assignment, in the methods of the object, to the attribute of its own that the value is."""
    if not (
        isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name) and value.value.id == "self"
    ):
        return None
    found = [
        node
        for other in function.module.functions
        if other.owner is not None and other.owner is function.owner
        for node in ast.walk(other.node)
        if isinstance(node, ast.Assign) and ast.unparse(value) in map(ast.unparse, node.targets)
    ]
    return found[0] if len(found) == 1 else None


def _before_copies(function: Function, made: ast.Assign | None) -> ast.Assign | None:
    """Before what only made a copy of the same size."""
    while made is not None and isinstance(made.value, ast.Call) and called_name(made.value) in _COPIES:
        copied = made.value.func.value if isinstance(made.value.func, ast.Attribute) else made.value
        earlier = assigned(function, copied, made.lineno)
        if earlier is None:
            break
        made = earlier
    return made


def from_caller(
    places: SourcePlaces, path: CallPath, depth: int, value: ast.expr, function: Function
) -> ast.expr | None:
    """What the frame around gave for the parameter that the value is."""
    if not isinstance(value, ast.Name) or value.id not in function.parameters or depth == 0:
        return None
    caller = places.find(path[depth - 1])
    if caller is None or not caller.known:
        return None
    position = function.parameters.index(value.id) - (function.owner is not None)
    for call in calls_on(caller, Stop(path[depth - 1].line)):
        # Through `apply` of an autograd function, and through a module's call, the frames in between are torch's.
        for keyword in call.keywords:
            if keyword.arg == value.id:
                return keyword.value
        if called_name(call) in (function.name, "apply") and 0 <= position < len(call.args):
            return call.args[position]
    return None
