"""All that a piece of syntax issues, itself or through the functions that it runs.

In: the effects of a program and a node. Out: the events, in the order in which they are written, each function once.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rankandfile.source.program.modules import Function
from rankandfile.source.program.scopes import own_nodes

from .event import Event
from .loud import Effects, Runs


def issued(effects: Effects, node: ast.AST, seen: set[Function]) -> Iterator[Event]:
    """`seen`: functions that are not gone into, to which those are added that are."""
    for effect in effects.of.get(node, ()):
        if isinstance(effect, Event):
            yield effect
        elif isinstance(effect, Runs) and effect.target not in seen:
            yield from issued_in(effects, effect.target, seen)


def issued_in(effects: Effects, function: Function, seen: set[Function]) -> Iterator[Event]:
    """The same of a whole function, which is added to those that were gone into."""
    seen.add(function)
    for node in own_nodes(function):
        yield from issued(effects, node, seen)
