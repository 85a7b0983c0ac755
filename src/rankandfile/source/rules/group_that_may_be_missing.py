"""A group is looked up where some ranks have none, and no group means the whole job.

## Why this is bad

A table of groups is filled by the members: `if rank in members: groups[name] = group`. On a rank that is no member, or
where the name is misspelt, `groups.get(name)` is None, and a collective on None is one of all ranks of the job: those
are not there, while the members wait for each other on the group.

## Example

```python
import torch.distributed as dist

group = dist.new_group(members)
if dist.get_rank() in members:
    groups["tied"] = group
dist.all_reduce(grad, group=groups.get("tied"))
```

## Use instead

```python
import torch.distributed as dist

if "tied" in groups:
    dist.all_reduce(grad, group=groups["tied"])
```

## Limits

Reported where the table is filled under a test of the members, and what is looked up is handed to a collective, or
returned to callers none of which asks whether there is one.
"""

import ast
from collections.abc import Iterable, Iterator

from rankandfile.source.dependence.reaching_assignments import reaching
from rankandfile.source.dependence.syntax import ancestors, dotted, text
from rankandfile.source.effects.event import objects_of
from rankandfile.source.lint.rule import SETS_UP_GROUPS, Found, Rule, View
from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import enclosing_class
from rankandfile.source.program.scopes import binding_scope, own_nodes

ORDER = 294
_ASKS = (ast.Compare, ast.BoolOp, ast.If, ast.IfExp, ast.While, ast.Assert, ast.UnaryOp)


def _find(view: View) -> Iterable[Found]:
    tables = {table: stored for function in view.asked for table, stored in _filled_by_members(function)}
    for function in view.asked if tables else ():
        for call, table in _looked_up(function):
            key = _table(function, table)
            where, store = tables.get(key, (None, None)) if key is not None else (None, None)
            if where is None or store is None or not _is_used(view, function, call):
                continue
            yield Found(
                severity="warning",
                function=function,
                node=call,
                message=f"`{text(call, 60)}` is None on ranks that are in no such group, and means all ranks there",
                story=((where, store.lineno, "only members put it into the table"),),
                fix="Take it as `table[name]`, which fails where there is none, or ask first whether there is one.",
            )


def _filled_by_members(function: Function) -> Iterator[tuple[object, tuple[Function, ast.stmt]]]:
    """Tables that are given a group which was made here, under a test for its members."""
    for node in own_nodes(function):
        if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Subscript):
            continue
        key = _table(function, node.targets[0].value)
        tests = [a.test for a in ancestors(function.module, node) if isinstance(a, ast.If)]
        of_members = any(
            isinstance(op, ast.In)
            for t in tests
            for c in ast.walk(t)
            if isinstance(c, ast.Compare)
            for op in c.ops
        )
        if key is not None and of_members and _is_made(function, node.value):
            yield key, (function, node)


def _is_made(function: Function, e: ast.expr) -> bool:
    values = [e]
    if isinstance(e, ast.Name):
        values = [d.value for d in reaching(function).everywhere(e.id) if d.value is not None]
    return any(
        isinstance(v, ast.Call) and (dotted(v.func) or "").rpartition(".")[2] in SETS_UP_GROUPS
        for v in values
    )


def _table(function: Function, e: ast.expr) -> object:
    """What tells one table from another: a variable of a module, or an attribute of a class."""
    own = enclosing_class(function)
    if isinstance(e, ast.Attribute) and getattr(e.value, "id", "") == "self" and own is not None:
        return own, e.attr
    if isinstance(e, ast.Name):
        scope = binding_scope(function, e.id)
        return (scope, e.id) if scope is not None and isinstance(scope.node, ast.Module) else None
    return None


def _looked_up(function: Function) -> Iterator[tuple[ast.Call, ast.expr]]:
    for node in own_nodes(function):
        func = node.func if isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords else None
        if isinstance(node, ast.Call) and isinstance(func, ast.Attribute) and func.attr == "get":
            yield node, func.value


def _is_used(view: View, function: Function, call: ast.Call) -> bool:
    """Whether a collective is given it, or every caller, and nobody asks for None."""
    over = next(iter(ancestors(function.module, call)), None)
    if isinstance(over, ast.keyword) and over.arg == "group":
        at = next((a for a in ancestors(function.module, over) if isinstance(a, ast.Call)), None)
        return at is not None and at in view.effects.of
    if not isinstance(over, ast.Return):
        return False
    sites = [(site.function, site.node) for site, _bound in objects_of(view.program).callers(function)]
    return bool(sites) and not any(_asks(where, node) for where, node in sites)


def _asks(function: Function, node: ast.expr) -> bool:
    """Whether it, or the name that it is given, stands in a test."""
    around = next(iter(ancestors(function.module, node)), None)
    if isinstance(around, _ASKS):
        return True
    names = (
        [t.id for t in around.targets if isinstance(t, ast.Name)] if isinstance(around, ast.Assign) else []
    )
    tested = (p for n in own_nodes(function) if isinstance(n, _ASKS) for p in ast.walk(getattr(n, "test", n)))
    return bool(names) and any(isinstance(p, ast.Name) and p.id in names for p in tested)


RULE = Rule(find=_find, cause="group_mismatch")
