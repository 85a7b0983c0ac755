"""What a coroutine raised, kept by the `asyncio.gather(..., return_exceptions=True)` that it was handed to.

A rank left out a call that is made in a coroutine, and went on with what comes after the `gather`. No test stands
before the call, nor around it: what came before it raised, and that came back as a value. In: the ways of two cohorts.
Out: that line. The call itself may be made in a thread: whoever hands a function to one waits for it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rankandfile.model.diagnosis import Verdict
from rankandfile.model.heuristics import heuristic
from rankandfile.source.dependence.index import Site
from rankandfile.source.dependence.reason import UNKNOWN
from rankandfile.source.dependence.syntax import ancestors, dotted, spans
from rankandfile.source.lines.call_paths import CallPath
from rankandfile.source.lines.found_line import FoundLine, Search
from rankandfile.source.lines.of_two_cohorts.compared_ranks import divergences
from rankandfile.source.program.methods import methods_named
from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import resolve
from rankandfile.source.program.places import place_in
from rankandfile.source.program.scopes import own_nodes

_MOST = 60


@heuristic(
    "kept by gather",
    "what was left out in a coroutine raised, where `gather` hands exceptions back as values",
)
def kept_by_gather(search: Search, verdict: Verdict) -> FoundLine | None:
    """None where more than one line may have kept it, or the rank has come to another call under the same one."""
    gathers = search.objects.index.calls("gather")
    if not verdict.culprits or not any(_hands_back(site.call) for site in gathers):
        return None
    for divergence in divergences(search.paths, verdict):
        if not divergence.exact or not divergence.normal.path or not divergence.culprit.path:
            continue
        left, gone_to = (_gathers(search, side.path) for side in (divergence.normal, divergence.culprit))
        only = [each for each in left if each not in gone_to]
        if len(only) == 1:
            function, gather = only[0]
            line = gather.lineno
            text = function.module.code_at(line)
            return FoundLine(place_in(function, line), line, text, UNKNOWN, divergence, kind="caught")
    return None


def _gathers(search: Search, path: CallPath) -> list[tuple[Function, ast.Call]]:
    """Those that what the innermost frame belongs to was handed to, through all who wait for it."""
    places = (search.places.find(frame) for frame in reversed(path))
    inside = next((place for place in places if place is not None and place.known), None)
    found: dict[tuple[Function, ast.Call], None] = {}
    queue = [(inside.function, inside.line)] if inside is not None else []
    seen: set[Function] = set()
    while queue and len(seen) < _MOST:
        function, line = queue.pop()
        if function in seen or not _always_come_to(function, line):
            continue
        seen.add(function)
        for site in _sites(search, function):
            kept = list(_kept_at(site))
            found.update(dict.fromkeys((site.function, each) for each in kept))
            if not kept:
                queue.append((site.function, site.call.lineno))
    return list(found)


def _always_come_to(function: Function, line: int) -> bool:
    """Nobody comes back from the function without the line, but by an exception."""
    own = [node for node in own_nodes(function) if isinstance(node, ast.stmt) and node is not function.node]
    around = [node for node in own if spans(node, line)]
    back = any(isinstance(node, ast.Return) and (node.end_lineno or 0) < line for node in own)
    calm = (ast.With, ast.AsyncWith, ast.Expr, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return)
    return not back and all(isinstance(node, calm) for node in around)


def _sites(search: Search, function: Function) -> Iterator[Site]:
    """Where it is called, or handed to who calls it in a thread."""
    yield from (site for site, _ in search.objects.callers(function))
    index = search.objects.index
    for site, given in index.handed_over.get(function.name, ()):
        named = methods_named(search.program, function.name) if isinstance(given, ast.Attribute) else []
        if resolve(site.function, given) is function or named == [function]:
            yield site


def _kept_at(site: Site) -> Iterator[ast.Call]:
    """The `gather` that the coroutine is among the arguments of; of one that is put aside, the one of its function."""
    outers = list(ancestors(site.function.module, site.call))
    around = [outer for outer in outers if isinstance(outer, ast.Call) and _hands_back(outer)]
    if around or (outers and isinstance(outers[0], ast.Await)):
        yield from around[:1]
        return
    later = [n for n in site.function.nodes if isinstance(n, ast.Call) and n.lineno > site.call.lineno]
    yield from (call for call in later if _hands_back(call))


def _hands_back(call: ast.Call) -> bool:
    kept = next((k.value for k in call.keywords if k.arg == "return_exceptions"), None)
    is_gather = (dotted(call.func) or "").rpartition(".")[2] == "gather"
    return is_gather and isinstance(kept, ast.Constant) and kept.value is True
