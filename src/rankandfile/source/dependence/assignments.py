"""Which names a piece of syntax gives a value: assignments, and calls that do as much."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Literal, TypeAlias

from msgspec import Struct

from rankandfile.source.flow.graph import Node
from rankandfile.source.program.kept import kept
from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import External, resolve
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
    set_by_name,
    stored,
)
from .written.changed import (
    ADDS,
    EMPTIES,
    PUTS,
    REMOVES,
    REORDERS,
    REPLACES,
    changed_names,
    same_thing,
    unfilled,
)

How: TypeAlias = Literal[
    "assign",
    "augment",
    "mutate",
    "remove",
    "reorder",
    "below",
    "agreed",
    "received",
    "parameter",
    "outside",
    "called",
    "exception",
    "definition",
]


#: What only lists and their like have: an item may be an object whose class has an `add`, or an `update`, of its own.
_OF_LISTS = {"append", "appendleft", "extend", "insert", "pop", "popleft", "remove"}


class Definition(Struct, eq=False, frozen=True):
    name: str
    node: Node
    how: How
    value: ast.expr | None = None
    path: Path = ()
    """The part of `value` that the name gets; for "mutate", the part of the name that gets it."""
    site: ast.AST | None = None
    in_each: bool = False
    """It is put into an item that a loop goes over, and not into what holds the items."""

    @property
    def kills(self) -> bool:
        return self.how not in ("mutate", "remove", "reorder", "below", "called", "received")

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
        if found.how in ("mutate", "remove") and (other := same_thing(function).get(found.name)) is not None:
            yield Definition(other, node, found.how, found.value, found.path, found.site)
        holder = loop_over(function, found.site, found.name) if found.how == "mutate" else None
        if holder is not None:
            # `for row in rows: row[0] = x` changes `rows`, too.
            path = (("item", None), *found.path)
            yield Definition(holder, node, "mutate", found.value, path, found.site, in_each=True)


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
            if name.endswith(".data"):
                yield Definition(name.removesuffix(".data"), node, "assign", value, part, site)
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
        if (into := dotted(argument(call, "out"))) is not None:
            yield Definition(into, node, "assign", call, (), call)
        filled, told = TABLE.fills.get(canonical(target.dotted), ((), ()))
        if filled and (name := dotted(argument(call, *filled))) is not None:
            if not told:
                yield Definition(name, node, "received", call, (), call)
            read = [value for place in told if (value := argument(call, place)) is not None]
            yield from (Definition(name, node, "mutate", value, (("item", None),), call) for value in read)
        if target.dotted in PUTS and len(call.args) > 1 and (name := dotted(call.args[0])) is not None:
            yield Definition(name, node, "mutate", call.args[1], (("item", None),), call)
    elif isinstance(target, Function) and target is not function:
        yield from _agreed_below(node, call, target)
        yield from _changed_below(node, call, target)
    if target is None and (empty := unfilled(function)):
        for value in arguments(call):
            if isinstance(value, ast.Name) and value.id in empty:
                yield Definition(value.id, node, "mutate", call, (("item", None),), call)
    by_name = set_by_name(call)
    if by_name is not None and by_name[1] is not None and (base := dotted(by_name[0])) is not None:
        yield Definition(f"{base}.{by_name[1]}", node, "assign", by_name[2], (), call)
    if target is None and isinstance(call.func, ast.Attribute):
        name = dotted(call.func.value)
        method = call.func.attr
        if name is None:
            yield from _in_an_item(node, call, call.func.value, method)
            return
        if method in ADDS:
            for value in [*call.args, *(k.value for k in call.keywords)]:
                plain = value.value if isinstance(value, ast.Starred) else value
                yield Definition(name, node, "mutate", plain, (("item", None),), call)
        elif method in REMOVES:
            what = call.args[0] if call.args else ast.Constant(0)
            yield Definition(name, node, "remove", what, (("item", None),), call)
        elif method in REORDERS:
            yield Definition(name, node, "reorder", site=call)
        elif method in REPLACES and call.args:
            yield Definition(name, node, "assign", call.args[0], (), call)
        elif method in EMPTIES:
            yield Definition(name, node, "assign", ast.Constant(0), (), call)


def _in_an_item(node: Node, call: ast.Call, inner: ast.expr, method: str) -> Iterator[Definition]:
    """`hooks[event].append(hook)` and `hooks.setdefault(event, []).append(hook)` change `hooks`, too."""
    key: ast.expr | None = None
    if isinstance(inner, ast.Subscript):
        outer, key = dotted(inner.value), inner.slice
    elif isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute):
        plain = isinstance(inner.args[-1] if inner.args else None, (ast.List, ast.Dict, ast.Set))
        made = inner.func.attr == "setdefault" and plain
        outer, key = (dotted(inner.func.value), inner.args[0]) if made else (None, None)
    else:
        return
    if outer is None or method not in _OF_LISTS:
        return
    at = ("item", key.value if isinstance(key, ast.Constant) else None)
    how: How = "remove" if method in REMOVES else "mutate"
    for value in call.args or [ast.Constant(0)]:
        single = value.value if isinstance(value, ast.Starred) else value
        yield Definition(outer, node, how, single, (at, ("item", None)), call)


def _changed_below(node: Node, call: ast.Call, target: Function) -> Iterator[Definition]:
    """A function of the tree that puts something into what it is given, or takes something out."""
    changed = changed_names(target)
    own = target.owner is not None and target.parameters[:1] in (["self"], ["cls"])
    given = dict(zip(target.parameters[own:], call.args, strict=False)) if changed else {}
    given.update({k.arg: k.value for k in call.keywords if k.arg is not None} if changed else {})
    for parameter, value in given.items():
        name = dotted(value)
        if name is not None and parameter in changed:
            yield Definition(name, node, "below", call, (("parameter", parameter),), call)


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
    for node in function.nodes:
        resolved = resolve(function, node.func) if isinstance(node, ast.Call) else None
        rule = sanitiser(resolved.dotted) if isinstance(resolved, External) else None
        if rule is not None and rule.in_place and isinstance(node, ast.Call):
            found.append(node)
    return found


def _reduces(function: Function, call: ast.Call, parameter: str) -> bool:
    resolved = resolve(function, call.func)
    rule = sanitiser(resolved.dotted) if isinstance(resolved, External) else None
    return rule is not None and bool(rule.in_place) and dotted(argument(call, *rule.in_place)) == parameter
