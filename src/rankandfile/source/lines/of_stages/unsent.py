"""Of a rank that is known to have left a message out: the test upon which it does not send, or does not receive.

In: whom the verdict names for it. Out: the test, where only one in the program lets its own data decide.
"""

from __future__ import annotations

import ast
from typing import TypeAlias

from rankandfile.model.diagnosis import Verdict
from rankandfile.model.heuristics import heuristic
from rankandfile.source.dependence import Reason
from rankandfile.source.lines.found_line import FoundLine, Search
from rankandfile.source.program.modules import Function
from rankandfile.source.program.scopes import own_nodes

from .left_out import upon
from .pipeline import left_message_out
from .ways_around import arms_without

Around: TypeAlias = dict[tuple[Function, ast.If], Reason | None]
"""Tests, each with its function, and why they may come out differently."""

_TRANSFERS = ("send", "isend", "recv", "irecv", "P2POp", "send_object_list", "recv_object_list")


@heuristic(
    "unsent", "who left a message out did so upon the one test of its own data that leads around a transfer"
)
def unsent(search: Search, verdict: Verdict) -> FoundLine | None:
    rank = left_message_out(verdict)
    if rank is None or not verdict.culprits:
        return None
    found: Around = {}
    for name in _TRANSFERS:
        for site in search.objects.index.calls(name):
            found.update(around(search, site.function, site.call.lineno, rank))
    if len(found) != 1:
        return None
    ((function, test), reason) = next(iter(found.items()))
    return upon(function, test, reason, rank)


def around(search: Search, function: Function, line: int, rank: int) -> Around:
    """The tests by which the rank may come around the line. It has come to it in the rounds before: so a test that its
    number decides is none of these."""
    found: Around = {}
    for node in own_nodes(function):
        if not isinstance(node, ast.If) or not [*arms_without(function, node, line)]:
            continue
        reason = search.why(function, node.test)
        if reason.level != "uniform" and search.may_change(node.test, function, rank):
            # That the number of the rank is in it too is not what changed.
            found[function, node] = None if reason.source == "rank_api" else reason
    return found
