"""Which ranks agree after a collective: all of them, or those along the axes of a group."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import External, resolve
from rankandfile.source.registry.entry import Sanitiser
from rankandfile.source.registry.tables import TABLE, canonical, sanitiser

from .assignments import Definition
from .frame import Frame, called
from .reaching_assignments import reaching
from .syntax import Path, argument, constant, dotted, text
from .value import UNKNOWN, Value, join

if TYPE_CHECKING:
    from .evaluate import Evaluator

Span = frozenset[str] | None
"""Axes that a group spans; None: all ranks of the job."""


def agreed(ev: Evaluator, d: Definition, frame: Frame) -> Value:
    """What a collective in place leaves in its argument."""
    inner = d.value
    outer = d.site
    if not isinstance(inner, ast.Call) or not isinstance(outer, ast.Call):
        return UNKNOWN
    before = reaching(frame.function).of(d.name, [d.node])
    old = join([ev.definition(each, frame, ()) for each in before if each is not d])
    others = [value for value in outer.args if dotted(value) != d.name]
    content = join([old, ev.all(others, frame)]) if _gathers(inner) else old
    inside = frame
    target = resolve(frame.function, outer.func)
    if outer is not inner and isinstance(target, Function):
        inside = called(target, outer, frame, bound=False)
    resolved = resolve(inside.function, inner.func)
    rule = sanitiser(resolved.dotted) if isinstance(resolved, External) else None
    return UNKNOWN if rule is None else content.sanitised(span(ev, inner, rule, inside))


def _gathers(call: ast.Call) -> bool:
    name = (dotted(call.func) or "").rsplit(".", 1)[-1]
    return "gather" in name or "object" in name


def span(ev: Evaluator, call: ast.Call, rule: Sanitiser, frame: Frame) -> Span:
    """The axes of the group that a collective is called on."""
    if rule.world:
        return None
    group = argument(call, *rule.group) if rule.group else None
    return None if group is None else axes(ev, group, frame)


def axes(ev: Evaluator, group: ast.expr, frame: Frame, depth: int = 0) -> Span:
    """The axes of a group expression; a group that cannot be traced is an axis of its own name."""
    if isinstance(group, ast.Constant) and group.value is None:
        return None
    own = frozenset([text(group, 40)])
    if depth > 5:
        return own
    if isinstance(group, ast.Call):
        return _of_call(ev, group, frame, own)
    name = dotted(group)
    target = resolve(frame.function, group) if name else None
    if isinstance(target, External):
        return None if target.dotted.endswith(".group.WORLD") else own
    spans = list(_traced(ev, group, frame, depth))
    if not spans:
        return own
    known = [span for span in spans if span is not None]
    return frozenset().union(*known) if known else None


def _traced(ev: Evaluator, group: ast.expr, frame: Frame, depth: int) -> list[Span]:
    """The expressions that a variable or attribute of a group is set from."""
    found: list[Span] = []
    name = dotted(group)
    flow = reaching(frame.function)
    local = flow.of(name, flow.nodes(group)) if name else []
    definitions = [(frame, d) for d in local if d.how not in ("outside", "called")]
    if not definitions and isinstance(group, ast.Attribute):
        for cls in ev.objects.classes(group.value, frame):
            stores = ev.objects.stores(cls, group.attr)
            definitions.extend((Frame(function, None, frame.depth + 1), d) for function, d in stores)
    for inside, d in definitions[:6]:
        if d.how == "parameter":
            found.extend(_given(ev, d.name, inside, depth))
        elif isinstance(d.value, (ast.GeneratorExp, ast.ListComp)) and d.path:
            found.append(_of_comprehension(d))
        elif d.value is not None and not d.path:
            found.append(axes(ev, d.value, inside, depth + 1))
    return found


def _given(ev: Evaluator, name: str, frame: Frame, depth: int) -> list[Span]:
    if frame.given is not None:
        given = frame.given.get(name)
        return [axes(ev, given.value, given.frame, depth + 1)] if given else [None]
    found: list[Span] = []
    for site, bound in ev.objects.callers(frame.function):
        outer = Frame(site.function, None, frame.depth + 1)
        given = (called(frame.function, site.call, outer, bound).given or {}).get(name)
        found.append(
            axes(ev, given.value, outer, depth + 1) if given is not None and not outer.too_deep else None
        )
    return found


def _of_call(ev: Evaluator, call: ast.Call, frame: Frame, own: frozenset[str]) -> Span:
    """`mesh.get_group("tp")`, `mesh["tp"].get_group()`, Megatron's getters."""
    target = resolve(frame.function, call.func)
    if isinstance(target, External):
        if canonical(target.dotted) == "torch.distributed.new_group" and _everyone(
            argument(call, 0, "ranks"), frame
        ):
            return None
        axis = TABLE.groups.get(canonical(target.dotted))
        return own if axis is None else frozenset([axis])
    if isinstance(call.func, ast.Attribute) and call.func.attr == "get_group":
        dimension = constant(argument(call, 0, "mesh_dim"))
        mesh = call.func.value
        if dimension is None and isinstance(mesh, ast.Subscript):
            names = mesh.slice.elts if isinstance(mesh.slice, ast.Tuple) else [mesh.slice]
            found = [constant(name) for name in names]
            return frozenset(n for n in found if isinstance(n, str)) or own
        return frozenset([dimension]) if isinstance(dimension, str) else own
    if isinstance(target, Function):
        inside = called(target, call, frame, bound=False)
        for node in ast.walk(target.node):
            if isinstance(node, ast.Return) and node.value is not None and not inside.too_deep:
                return axes(ev, node.value, inside, 4)
    return own


def _everyone(ranks: ast.expr | None, frame: Frame) -> bool:
    """`None`, or `list(range(dist.get_world_size()))`."""
    if ranks is None or (isinstance(ranks, ast.Constant) and ranks.value is None):
        return True
    if isinstance(ranks, ast.Name):
        flow = reaching(frame.function)
        values = [d.value for d in flow.of(ranks.id, flow.nodes(ranks)) if d.how == "assign" and not d.path]
        return len(values) == 1 and values[0] is not None and _everyone(values[0], frame)
    if not isinstance(ranks, ast.Call) or ranks.keywords or len(ranks.args) > 1:
        return False
    if ranks.args:
        return dotted(ranks.func) in ("list", "tuple", "range") and _everyone(ranks.args[0], frame)
    target = resolve(frame.function, ranks.func)
    return isinstance(target, External) and target.dotted.endswith(".get_world_size")


def _of_comprehension(d: Definition) -> Span:
    """`tp, dp = (mesh.get_group(d) for d in ("tp", "dp"))`."""
    e = d.value
    assert isinstance(e, (ast.GeneratorExp, ast.ListComp))
    source = e.generators[0].iter
    kind, index = d.path[0]
    if kind == "item" and isinstance(index, int) and isinstance(source, (ast.Tuple, ast.List)):
        element = constant(source.elts[index]) if index < len(source.elts) else None
        if isinstance(element, str):
            return frozenset([element])
    return frozenset([d.name])


def dimension(ev: Evaluator, call: ast.Call, frame: Frame, path: Path) -> str | None:
    """`replica, stage = mesh.get_coordinate()`: the name of the dimension that a part of a coordinate belongs to."""
    index = path[0][1] if path and path[0][0] == "item" else None
    if not isinstance(index, int) or not isinstance(call.func, ast.Attribute):
        return None
    for instance in ev.objects.of(call.func.value, frame):
        names = argument(instance.made, 2, "mesh_dim_names") if instance.made is not None else None
        if isinstance(names, (ast.Tuple, ast.List)) and -len(names.elts) <= index < len(names.elts):
            name = constant(names.elts[index])
            return name if isinstance(name, str) else None
    return None
