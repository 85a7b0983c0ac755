"""Which names a piece of syntax gives a value: assignments, and calls that do as much."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Literal, TypeAlias

from msgspec import Struct

from rankandfile.source.flow.graph import Node
from rankandfile.source.program.kept import kept
from rankandfile.source.program.modules import Function, Module
from rankandfile.source.program.names import External, resolve
from rankandfile.source.program.scopes import binding_scope, own_nodes
from rankandfile.source.program.walking import walk
from rankandfile.source.registry.tables import TABLE, canonical, sanitiser

from .syntax import (
    EACH,
    ENTER,
    Path,
    ancestors,
    argument,
    arguments,
    dotted,
    loop_over,
    stored,
)

How: TypeAlias = Literal[
    "assign",
    "augment",
    "mutate",
    "remove",
    "reorder",
    "agreed",
    "parameter",
    "outside",
    "called",
    "exception",
    "definition",
]
_ADDS = {
    *("append", "add", "extend", "update", "insert", "setdefault", "appendleft", "put"),
    *("add_", "mul_", "sub_", "div_"),
}
_PUTS = {f"heapq.{name}" for name in ("heappush", "heappushpop", "heapreplace")} | {
    f"bisect.{name}" for name in ("insort", "insort_left", "insort_right")
}
"""Of a list and an item, what puts the one into the other."""
_REPLACES = {"copy_", "fill_"}
_EMPTIES = {"clear", "zero_"}
_REMOVES = {"pop", "popitem", "popleft", "remove", "discard"}
_REORDERS = {"reverse", "sort", "rotate"}
"""The same items, so the same number of them, in another order."""


class Definition(Struct, eq=False, frozen=True):
    name: str
    node: Node
    how: How
    value: ast.expr | None = None
    path: Path = ()
    """The part of `value` that the name gets; for "mutate", the part of the name that gets it."""
    site: ast.AST | None = None

    @property
    def kills(self) -> bool:
        return self.how not in ("mutate", "remove", "reorder", "called")

    @property
    def key(self) -> ast.expr | None:
        """Of what is stored into a container: the expression under which, where that is not written out."""
        if isinstance(self.site, ast.Call):
            by_key = isinstance(self.site.func, ast.Attribute) and self.site.func.attr == "setdefault"
            return self.site.args[0] if by_key and self.site.args else None
        return next((part.slice for part in self._subscripts() if dotted(part.value) == self.name), None)

    def _subscripts(self) -> Iterator[ast.Subscript]:
        site = self.site
        targets = site.targets if isinstance(site, ast.Assign) else [getattr(site, "target", None)]
        for target in targets:
            for part in ast.walk(target) if target is not None else ():
                if isinstance(part, ast.Subscript) and not isinstance(part.slice, ast.Constant):
                    yield part

    @property
    def line(self) -> int:
        return getattr(self.site, "lineno", 0) or 0


def defined(function: Function, node: Node) -> Iterator[Definition]:
    """The names that this piece of syntax gives a value, and how."""
    for found in _defined(function, node):
        yield found
        holder = loop_over(function, found.site, found.name) if found.how == "mutate" else None
        if holder is not None:
            # `for row in rows: row[0] = x` changes `rows`, too.
            path = (("item", None), *found.path)
            yield Definition(holder, node, "mutate", found.value, path, found.site)


def _defined(function: Function, node: Node) -> Iterator[Definition]:
    what = node.what
    if isinstance(what, ast.Call):
        yield from _by_call(function, node, what)
    elif isinstance(what, ast.Delete):
        for target in what.targets:
            name = dotted(target.value) if isinstance(target, ast.Subscript) else None
            if name is not None and isinstance(target, ast.Subscript):
                yield Definition(name, node, "remove", target.slice, (("item", None),), what)
    elif node.binds and what is not None:
        yield from _by_statement(function, node, what)


def _by_statement(function: Function, node: Node, what: ast.AST) -> Iterator[Definition]:
    if isinstance(what, ast.Assign):
        for target in what.targets:
            yield from _targets(node, target, what.value, what)
    elif isinstance(what, (ast.AnnAssign, ast.NamedExpr)):
        if what.value is not None:
            yield from _targets(node, what.target, what.value, what)
    elif isinstance(what, ast.AugAssign):
        name = dotted(what.target)
        if name is not None:
            yield Definition(name, node, "augment", what.value, (), what)
        else:
            yield from _targets(node, what.target, what.value, what)
    elif isinstance(what, (ast.For, ast.AsyncFor)):
        yield from _targets(node, what.target, what.iter, what, (EACH,))
    elif isinstance(what, ast.withitem) and what.optional_vars is not None:
        site = what.context_expr
        yield from _targets(node, what.optional_vars, what.context_expr, site, (ENTER,))
    elif isinstance(what, ast.ExceptHandler) and what.name:
        yield Definition(what.name, node, "exception", None, (), what)
    elif isinstance(what, ast.match_case):
        yield from _by_pattern(function, node, what)
    elif isinstance(what, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield Definition(what.name, node, "definition", None, (), what)
    elif isinstance(what, (ast.Import, ast.ImportFrom)):
        for alias in what.names:
            yield Definition(alias.asname or alias.name.split(".")[0], node, "definition", None, (), what)


def _targets(
    node: Node, target: ast.expr, value: ast.expr, site: ast.AST, path: Path = ()
) -> Iterator[Definition]:
    if not path and isinstance(target, (ast.Tuple, ast.List)) and isinstance(value, (ast.Tuple, ast.List)):
        plain = not any(isinstance(e, ast.Starred) for e in (*target.elts, *value.elts))
        if plain and len(target.elts) == len(value.elts):
            for one, its in zip(target.elts, value.elts, strict=True):
                yield from _targets(node, one, its, site)
            return
    for single, part in stored(target, path):
        name = dotted(single)
        if name is not None:
            yield Definition(name, node, "assign", value, part, site)
        elif isinstance(single, ast.Subscript):
            # `rows[-1][member] = x` changes `rows`, too.
            outer = single
            while isinstance(outer.value, ast.Subscript):
                outer = outer.value
            container = dotted(outer.value)
            if container is not None:
                key = outer.slice.value if isinstance(outer.slice, ast.Constant) else None
                yield Definition(container, node, "mutate", value, (("item", key), *part), site)


def _by_pattern(function: Function, node: Node, case: ast.match_case) -> Iterator[Definition]:
    subject = next((a.subject for a in ancestors(function.module, case) if isinstance(a, ast.Match)), None)
    for part in ast.walk(case.pattern):
        if isinstance(part, (ast.MatchAs, ast.MatchStar)) and part.name and subject is not None:
            yield Definition(part.name, node, "assign", subject, (("item", None),), case.pattern)


def _by_call(function: Function, node: Node, call: ast.Call) -> Iterator[Definition]:
    target = resolve(function, call.func)
    if isinstance(target, External):
        rule = sanitiser(target.dotted)
        if rule is not None and rule.in_place:
            name = dotted(argument(call, *rule.in_place))
            if name is not None:
                yield Definition(name, node, "agreed", call, (), call)
            return
        filled, told = TABLE.fills.get(canonical(target.dotted), ((), ()))
        if filled and (name := dotted(argument(call, *filled))) is not None:
            read = [value for place in told if (value := argument(call, place)) is not None]
            yield from (Definition(name, node, "mutate", value, (("item", None),), call) for value in read)
        if target.dotted in _PUTS and len(call.args) > 1 and (name := dotted(call.args[0])) is not None:
            yield Definition(name, node, "mutate", call.args[1], (("item", None),), call)
    elif isinstance(target, Function) and target is not function:
        yield from _agreed_below(node, call, target)
    if target is None and (unfilled := _unfilled(function)):
        for value in arguments(call):
            if isinstance(value, ast.Name) and value.id in unfilled:
                yield Definition(value.id, node, "mutate", call, (("item", None),), call)
    if target is None and isinstance(call.func, ast.Attribute):
        name = dotted(call.func.value)
        method = call.func.attr
        if name is None:
            return
        if method in _ADDS:
            for value in [*call.args, *(k.value for k in call.keywords)]:
                plain = value.value if isinstance(value, ast.Starred) else value
                yield Definition(name, node, "mutate", plain, (("item", None),), call)
        elif method in _REMOVES:
            what = call.args[0] if call.args else ast.Constant(0)
            yield Definition(name, node, "remove", what, (("item", None),), call)
        elif method in _REORDERS:
            yield Definition(name, node, "reorder", site=call)
        elif method in _REPLACES and call.args:
            yield Definition(name, node, "assign", call.args[0], (), call)
        elif method in _EMPTIES:
            yield Definition(name, node, "assign", ast.Constant(0), (), call)


@kept
def changed_inside(module: Module) -> dict[str, list[Function]]:
    """A variable of the module -> the functions that put something into what it holds, or take it out."""
    found: dict[str, list[Function]] = {}
    body, changes = module.functions[0], _ADDS | _REMOVES | _EMPTIES
    for function in module.functions[1:]:
        names: set[str] = set()
        for node in own_nodes(function):
            held: ast.expr | None = None
            if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
                held = node.value
            elif (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr in changes
            ):
                held = node.func.value
            while isinstance(held, ast.Subscript):
                held = held.value
            if isinstance(held, ast.Name) and binding_scope(function, held.id) is body:
                names.add(held.id)
        for name in names:
            found.setdefault(name, []).append(function)
    return found


@kept
def _unfilled(function: Function) -> frozenset[str]:
    """Names of lists and dicts that begin empty, and that nothing written in the function fills: a call of code that is
    not here, which is given one, is what fills it."""
    empty: set[str] = set()
    filled: set[str] = set(function.parameters)
    for what in walk(function.node):
        if isinstance(what, (ast.Assign, ast.AnnAssign)):
            targets = what.targets if isinstance(what, ast.Assign) else [what.target]
            plain = [t.id for t in targets if isinstance(t, ast.Name)]
            (empty if _empty(what.value) else filled).update(plain)
            filled |= {
                t.value.id for t in targets if isinstance(t, ast.Subscript) and isinstance(t.value, ast.Name)
            }
        elif isinstance(what, ast.AugAssign) and isinstance(what.target, ast.Name):
            filled.add(what.target.id)
        elif isinstance(what, ast.Attribute) and isinstance(what.value, ast.Name) and what.attr in _ADDS:
            filled.add(what.value.id)
    return frozenset(empty - filled)


def _empty(value: ast.expr | None) -> bool:
    return (isinstance(value, ast.List) and not value.elts) or (
        isinstance(value, ast.Dict) and not value.keys
    )


def _agreed_below(node: Node, call: ast.Call, target: Function) -> Iterator[Definition]:
    """A function of the tree that reduces its argument in place."""
    reducing = _reducing(target)
    parameters = target.parameters
    for index, value in enumerate(call.args if reducing else ()):
        name = dotted(value)
        if name is None or index >= len(parameters):
            continue
        for inner in reducing:
            if _reduces(target, inner, parameters[index]):
                yield Definition(name, node, "agreed", inner, (), call)
                break


@kept
def _reducing(function: Function) -> list[ast.Call]:
    """The calls in a function that reduce something in place."""
    found = []
    for node in walk(function.node):
        resolved = resolve(function, node.func) if isinstance(node, ast.Call) else None
        rule = sanitiser(resolved.dotted) if isinstance(resolved, External) else None
        if rule is not None and rule.in_place and isinstance(node, ast.Call):
            found.append(node)
    return found


def _reduces(function: Function, call: ast.Call, parameter: str) -> bool:
    resolved = resolve(function, call.func)
    rule = sanitiser(resolved.dotted) if isinstance(resolved, External) else None
    return rule is not None and bool(rule.in_place) and dotted(argument(call, *rule.in_place)) == parameter
