"""Reaching definitions: which assignments a use of a name can see.

Besides assignments, a call can give a name its value: a collective in place makes a tensor the same on all members, and
`list.append` or an item assignment add to a container. Attributes (`self.x`) are names here too; what other functions
store into them is the definition "outside". What a single process alone would do reaches nothing: a job has several.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rankandfile.source.flow.build import graph_of
from rankandfile.source.flow.graph import RAISED, Graph, Node
from rankandfile.source.flow.several import taken
from rankandfile.source.program.kept import kept
from rankandfile.source.program.modules import Function
from rankandfile.source.program.scopes import binding_scope, scope_of

from .assignments import Definition, defined
from .syntax import ancestors, dotted
from .written.changed import changed_inside, changed_names

MOST_DEFINITIONS = 3000


class Reaching:
    """The definitions of one function, and where they reach."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.graph: Graph = graph_of(function)
        self.at: dict[Node, list[Definition]] = {}
        self._by_syntax: dict[ast.AST, list[Node]] = {}
        for node in self.graph.nodes:
            found = list(defined(function, node))
            if found:
                self.at[node] = found
            if node.what is not None:
                self._by_syntax.setdefault(node.what, []).append(node)
        self._outside_and_parameters()
        self.all = [d for found in self.at.values() for d in found][:MOST_DEFINITIONS]
        self._before = self._solve()

    def _outside_and_parameters(self) -> None:
        """What holds on entry; a new object brings new attributes; a method called on `self` may set any."""
        entry = self.at.setdefault(self.graph.entry, [])
        attributes = {d.name for found in self.at.values() for d in found if "." in d.name}
        first = [Definition(p, self.graph.entry, "parameter") for p in self.function.parameters]
        first.extend(Definition(name, self.graph.entry, "outside") for name in sorted(attributes))
        self.at[self.graph.entry] = entry
        self.first = first
        for node in self.graph.nodes:
            found = self.at.get(node, [])
            new = {d.name for d in found if d.kills and d.how != "outside"}
            fresh = [
                name for name in attributes if name not in new and any(name.startswith(f"{n}.") for n in new)
            ]
            if isinstance(node.what, ast.Call) and (dotted(node.what.func) or "").startswith("self."):
                ours = (name for name in attributes if name.startswith("self.") and name not in new)
                self.at.setdefault(node, []).extend(Definition(name, node, "called") for name in ours)
            if fresh:
                self.at.setdefault(node, []).extend(Definition(name, node, "outside") for name in fresh)

    def _solve(self) -> dict[Node, int]:
        """The usual data-flow equations, with a bit for every definition."""
        every = [*self.first, *self.all]
        bit = {d: 1 << index for index, d in enumerate(every)}
        self._by_name: dict[str, list[tuple[int, Definition]]] = {}
        for index, d in enumerate(every):
            self._by_name.setdefault(d.name, []).append((index, d))
        by_name: dict[str, int] = {}
        for d in every:
            by_name[d.name] = by_name.get(d.name, 0) | bit[d]
        made: dict[Node, int] = {}
        killed: dict[Node, int] = {}
        for node, found in self.at.items():
            for d in found:
                if d not in bit:
                    continue
                made[node] = made.get(node, 0) | bit[d]
                if d.kills:
                    killed[node] = killed.get(node, 0) | by_name[d.name]
        before: dict[Node, int] = {self.graph.entry: sum(bit[d] for d in self.first)}
        queue = [self.graph.entry]
        seen: set[Node] = set()
        while queue:
            node = queue.pop()
            seen.add(node)
            now = before.get(node, 0)
            after = (now & ~killed.get(node, 0)) | made.get(node, 0)
            way = taken(node, self.function)
            for outcome, follower in node.edges:
                if way is not None and outcome not in (way, RAISED):
                    continue
                # What a step would have stored is not stored when it raises.
                passed = now if outcome == RAISED else after
                old = before.get(follower, 0)
                if old | passed != old or follower not in seen:
                    before[follower] = old | passed
                    seen.add(follower)
                    queue.append(follower)
        self._reached = seen
        return before

    def reaches(self, node: Node) -> bool:
        """Whether a rank of a job comes to the step."""
        return node in self._reached

    def nodes(self, use: ast.AST) -> list[Node]:
        """The steps of the graph in which a piece of syntax is evaluated."""
        if use in self._by_syntax:
            return self._by_syntax[use]
        for node in ancestors(self.function.module, use):
            if node in self._by_syntax:
                return self._by_syntax[node]
            if node is self.function.node:
                break
        return []

    def of(self, name: str, nodes: list[Node]) -> list[Definition]:
        """The definitions of a name that reach the steps."""
        bits = 0
        for node in nodes:
            bits |= self._before.get(node, 0)
        return [d for index, d in self._by_name.get(name, ()) if bits >> index & 1]

    def everywhere(self, name: str) -> list[Definition]:
        """All definitions of a name in the function, wherever they reach."""
        return [d for _index, d in self._by_name.get(name, ())]

    def has(self, name: str) -> bool:
        return name in self._by_name


@kept
def reaching(function: Function) -> Reaching:
    """Which assignments reach which uses in the function; worked out once."""
    return Reaching(function)


@kept
def inner_storers(scope: Function) -> dict[str, list[Function]]:
    """A variable of a function -> the functions inside of it that give it a value, or change what it holds."""
    found: dict[str, list[Function]] = {}
    inner = [f for f in scope.module.functions if f is not scope and scope in _around(f)]
    for function in inner if not isinstance(scope.node, ast.Module) else ():
        names = {n for n in scope_of(function).declared if function.parent is not None}
        for name in names | changed_names(function):
            own = function.parent if name in scope_of(function).declared else function
            if own is not None and binding_scope(own, name) is scope:
                found.setdefault(name, []).append(function)
    return found


def _around(function: Function) -> Iterator[Function]:
    outer = function.parent
    while outer is not None:
        yield outer
        outer = outer.parent


def storers(scope: Function, name: str) -> list[Function]:
    """The functions that give a variable of this scope a value, or change what it holds: the scope itself, those that
    declare the variable theirs and, of a module's, those that put something into it."""
    module = scope.module
    changers = changed_inside(module).get(name, ()) if isinstance(scope.node, ast.Module) else ()
    others = (f for f in module.functions if name in scope_of(f).declared or f in changers)
    return [scope, *(f for f in others if f is not scope)]


def is_filled(test: ast.expr, function: Function) -> bool:
    """The truth of a list that things are added to is whether it has items, and not which."""
    name = dotted(test) if isinstance(test, (ast.Name, ast.Attribute)) else None
    if name is None:
        return False
    flow = reaching(function)
    found = flow.of(name, flow.nodes(test))
    empty = (ast.List, ast.Dict, ast.Set)
    return any(d.how == "mutate" for d in found) and all(
        d.how == "mutate" or isinstance(d.value, empty) for d in found
    )
