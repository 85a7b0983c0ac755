"""Who belongs to the setup of the job's communication: all that were started, or whom each rank counts itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rankandfile.model.diagnosis import Verdict
from rankandfile.source.dependence import why
from rankandfile.source.dependence.syntax import argument, spans
from rankandfile.source.lines.found_line import FoundLine, Search
from rankandfile.source.lines.made_from import enters
from rankandfile.source.lines.of_one_rank import said
from rankandfile.source.program.called import called_name
from rankandfile.source.program.places import SourcePlace, SourcePlaces

_SETUP = "init_process_group"
#: `init_process_group(backend, init_method, timeout, world_size, ...)`
_SIZE = (3, "world_size")
_NAMED = "PrefixStore"


def sets_up_all(places: SourcePlaces, here: SourcePlace) -> bool:
    """Whether the line sets up for the ranks that were started, or for a number that is the same on each of them."""
    return any(_of_all(places, here, call) for call in _setups(here))


def counted_alone(search: Search, verdict: Verdict) -> FoundLine | None:
    """Where all stand in one setup: what makes the members that they count differ from rank to rank."""
    here = said(search, verdict)
    if here is None:
        return None
    for call in _setups(here):
        for value in _members(call):
            entry = enters(search.program, here.function, value)
            if entry is not None:
                return FoundLine(entry.place, entry.line, entry.text, entry.reason, kind="counted")
    return None


def _setups(here: SourcePlace) -> Iterator[ast.Call]:
    for node in here.function.nodes:
        if isinstance(node, ast.Call) and spans(node, here.line) and called_name(node) == _SETUP:
            yield node


def _of_all(places: SourcePlaces, here: SourcePlace, call: ast.Call) -> bool:
    if any(keyword.arg is None for keyword in call.keywords):
        return False
    size = argument(call, *_SIZE)
    return size is None or why(places.program, here.function, size).level == "uniform"


def _members(call: ast.Call) -> Iterator[ast.expr]:
    """How many are to be there, and the name under which they meet."""
    store = argument(call, "store")
    prefix = (
        argument(store, 0, "prefix") if isinstance(store, ast.Call) and called_name(store) == _NAMED else None
    )
    for value in (argument(call, *_SIZE), argument(call, "group_name"), prefix):
        if value is not None:
            yield value
