"""The way to a function that a thread, or a task of an event loop, runs: a stack shows it from that function on only.

    async def mean(self, values):
        return await asyncio.to_thread(self.add, values)    # `add` is handed over here, and the thread's stack begins

In: a path of frames. Out: where its outermost function was handed over, who called that one, and so on outwards, as far
as each is one place of the program; empty where the outermost function is not handed over.
"""

from __future__ import annotations

from rankandfile.source.dependence.index import Site, function_of
from rankandfile.source.effects.wrapped import last_name
from rankandfile.source.lines.call_paths import CallPath, Frame
from rankandfile.source.lines.found_line import Search
from rankandfile.source.program.modules import Function

_FURTHEST = 4
#: What runs a function, or a coroutine, in a thread of the process or as a task of its event loop.
_RUNS = {
    "to_thread",
    "run_in_executor",
    "run_sync",
    "submit",
    "Thread",
    "create_task",
    "ensure_future",
    "start_soon",
}


def handed_over_at(search: Search, function: Function) -> Site | None:
    """The one place that gives the function to somebody who will call it."""
    # What nobody can resolve may be this one as well.
    sites = [
        site
        for site, given in search.objects.index.handed_over.get(function.name, ())
        if function_of(site.function, given) in (function, None)
    ]
    return sites[0] if len(sites) == 1 else None


def way_before(search: Search, path: CallPath) -> CallPath:
    """The frames further out, outermost first."""
    known = [place for place in map(search.places.find, path) if place is not None and place.known]
    site = _run_at(search, known[0].function) if known else None
    found: list[Frame] = []
    while site is not None and len(found) < _FURTHEST:
        function = site.function
        found.insert(0, Frame(function.name, function.module.path, site.call.lineno))
        callers = search.objects.callers(function)
        site = callers[0][0] if len(callers) == 1 else _run_at(search, function) if not callers else None
    return tuple(found)


def _run_at(search: Search, function: Function) -> Site | None:
    site = handed_over_at(search, function)
    return site if site is not None and last_name(site.call.func) in _RUNS else None
