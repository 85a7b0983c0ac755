"""Lines whose collective is given what each rank works out by itself: its root, or the type of its tensor."""

from __future__ import annotations

import ast
import re

from rankandfile.source.dependence import why
from rankandfile.source.effects.type_of_value import is_open, type_of_value
from rankandfile.source.program.names import External, resolve
from rankandfile.source.program.places import SourcePlace, SourcePlaces

from .arguments import calls_on, given
from .call_paths import Frame, Stop

_ROOTED = re.compile(r"\b(broadcast\w*|reduce|gather|scatter\w*)\s*\(")
_OWN_DATA = ("local_data", "rng", "clock", "file_system", "process")


def own_root(places: SourcePlaces, frame: Frame, place: SourcePlace) -> bool:
    if _ROOTED.search(place.module.lines[place.line - 1]) is None:
        return False
    roots = given(places, (frame,), "root_mismatch")
    reasons = [why(places.program, place.function, root) for _, root in roots]
    return any(reason.level == "varying" and reason.source in _OWN_DATA for reason in reasons)


def own_type(place: SourcePlace) -> bool:
    """A tensor made of a Python value without saying of which type, where nothing tells the type of that value."""
    made = [
        type_of_value(place.function, call, _target(place, call))
        for call in calls_on(place, Stop(place.line))
    ]
    return any(call is not None and is_open(call.args[0]) for call in made)


def _target(place: SourcePlace, call: ast.Call) -> str:
    target = resolve(place.function, call.func)
    return target.dotted if isinstance(target, External) else ""
