"""Whom the transfer is with in which a rank stands: `dist.recv(x, src=self.upstream)`, worked out for that rank."""

from __future__ import annotations

import ast

from rankandfile.model.heuristics import heuristic
from rankandfile.source.one_rank.arithmetic import alone
from rankandfile.source.program.called import called_name
from rankandfile.source.program.modules import Function
from rankandfile.source.program.places import SourcePlace

from .arguments import calls_on, from_caller
from .call_paths import CallPath, Stop
from .found_line import Search

_PEER = {"recv": "src", "irecv": "src", "send": "dst", "isend": "dst"}
_FURTHEST = 4
#: Ranks that are asked.
_MOST = 1024


@heuristic(
    "peers by the source",
    "whom a rank's transfer is with follows from its number, by the source",
    otherwise={},
)
def peers_by_code(search: Search) -> dict[int, int]:
    """By rank, for those that were seen in a transfer whose line says whom it is with."""
    found: dict[int, int] = {}
    for rank in search.paths.seen_in(_PEER)[:_MOST]:
        path = search.paths.now(rank)
        known = [
            n for n, frame in enumerate(path) if (p := search.places.find(frame)) is not None and p.known
        ]
        place = search.places.find(path[known[-1]]) if known else None
        peer = _peer(place) if place is not None else None
        if place is None or peer is None:
            continue
        values = search.one_rank(rank).of(*_from_outside(search, path, known[-1], place, peer))
        (other,) = alone([values]) or (None,)
        if type(other) is int and 0 <= other < search.ranks and other != rank:
            found[rank] = other
    return found


def _peer(place: SourcePlace) -> ast.expr | None:
    calls = [call for call in calls_on(place, Stop(place.line)) if called_name(call) in _PEER]
    if len(calls) != 1:
        return None
    (call,) = calls
    name = _PEER[called_name(call)]
    named = {keyword.arg: keyword.value for keyword in call.keywords}
    # A position in the group is no rank of the job.
    return named.get(name) or (call.args[1] if len(call.args) > 1 and f"group_{name}" not in named else None)


def _from_outside(
    search: Search, path: CallPath, depth: int, place: SourcePlace, value: ast.expr
) -> tuple[ast.expr, Function]:
    """What the functions around handed on, as far as they did."""
    for _ in range(_FURTHEST):
        given = from_caller(search.places, path, depth, value, place.function)
        outer = search.places.find(path[depth - 1]) if given is not None else None
        if given is None or outer is None or not outer.known:
            break
        place, value, depth = outer, given, depth - 1
    return value, place.function
