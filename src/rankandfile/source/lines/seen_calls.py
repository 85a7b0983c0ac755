"""Who called what, where the source alone does not say: handlers of a table, and what a decorator has wrapped.

`for do in PHASES: do(slab)` calls what was registered: a stack in which `migrate` follows that line shows one of them.

In: frames, and those of what each was seen to call. Out: function -> the calls by a variable that led to it.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from rankandfile.source.dependence.index import Site
from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import resolve
from rankandfile.source.program.places import SourcePlace, SourcePlaces
from rankandfile.source.program.scopes import own_nodes

from .call_paths import Frame

#: Of a function. Who is called from more places by a variable is called from anywhere.
_MOST = 6


def calls_seen(places: SourcePlaces, called: Mapping[Frame, set[Frame]]) -> dict[Function, list[Site]]:
    found: dict[Function, list[Site]] = {}
    for outer, inner in called.items():
        place = places.find(outer)
        call = _by_variable(place) if place is not None and place.known else None
        for frame in sorted(inner) if call is not None else ():
            target = places.find(frame)
            if place is not None and call is not None and target is not None and target.known:
                sites = found.setdefault(target.function, [])
                if len(sites) < _MOST and all(site.call is not call for site in sites):
                    sites.append(Site(place.function, call))
    return found


def _by_variable(place: SourcePlace) -> ast.Call | None:
    """The one call of the line of which no name says what it calls."""
    calls = [
        node
        for node in own_nodes(place.function)
        if isinstance(node, ast.Call) and node.lineno <= place.line <= (node.end_lineno or node.lineno)
    ]
    open_ones = [call for call in calls if resolve(place.function, call.func) is None]
    return open_ones[0] if len(open_ones) == 1 and isinstance(open_ones[0].func, ast.Name) else None
