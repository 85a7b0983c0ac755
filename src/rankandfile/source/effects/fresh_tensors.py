"""Where a function gives up the graph of gradients on one way, and keeps it on another.

`if x.shape[0] == 0: return x.new_zeros(...)` gives back what was made from nothing: a backward pass from there does
not come to what `x` was made from, nor to what the function would have done with it. So do `.detach()` and `no_grad`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from msgspec import Struct

from rankandfile.source.dependence.syntax import JUMPS, ancestors, dotted
from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import External, resolve
from rankandfile.source.program.scopes import own_nodes, returned_values

#: Methods of a framework's classes that a program writes anew, and that give the loss.
LOSSES = ("compute_loss", "training_step")
#: Methods of a tensor that give one without what it was made from.
_ANEW = {"new_zeros", "new_empty", "new_ones", "new_full", "new_tensor", "detach"}
_MAKERS = {
    f"torch.{name}{like}"
    for name in ("zeros", "ones", "empty", "full", "rand", "randn")
    for like in ("", "_like")
} | {"torch.tensor"}
#: What leaves a tensor as it is, as far as its graph is concerned.
_SAME = {"to", "float", "requires_grad_", "view", "reshape", "expand", "unsqueeze", "squeeze", "clone", "sum"}
_WITHOUT = {
    "torch.no_grad",
    "torch.inference_mode",
    "torch.autograd.no_grad",
    "torch.autograd.inference_mode",
}
_SWITCHES = {"torch.set_grad_enabled", "torch.autograd.set_grad_enabled"}
_DEEPEST = 2


class GivenUp(Struct, frozen=True):
    """Upon `test` the graph is given up, by `what`."""

    test: ast.expr
    what: ast.expr
    ways: tuple[tuple[int, int], ...]
    """First and last lines of what runs upon one answer alone."""


def given_up(function: Function) -> Iterator[GivenUp]:
    """Each test of the function upon which the graph is given up on one way, and kept on the other."""
    for node in own_nodes(function):
        if isinstance(node, ast.If):
            yield from _upon(function, node)
        elif isinstance(node, ast.IfExp):
            what = _one_fresh(function, node.body, node.orelse) or _one_switch(function, node)
            if what is not None:
                yield GivenUp(node.test, what, ())
        elif isinstance(node, ast.Call) and _called(function, node) in _SWITCHES:
            yield from (GivenUp(to, node, ()) for to in node.args[:1] if not isinstance(to, ast.Constant))


def _upon(function: Function, node: ast.If) -> Iterator[GivenUp]:
    for arm, other in ((node.body, node.orelse), (node.orelse, node.body)):
        if not arm:
            continue
        what = _returned(function, arm) or _set(function, node, arm, other) or _switched(function, arm, other)
        if what is not None:
            last = _ends(arm) and not other and arm is node.body
            rest = ((node.end_lineno or node.lineno) + 1, function.last_line) if last else _lines(other)
            yield GivenUp(node.test, what, tuple(way for way in (_lines(arm), rest) if way is not None))
            return


def _returned(function: Function, arm: list[ast.stmt]) -> ast.expr | None:
    """`return x.new_zeros(0)` in the arm, where the function gives back something else at its end."""
    back = arm[-1].value if isinstance(arm[-1], ast.Return) else None
    if back is None or not _fresh(function, back):
        return None
    others = [value for value in returned_values(function) if value is not back]
    kept = [value for value in others if not isinstance(value, ast.Constant) and not _fresh(function, value)]
    return back if kept else None


def _set(function: Function, node: ast.If, arm: list[ast.stmt], other: list[ast.stmt]) -> ast.expr | None:
    """A name that is fresh on one way, and is not on the other."""
    for statement in arm:
        name, value = _assigned(statement)
        if name is None or value is None:
            continue
        if other:
            others = [v for each in other for n, v in [_assigned(each)] if n == name and v is not None]
        else:
            others = [v for n, v in _before(function, name, node) if n == name][-1:]
        if not others or isinstance(others[-1], ast.Constant):
            continue
        one, two = _fresh(function, value), _fresh(function, others[-1])
        if one and not two:
            return value
        if two and not one and not other and not isinstance(value, ast.Constant):
            return others[-1]
    return None


def _switched(function: Function, arm: list[ast.stmt], other: list[ast.stmt]) -> ast.expr | None:
    """`with torch.no_grad():` around what the other way does with gradients."""
    return _context(function, arm) if other and _context(function, other) is None else None


def _context(function: Function, arm: list[ast.stmt]) -> ast.expr | None:
    items = (item.context_expr for each in arm if isinstance(each, ast.With) for item in each.items)
    return next((item for item in items if _called(function, item) in _WITHOUT), None)


def _one_fresh(function: Function, one: ast.expr, other: ast.expr) -> ast.expr | None:
    if isinstance(one, ast.Constant) or isinstance(other, ast.Constant):
        return None
    fresh = [each for each in (one, other) if _fresh(function, each)]
    return fresh[0] if len(fresh) == 1 else None


def _one_switch(function: Function, node: ast.IfExp) -> ast.expr | None:
    off = [each for each in (node.body, node.orelse) if _called(function, each) in _WITHOUT]
    return off[0] if len(off) == 1 else None


def _fresh(function: Function, e: ast.expr, left: int = _DEEPEST) -> bool:
    """Whether the value is a tensor that is made from nothing that has a graph."""
    if isinstance(e, ast.IfExp):
        return _fresh(function, e.body, left) and _fresh(function, e.orelse, left)
    if isinstance(e, ast.Tuple):
        parts = [each for each in e.elts if not _is_plain(each)]
        return bool(parts) and all(_fresh(function, each, left) for each in parts)
    if isinstance(e, ast.Attribute):
        return e.attr == "data"
    if isinstance(e, ast.BinOp):
        parts = [each for each in (e.left, e.right) if not isinstance(each, ast.Constant)]
        return bool(parts) and all(_fresh(function, each, left) for each in parts)
    if isinstance(e, ast.Name):
        return left > 0 and _still_fresh(function, e, left - 1)
    if not isinstance(e, ast.Call):
        return False
    if _called(function, e) in _MAKERS:
        return True
    target = resolve(function, e.func)
    if isinstance(target, Function):
        back = returned_values(target)
        return left > 0 and bool(back) and all(_fresh(target, value, left - 1) for value in back)
    if not isinstance(e.func, ast.Attribute):
        return False
    return e.func.attr in _ANEW or (e.func.attr in _SAME and _fresh(function, e.func.value, left))


def _is_plain(e: ast.expr) -> bool:
    """No tensor is in it."""
    empty = (isinstance(e, ast.Dict) and not e.keys) or (isinstance(e, (ast.List, ast.Tuple)) and not e.elts)
    return empty or isinstance(e, ast.Constant)


def _still_fresh(function: Function, name: ast.Name, left: int) -> bool:
    """All that the name was set to before it is fresh, and nothing was done to it since: it is as it was made."""
    set_to = [value for each, value in _before(function, name.id, name) if each == name.id]
    uses = (node for node in own_nodes(function) if isinstance(node, ast.Name) and node.id == name.id)
    touched = any(
        node is not name and node.lineno < name.lineno and _changed(function, node) for node in uses
    )
    return bool(set_to) and not touched and all(_fresh(function, value, left) for value in set_to)


def _changed(function: Function, name: ast.Name) -> bool:
    """`out[i] = ...`, `out += ...`, `out.index_add_(...)`, `fill(out)`."""
    outer = next(ancestors(function.module, name), None)
    if isinstance(name.ctx, ast.Store):
        return not isinstance(outer, ast.Assign)
    return isinstance(outer, (ast.Subscript, ast.Call)) or (
        isinstance(outer, ast.Attribute) and outer.attr.endswith("_")
    )


def _before(function: Function, name: str, use: ast.AST) -> list[tuple[str | None, ast.expr]]:
    line: int = getattr(use, "lineno", 0)
    made = (_assigned(node) for node in own_nodes(function) if getattr(node, "lineno", line) < line)
    return [(each, value) for each, value in made if each == name and value is not None]


def _assigned(node: ast.AST) -> tuple[str | None, ast.expr | None]:
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        return dotted(node.targets[0]), node.value
    if isinstance(node, ast.AnnAssign):
        return dotted(node.target), node.value
    return None, None


def _called(function: Function, e: ast.expr) -> str:
    target = resolve(function, e.func) if isinstance(e, ast.Call) else None
    return target.dotted if isinstance(target, External) else ""


def _ends(arm: list[ast.stmt]) -> bool:
    return isinstance(arm[-1], JUMPS)


def _lines(arm: list[ast.stmt]) -> tuple[int, int] | None:
    return (arm[0].lineno, arm[-1].end_lineno or arm[-1].lineno) if arm else None
