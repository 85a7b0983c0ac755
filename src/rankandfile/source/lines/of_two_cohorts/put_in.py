"""A loop over what an object holds, into which some ranks alone put more: `if rank == 0: book.enter_all([...])`.

The methods that fill the attribute are followed to their callers, through helpers that only hand on, up to the test
under which some ranks come there. What is put under a key that is worked out (`self.kept[item.label()] = item`) may
take the place of another item, so that one that all ranks have is missing where more were put in: then that is the
line.

In: the place of the loop, and what it goes over. Out: the line, and the test that makes the ranks' items differ.
"""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterator

from msgspec import Struct

from rankandfile.source.dependence import Reason, why
from rankandfile.source.dependence.callers import callers_of
from rankandfile.source.dependence.objects import Objects
from rankandfile.source.dependence.syntax import ancestors
from rankandfile.source.flow import tested
from rankandfile.source.program.modules import Function, Program
from rankandfile.source.program.places import SourcePlace, place_in

from .filled_collection import added_to, attributes

_FURTHEST, _MOST = 4, 40


class PutIn(Struct, frozen=True):
    store: SourcePlace
    keyed: bool
    """Under a key that is worked out of the item: one may take another's place."""
    around: Function
    """Where the test stands."""
    test: ast.If
    reason: Reason


def put_in(program: Program, objects: Objects, place: SourcePlace, asked: ast.expr) -> PutIn | None:
    """The nearest test that differs between ranks, under which a method fills what the loop goes over."""
    for function, node in _stores(place, attributes(asked)):
        queue: deque[tuple[Function, int]] = deque([(function, 0)])
        seen = {function}
        while queue and len(seen) < _MOST:
            filling, depth = queue.popleft()
            for site, _ in callers_of(objects, filling):
                for test in _tests_around(site.function, site.node):
                    lines = site.function.module.lines
                    reason = why(program, site.function, tested(lines, test.lineno, test.test))
                    if reason.level == "varying":
                        store = place_in(function, node.lineno)
                        return PutIn(store, _keyed(node), site.function, test, reason)
                if site.function not in seen and depth < _FURTHEST:
                    seen.add(site.function)
                    queue.append((site.function, depth + 1))
    return None


def _stores(place: SourcePlace, names: set[str]) -> Iterator[tuple[Function, ast.stmt | ast.Call]]:
    """The methods of the loop's own class that put something into one of the attributes, and where they do."""
    for function in place.module.functions:
        if function.owner is None or function.owner is not place.function.owner or function is place.function:
            continue
        for node in function.nodes:
            target = added_to(node)
            if isinstance(target, ast.Attribute) and target.attr in names:
                assert isinstance(node, (ast.stmt, ast.Call))
                yield function, node
                break


def _keyed(node: ast.stmt | ast.Call) -> bool:
    target = node.targets[0] if isinstance(node, ast.Assign) else None
    return isinstance(target, ast.Subscript) and any(isinstance(n, ast.Call) for n in ast.walk(target.slice))


def _tests_around(function: Function, site: ast.AST) -> Iterator[ast.If]:
    for outer in ancestors(function.module, site):
        if outer is function.node:
            return
        if isinstance(outer, ast.If):
            yield outer
