"""Whose message does not come, by the code: whoever receives names the sender, and arithmetic on its rank tells who.

Where a test puts a send into a batch or leaves it out, and ranks wait for the receive that stands beside it, those they
receive from left the send out.
"""

from __future__ import annotations

import ast
from typing import NamedTuple

from rankandfile.model.findings import NamedByCode
from rankandfile.model.heuristics import heuristic
from rankandfile.model.ranks import format_ranks
from rankandfile.source.lines.arguments import called_name
from rankandfile.source.lines.found_line import FoundLine, Search
from rankandfile.source.one_rank import OneRank
from rankandfile.source.program.modules import Function
from rankandfile.source.program.scopes import own_nodes

_RECEIVES, _SENDS = {"recv", "irecv"}, {"send", "isend"}
_OPERATION = "P2POp"
_MOST_HELD = 64


class Transfer(NamedTuple):
    call: ast.Call
    sends: bool
    peer: ast.expr


@heuristic("unsent message", "whoever a waiting rank can only receive from left its send out")
def by_unsent(found: FoundLine, search: Search) -> NamedByCode | None:
    named = _unsent(found, search)
    if named is None:
        return None
    senders, held = named
    return NamedByCode(
        ranks=senders,
        doing="left out a send that is waited for",
        sentence=f"The code decides it: there {rank_words(held)} can only wait for a message of {rank_words(senders)}, "
        "and the test leaves out a send, never the receive.",
    )


def _unsent(found: FoundLine, search: Search) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """Those that left the send out, and those that wait for it."""
    function, world = found.place.function, search.case.world_size
    guard = _guard(function, found.line)
    if found.kind != "filled" or guard is None or not world:
        return None
    inside = {id(node) for part in guard.body for node in ast.walk(part)}
    made = transfers(function)
    receives = [one for one in made if not one.sends and id(one.call) not in inside]
    if not receives or not any(one.sends and id(one.call) in inside for one in made):
        return None
    held = tuple(rank for rank in search.paths.seen() if _stands_in(search, rank, function))
    senders: set[int] = set()
    for rank in held[:_MOST_HELD]:
        peers = peers_of(search.one_rank(rank), receives, function)
        if len(peers) != 1:
            return None
        senders |= peers
    seen = set(search.paths.seen())
    if not senders or senders & set(held) or not senders <= seen:
        return None
    return tuple(sorted(senders)), held


def transfers(function: Function) -> list[Transfer]:
    """The sends and receives that stand in the function, also those that are put into a batch."""
    found: list[Transfer] = []
    for node in own_nodes(function):
        if not isinstance(node, ast.Call):
            continue
        name, peers = called_name(node), node.args[1:2]
        if name == _OPERATION and node.args:
            name, peers = _last_name(node.args[0]), node.args[2:3]
        named = [k.value for k in node.keywords if k.arg in ("peer", "src", "dst")]
        if name in _RECEIVES | _SENDS and (named or peers):
            found.append(Transfer(node, name in _SENDS, (named or peers)[0]))
    return found


def peers_of(one: OneRank, some: list[Transfer], function: Function) -> frozenset[int]:
    """The ranks of the job that any of the transfers can be with; empty where one can be with anybody."""
    found: set[int] = set()
    for transfer in some:
        values = one.of(transfer.peer, function)
        if values is None:
            return frozenset()
        found |= {v for v in values if isinstance(v, int) and 0 <= v < one.world and v != one.rank}
    return frozenset(found)


def _guard(function: Function, line: int) -> ast.If | None:
    return next((n for n in own_nodes(function) if isinstance(n, ast.If) and n.lineno == line), None)


def _stands_in(search: Search, rank: int, function: Function) -> bool:
    places = (search.places.find(frame) for frame in search.paths.now(rank))
    return any(place is not None and place.known and place.function is function for place in places)


def _last_name(e: ast.expr) -> str:
    return getattr(e, "attr", "") or getattr(e, "id", "")


def rank_words(ranks: tuple[int, ...]) -> str:
    return f"rank{'' if len(ranks) == 1 else 's'} {format_ranks(ranks)}"
