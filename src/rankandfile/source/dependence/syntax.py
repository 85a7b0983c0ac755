"""Where a piece of syntax stands, what it holds, which part of a value is taken: an item, an attribute, a length."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import takewhile
from typing import TypeAlias, TypeGuard

from rankandfile.source.program.kept import kept
from rankandfile.source.program.modules import Function, Module
from rankandfile.source.program.walking import children as inner_nodes

Path: TypeAlias = tuple[tuple[str, object], ...]
"""Which part of a value is meant: ("item", key), ("attr", name), ("each", None), ("len", None); outermost first."""

EACH: tuple[str, object] = ("each", None)
LEN: tuple[str, object] = ("len", None)
HOLDS: tuple[str, object] = ("holds", None)
"""Of a container, what is found to be in it: the items, or the keys."""
ENTER: tuple[str, object] = ("enter", None)
"""Of a context manager, what its block is given."""
KIND: tuple[str, object] = ("kind", None)
"""Of a value, no more than whether there is one."""

LOOPS = (ast.For, ast.AsyncFor, ast.While)
JUMPS = (ast.Continue, ast.Break, ast.Return, ast.Raise)
KEEPS = {"append", "appendleft", "add", "insert", "setdefault"}
"""Methods that put one thing into a container."""
PUTS_IN = {*KEEPS, "extend", "update"}
OF_DICTS = {"items", "keys", "values"}
"""Methods of a dictionary that hand out all that is in it."""
_SAME_ITEMS = {"sorted", "list", "tuple", "reversed", "enumerate", "iter"}


@kept
def parents(module: Module) -> dict[ast.AST, ast.AST]:
    return {child: node for node in module.nodes for child in inner_nodes(node)}


def outers_within(function: Function, node: ast.AST) -> Iterator[ast.AST]:
    """What is around the node within its function, the innermost first."""
    return takewhile(lambda outer: outer is not function.node, ancestors(function.module, node))


def ancestors(module: Module, node: ast.AST) -> Iterator[ast.AST]:
    table = parents(module)
    while node in table:
        node = table[node]
        yield node


def loops_around(module: Module, node: ast.AST) -> list[ast.AST]:
    """The loops that go through it again, and the node itself if it is one."""
    return [one for one in (node, *ancestors(module, node)) if isinstance(one, LOOPS)]


def spans(node: ast.stmt | ast.expr | ast.ExceptHandler, line: int) -> bool:
    """Whether the line is one of the node's."""
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def dotted(e: ast.AST | None) -> str | None:
    """`a.b.c` as text, and `type(a).b` as `a.__class__.b`; None for anything else."""
    parts: list[str] = []
    while isinstance(e, ast.Attribute):
        parts.append(e.attr)
        e = e.value
    if parts and isinstance(e, ast.Call) and isinstance(e.func, ast.Name) and e.func.id == "type":
        parts.append("__class__")
        e = e.args[0] if len(e.args) == 1 else None
    return ".".join([e.id, *reversed(parts)]) if isinstance(e, ast.Name) else None


def whose_class(e: ast.expr) -> ast.expr | None:
    """The `x` of `type(x)` and of `x.__class__`."""
    if isinstance(e, ast.Attribute) and e.attr == "__class__":
        return e.value
    return e.args[0] if isinstance(e, ast.Call) and dotted(e.func) == "type" and len(e.args) == 1 else None


def text(node: ast.AST, longest: int = 80) -> str:
    """The code on one line, as Python would write it; long code is cut."""
    try:
        code = " ".join(ast.unparse(node).split())
    except (RecursionError, ValueError, AttributeError):
        return "..."
    return code if len(code) <= longest else code[: longest - 3] + "..."


def asked_first(node: ast.If) -> bool:
    """`if key not in kept:` before `kept[key] = ...`: each is made once, when it is first asked for."""
    test = node.test
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ast.NotIn):
        return False
    kept = ast.dump(test.comparators[0])
    items = (part for each in node.body for part in ast.walk(each) if isinstance(part, ast.Subscript))
    return any(isinstance(item.ctx, ast.Store) and ast.dump(item.value) == kept for item in items)


def constant(e: ast.expr | None) -> object:
    """The value of a literal; None for everything else."""
    if isinstance(e, ast.UnaryOp) and isinstance(e.op, ast.USub) and isinstance(e.operand, ast.Constant):
        return -e.operand.value if isinstance(e.operand.value, (int, float)) else None
    return e.value if isinstance(e, ast.Constant) else None


def if_of(function: ast.AST, test: ast.AST) -> ast.If | None:
    """The `if` of the function that has this test."""
    return next((n for n in ast.walk(function) if isinstance(n, ast.If) and n.test is test), None)


def word(e: ast.expr | None) -> object:
    """What stands for itself as a key: the value of a literal, or the name of a member: `Events.SAVED`."""
    return dotted(e) if isinstance(e, ast.Attribute) else constant(e)


def stored(target: ast.expr, path: Path = ()) -> Iterator[tuple[ast.expr, Path]]:
    """The single targets of an assignment, each with the part of the value that it gets."""
    if isinstance(target, (ast.Tuple, ast.List)):
        for index, element in enumerate(target.elts):
            if isinstance(element, ast.Starred):
                yield from stored(element.value, (*path, EACH))
            else:
                yield from stored(element, (*path, ("item", index)))
    else:
        yield target, path


def set_by_name(call: ast.Call) -> tuple[ast.expr, str | None, ast.expr] | None:
    """Object, attribute and value of `setattr(x, "n", v)` and `object.__setattr__(x, "n", v)`; an attribute of None
    is not written out."""
    if dotted(call.func) not in ("setattr", "object.__setattr__") or len(call.args) != 3:
        return None
    name = constant(call.args[1])
    return call.args[0], name if isinstance(name, str) else None, call.args[2]


def argument(call: ast.Call, *places: int | str) -> ast.expr | None:
    """The argument at a position or of a name; the first that is there."""
    for place in places:
        if isinstance(place, int):
            plain = [a for a in call.args if not isinstance(a, ast.Starred)]
            if place < len(plain) and len(plain) == len(call.args):
                return plain[place]
        else:
            for keyword in call.keywords:
                if keyword.arg == place:
                    return keyword.value
    return None


def arguments(call: ast.Call) -> list[ast.expr]:
    """All arguments, starred ones too."""
    plain = [a.value if isinstance(a, ast.Starred) else a for a in call.args]
    return [*plain, *(keyword.value for keyword in call.keywords)]


_WHERE = {"device", "device_id", "device_ids", "device_map", "map_location", "output_device"}
"""Arguments by name that say where something lies: what it is does not differ by that."""


def content(call: ast.Call) -> list[ast.expr]:
    """The arguments that the result can be made of."""
    return arguments(ast.Call(call.func, call.args, [k for k in call.keywords if k.arg not in _WHERE]))


def of_a_dictionary(e: ast.AST) -> bool:
    """`d.items()`: what is handed out in the order in which it was put in."""
    return (
        isinstance(e, ast.Call)
        and isinstance(e.func, ast.Attribute)
        and e.func.attr in OF_DICTS
        and not e.args
    )


def container_of(e: ast.expr) -> ast.expr:
    """`sorted(self.rows.items())` is about `self.rows`."""
    while isinstance(e, ast.Call):
        if isinstance(e.func, ast.Name) and e.func.id in _SAME_ITEMS and e.args:
            e = e.args[0]
        elif isinstance(e.func, ast.Attribute) and e.func.attr in OF_DICTS:
            e = e.func.value
        else:
            break
    return e


def is_range(e: ast.AST | None) -> TypeGuard[ast.Call]:
    """So many as a number says."""
    return isinstance(e, ast.Call) and isinstance(e.func, ast.Name) and e.func.id == "range"


def children(e: ast.AST) -> Iterator[ast.expr]:
    return (child for child in ast.iter_child_nodes(e) if isinstance(child, ast.expr))


PARTS = {
    *("parameters", "named_parameters", "buffers", "named_buffers", "modules", "named_modules"),
    *("children", "named_children"),
}
"""Methods of a module that hand out what it is made of: each item is somebody's own."""
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def loop_of(module: Module, name: ast.Name) -> tuple[ast.expr, Path] | None:
    """The iterable whose items a variable of a comprehension is, if the name is one."""
    for node in ancestors(module, name):
        if isinstance(node, (ast.stmt, ast.Lambda)):
            return None
        if isinstance(node, COMPREHENSIONS):
            for generator in reversed(node.generators):
                for target, part in stored(generator.target, (EACH,)):
                    if isinstance(target, ast.Name) and target.id == name.id:
                        return generator.iter, part
    return None


def loop_over(function: Function, site: ast.AST | None, name: str) -> str | None:
    """What the loop around the site goes over whose item has this name: `rows` of `for row in rows`."""
    for outer in ancestors(function.module, site) if site is not None else ():
        if outer is function.node:
            break
        if isinstance(outer, (ast.For, ast.AsyncFor)):
            items, target = outer.iter, outer.target
            if isinstance(items, ast.Call) and dotted(items.func) == "enumerate" and items.args:
                items = items.args[0]
                target = target.elts[-1] if isinstance(target, ast.Tuple) else target
            if isinstance(target, ast.Name) and target.id == name:
                return dotted(items)
    return None


def asks_if_there(test: ast.expr, site: ast.AST) -> bool:
    """`if key not in kept: kept[key] = ...` puts in whatever is asked for: which keys there are, it does not decide."""
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ast.NotIn):
        return False
    put = (n for n in ast.walk(site) if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store))
    asked = (ast.dump(test.left), ast.unparse(test.comparators[0]))
    return any((ast.dump(each.slice), ast.unparse(each.value)) == asked for each in put)
