"""On which decisions it depends whether, and how often, control comes to a step before it comes to another one."""

from __future__ import annotations

from collections.abc import Iterable
from weakref import WeakKeyDictionary

from rankandfile.source.program.modules import Function

from .condition import Condition
from .deciding import Question, answer
from .graph import Node
from .reach import between

_KNOWN: WeakKeyDictionary[Function, dict[Question, list[Condition]]] = WeakKeyDictionary()


def between_nodes(
    function: Function, here: set[Node], there: set[Node], starts: Iterable[Node]
) -> list[Condition]:
    """The decisions, on the way from `starts`, on which it depends whether and how often one set of steps is reached
    before the other.

    `for item in items: if mine(item): if good(item): yield item` comes to its `yield` in a later round whatever
    `mine` says of this one; how often it does is said by both.
    """
    known = _KNOWN.setdefault(function, {})
    question = (frozenset(here), frozenset(there), frozenset(starts))
    if question not in known:
        known[question] = _all_that_lead(function, here, there, question[2])
    return list(known[question])


def _all_that_lead(
    function: Function, here: set[Node], there: set[Node], starts: frozenset[Node]
) -> list[Condition]:
    first = answer(function, here, there, starts)
    conditions = dict.fromkeys(first.conditions)
    open_, seen = [*first.nodes], {*first.nodes}
    while open_:
        node = open_.pop()
        if node not in between(node.next(), there):
            # Without a loop whatever leads to it has been found by what it leads to.
            continue
        further = answer(function, {node}, there, starts)
        conditions.update(dict.fromkeys(further.conditions))
        open_ += [one for one in further.nodes if one not in seen]
        seen.update(further.nodes)
    return list(conditions)
