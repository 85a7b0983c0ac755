"""What a function puts into what it has not made anew, or takes out of it: by methods, items and second names."""

from __future__ import annotations

import ast

from rankandfile.source.program.kept import kept
from rankandfile.source.program.modules import Function, Module
from rankandfile.source.program.scopes import binding_scope, own_nodes

ADDS = {
    *("append", "add", "extend", "update", "insert", "setdefault", "appendleft", "put"),
    *("add_", "mul_", "sub_", "div_", "pow_", "lerp_", "addcmul_", "addcdiv_"),
    *("addmm_", "addmv_", "addr_", "baddbmm_", "scatter_", "scatter_add_", "scatter_reduce_"),
    *("index_add_", "index_copy_", "index_fill_", "index_put_"),
    *("index_reduce_", "masked_fill_", "masked_scatter_", "put_", "clamp_", "clamp_min_", "clamp_max_"),
    *("logical_and_", "logical_or_", "logical_xor_", "bitwise_and_", "bitwise_or_", "bitwise_xor_"),
}
PUTS = {f"heapq.{name}" for name in ("heappush", "heappushpop", "heapreplace")} | {
    f"bisect.{name}" for name in ("insort", "insort_left", "insort_right")
}
"""Of a list and an item, what puts the one into the other."""
REPLACES = {"copy_", "fill_", "fill"}
EMPTIES = {"clear", "zero_"}
REMOVES = {"pop", "popitem", "popleft", "remove", "discard"}
REORDERS = {"reverse", "sort", "rotate"}
"""The same items, so the same number of them, in another order."""


@kept
def changed_names(function: Function) -> frozenset[str]:
    """Variables into which the function puts something, or out of which it takes something."""
    changes = ADDS | REMOVES | EMPTIES | REPLACES
    names: set[str] = set()
    for node in own_nodes(function):
        held: ast.expr | None = None
        if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
            held = node.value
        elif (
            isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in changes
        ):
            held = node.func.value
        while isinstance(held, ast.Subscript):
            held = held.value
        if isinstance(held, ast.Name):
            names.add(held.id)
    return frozenset(names)


@kept
def changed_inside(module: Module) -> dict[str, list[Function]]:
    """A variable of the module -> the functions that put something into what it holds, or take it out."""
    found: dict[str, list[Function]] = {}
    for function in module.functions[1:]:
        for name in changed_names(function):
            if binding_scope(function, name) is module.functions[0]:
                found.setdefault(name, []).append(function)
    return found


@kept
def same_thing(function: Function) -> dict[str, str]:
    """`rows = table`: a second name of what another variable of the function holds -> that variable."""
    found: dict[str, str] = {}
    for node in own_nodes(function):
        target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
        if isinstance(node, ast.Assign) and isinstance(target, ast.Name) and isinstance(node.value, ast.Name):
            found[target.id] = node.value.id
    return found


@kept
def unfilled(function: Function) -> frozenset[str]:
    """Names of lists and dicts that begin empty, and that nothing written in the function fills: a call of code that is
    not here, which is given one, is what fills it."""
    empty: set[str] = set()
    filled: set[str] = set(function.parameters)
    for what in function.nodes:
        if isinstance(what, (ast.Assign, ast.AnnAssign)):
            targets = what.targets if isinstance(what, ast.Assign) else [what.target]
            plain = [t.id for t in targets if isinstance(t, ast.Name)]
            (empty if _empty(what.value) else filled).update(plain)
            filled |= {
                t.value.id for t in targets if isinstance(t, ast.Subscript) and isinstance(t.value, ast.Name)
            }
        elif isinstance(what, ast.AugAssign) and isinstance(what.target, ast.Name):
            filled.add(what.target.id)
        elif isinstance(what, ast.Attribute) and isinstance(what.value, ast.Name) and what.attr in ADDS:
            filled.add(what.value.id)
    return frozenset(empty - filled)


def _empty(value: ast.expr | None) -> bool:
    return (isinstance(value, ast.List) and not value.elts) or (
        isinstance(value, ast.Dict) and not value.keys
    )
