"""Lines whose collective is given what each rank works out by itself: its root, or the type of its tensor."""

from __future__ import annotations

import re

from rankandfile.source.dependence import axes_of, why
from rankandfile.source.effects.event import event
from rankandfile.source.effects.type_of_value import type_of_value
from rankandfile.source.program.places import SourcePlace, SourcePlaces

from .arguments import calls_on, given
from .call_paths import Frame, Stop

_ROOTED = re.compile(r"\b(broadcast\w*|reduce|gather|scatter\w*)\s*\(")
_OWN_DATA = ("local_data", "rng", "clock", "file_system", "process")
#: Steps from the root to the rank's own number where it is just that: one that speaks, while the others listen.
_ITSELF = 2


def own_root(places: SourcePlaces, frame: Frame, place: SourcePlace) -> bool:
    if _ROOTED.search(place.module.line_at(place.line)) is None:
        return False
    roots = given(places, (frame,), "root_mismatch")
    reasons = [why(places.program, place.function, root) for _, root in roots]
    own = _OWN_DATA if _of_a_group(place) else (*_OWN_DATA, "rank_api")
    return any(
        reason.level == "varying"
        and reason.source in own
        and (reason.source != "rank_api" or len(reason.chain) > _ITSELF)
        for reason in reasons
    )


def _of_a_group(place: SourcePlace) -> bool:
    """The call is, or may be, for a part of the ranks only: its root then rightly goes by the ranks in it."""
    program = place.function.module.program
    events = (event(call, place.function) for call in calls_on(place, Stop(place.line)))
    known = [each for each in events if each is not None]
    return not known or any(
        each.group is not None and axes_of(program, place.function, each.group) is not None for each in known
    )


def own_type(place: SourcePlace) -> bool:
    """A tensor made of a Python value without saying of which type, where nothing tells the type of that value."""
    events = (event(call, place.function) for call in calls_on(place, Stop(place.line)))
    return any(each is not None and type_of_value(place.function, each) is not None for each in events)
