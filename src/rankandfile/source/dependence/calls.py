"""The value of a call: by the body of the function, by what the registry knows, or by the arguments."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from rankandfile.source.flow.deciding import between_nodes
from rankandfile.source.names import Class, External, enclosing_class, lineage, method, own_nodes, resolve
from rankandfile.source.program import Function
from rankandfile.source.registry.python import PARSED
from rankandfile.source.registry.tables import TABLE, canonical, is_pure, is_uniform, sanitiser, source

from . import decisions, failures, groups, loaders, origins, random_state
from .definitions import reaching
from .frame import Frame, called
from .objects import outside
from .syntax import EACH, LEN, Path, argument, arguments, constant, dotted, text
from .value import UNIFORM, UNKNOWN, Link, Value, join

if TYPE_CHECKING:
    from .evaluate import Evaluator

_SAME_ITEMS = {"list", "tuple", "sorted", "reversed", "iter", "set", "frozenset"}
_RECEIVES = {"forward", "__call__"}
_OF_MODULES = {
    "parameters",
    "named_parameters",
    "modules",
    "children",
    "buffers",
    "state_dict",
    "train",
    "eval",
}
"""Methods of every `torch.nn.Module`, as alike on all ranks as the module is."""
_MAY_AGREE = re.compile(
    r"reduce|gather|broadcast|bcast|sync|agree|vote|consensus|allred|barrier|all_ranks|any_rank"
)
_MAIN_ONLY = re.compile(
    r"(^|\.)(rank_zero_only|rank_zero|main_process_only|on_main_process|on_local_main_process)$"
)
MOST_RETURNS = 12


def call(ev: Evaluator, e: ast.Call, frame: Frame, path: Path) -> Value:
    target = resolve(frame.function, e.func)
    if isinstance(target, External):
        return _external(ev, canonical(target.dotted), e, frame, path)
    if isinstance(target, Function):
        bound = target.owner is not None and not _static(target)
        return _function(ev, target, e, frame, path, bound=bound)
    if isinstance(target, Class):
        return _instance(ev, target, e, frame, path)
    return _method(ev, e, frame, path)


def _function(
    ev: Evaluator, target: Function, e: ast.Call, frame: Frame, path: Path, *, bound: bool
) -> Value:
    inside = called(target, e, frame, bound)
    if inside.too_deep:
        return _by_arguments(ev, e, frame, text(e.func))
    return body(ev, target, inside, path, f"{text(e.func)}()")


def body(ev: Evaluator, target: Function, inside: Frame, path: Path, shown: str) -> Value:
    """What a function of the tree returns, or yields."""
    node = target.node
    if isinstance(node, ast.Module):
        return UNKNOWN
    if isinstance(node, ast.Lambda):
        return ev.value(node.body, inside, path)
    if any(_MAIN_ONLY.search(dotted(d) or "") for d in node.decorator_list):
        decorator = next(d for d in node.decorator_list if _MAIN_ONLY.search(dotted(d) or ""))
        return origins.here("rank_api", "run on the main process only", decorator, inside)
    yields = [n for n in own_nodes(target) if isinstance(n, (ast.Yield, ast.YieldFrom))]
    if yields:
        return _yielded(ev, target, yields, inside, path)
    returns = [n for n in own_nodes(target) if isinstance(n, ast.Return)][:MOST_RETURNS]
    values = [_returned(ev, r, inside, path, shown) for r in returns if r.value is not None]
    value = join(values)
    if (
        value.level == "varying"
        or len({text(r.value) if r.value else "None" for r in returns}) + _falls_off(target) < 2
    ):
        return value
    return join([value, *_which_return(ev, target, returns, inside, shown)])


def _returned(ev: Evaluator, r: ast.Return, inside: Frame, path: Path, shown: str) -> Value:
    assert r.value is not None
    file, code = inside.function.module.path, text(r.value, 60)
    return ev.value(r.value, inside, path).by(
        Link(file, r.lineno, shown, f"returns `{code}` ({file}:{r.lineno})", code)
    )


def _which_return(
    ev: Evaluator, target: Function, returns: list[ast.Return], inside: Frame, shown: str
) -> list[Value]:
    """The decisions that send control to one return and not to another."""
    flow = reaching(target)
    ends = {
        r: {n for n in flow.graph.nodes if n.what is r and flow.graph.returns in n.next()} for r in returns
    }
    found = []
    file = target.module.path
    for r, nodes in ends.items():
        others = {n for other, its in ends.items() if other is not r for n in its} | {flow.graph.returns}
        for condition in between_nodes(target, nodes, others, [flow.graph.entry]):
            if condition.kind == "call":
                continue
            value = decisions.of_condition(ev, condition, inside)
            place = f"{file}:{condition.line}"
            words = f"returns one thing or another as `{condition.text}` decides ({place})"
            found.append(value.by(Link(file, condition.line, shown, words, condition.text)))
    return found


def _falls_off(target: Function) -> bool:
    """The function can also end without a return statement."""
    flow = reaching(target)
    return any(
        flow.graph.returns in node.next() and not isinstance(node.what, ast.Return)
        for node in flow.graph.nodes
    )


def _yielded(
    ev: Evaluator, target: Function, yields: list[ast.Yield | ast.YieldFrom], inside: Frame, path: Path
) -> Value:
    """How many items a generator has is decided by the conditions around its yields."""
    flow = reaching(target)
    values: list[Value] = []
    for y in yields:
        if isinstance(y, ast.YieldFrom):
            values.append(ev.value(y.value, inside, path))
        elif path and path[0] == EACH and isinstance(y, ast.Yield) and y.value is not None:
            values.append(ev.value(y.value, inside, path[1:]))
    nodes = {n for y in yields for n in flow.nodes(y)}
    for condition in between_nodes(target, nodes, {flow.graph.returns}, [flow.graph.entry]):
        if condition.kind != "call":
            file = target.module.path
            words = f"yields as often as `{condition.text}` lets it ({file}:{condition.line})"
            link = Link(file, condition.line, f"{target.qualname}()", words, condition.text)
            values.append(decisions.of_condition(ev, condition, inside).by(link))
    return join(values)


def parameter(ev: Evaluator, name: str, frame: Frame, path: Path) -> Value:
    """What a parameter holds: by the call that is known, or by every call in the program."""
    if frame.given is not None:
        given = frame.given.get(name)
        if given is not None:
            return ev.value(given.value, given.frame, (*given.path, *path))
        return _default(ev, name, frame)
    if name in ("self", "cls"):
        return UNIFORM
    if _handed_over_by_autograd(frame.function, name):
        return origins.gradient_handed_over(name, frame)
    found: list[Value] = []
    for site, bound in ev.objects.callers(frame.function):
        outer = Frame(site.function, None, frame.depth + 1)
        inside = called(frame.function, site.call, outer, bound)
        if outer.too_deep:
            return UNKNOWN
        given = (inside.given or {}).get(name)
        if given is None:
            found.append(_default(ev, name, frame))
            continue
        file, code = site.function.module.path, text(given.value, 60)
        value = ev.value(given.value, given.frame, (*given.path, *path))
        if code == name:
            found.append(value)
        else:
            place = f"{file}:{site.call.lineno}"
            found.append(
                value.by(Link(file, site.call.lineno, name, f"is passed as `{code}` ({place})", code))
            )
    return join(found) if found else UNKNOWN


def _handed_over_by_autograd(function: Function, name: str) -> bool:
    """A gradient: an argument of `backward`, after the context, in a function of autograd."""
    owner = function.owner
    return (
        function.name == "backward"
        and owner is not None
        and name in function.parameters[1:]
        and "torch.autograd.Function" in outside(Class(function.module, owner))
    )


def _default(ev: Evaluator, name: str, frame: Frame) -> Value:
    node = frame.function.node
    if isinstance(node, ast.Module):
        return UNKNOWN
    positional = [*node.args.posonlyargs, *node.args.args]
    pairs = list(zip(reversed(positional), reversed(node.args.defaults), strict=False))
    pairs += [
        (a, d) for a, d in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True) if d is not None
    ]
    for parameter_, default in pairs:
        if parameter_.arg == name:
            outer = frame.function.parent
            return ev.value(default, Frame(outer, None, frame.depth + 1)) if outer is not None else UNKNOWN
    return UNKNOWN


def field(ev: Evaluator, cls: Class, name: str, frame: Frame, path: Path) -> Value:
    """An attribute that no method stores: a field of a dataclass, or a constant of the class."""
    for each in lineage(cls):
        for s in each.node.body:
            target = (
                s.target
                if isinstance(s, ast.AnnAssign)
                else s.targets[0]
                if isinstance(s, ast.Assign)
                else None
            )
            if isinstance(target, ast.Name) and target.id == name:
                outer = Frame(each.module.functions[0], {}, frame.depth + 1)
                default = s.value if isinstance(s, (ast.Assign, ast.AnnAssign)) else None
                values = [ev.value(default, outer, path)] if default is not None else []
                if isinstance(s, ast.AnnAssign):
                    values.extend(_field_given(ev, each, name, frame, path))
                return join(values) if values else UNKNOWN
    return UNKNOWN


def _field_given(ev: Evaluator, cls: Class, name: str, frame: Frame, path: Path) -> list[Value]:
    fields = [
        s.target.id for s in cls.node.body if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)
    ]
    found = []
    for site in ev.index.calls(cls.name)[:6]:
        outer = Frame(site.function, None, frame.depth + 1)
        if resolve(site.function, site.call.func) != cls or outer.too_deep:
            continue
        value = argument(site.call, fields.index(name), name)
        spread = [k.value for k in site.call.keywords if k.arg is None]
        found.extend([ev.value(value, outer, path)] if value is not None else [ev.all(spread, outer)])
    return found


def _instance(ev: Evaluator, cls: Class, e: ast.Call, frame: Frame, path: Path) -> Value:
    """A new object: an item, its length, an attribute, or what it was made of."""
    kind, key = path[0] if path else ("", None)
    if kind == "attr" and isinstance(key, str):
        return ev.attribute(cls, key, frame, path[1:])
    special = {"len": "__len__", "item": "__getitem__", "each": "__iter__"}.get(kind)
    if special is not None:
        return _protocol(ev, cls, special, e, frame, path)
    return ev.all(arguments(e), frame)


def _protocol(ev: Evaluator, cls: Class, special: str, e: ast.expr, frame: Frame, path: Path) -> Value:
    """`len(x)`, `x[k]` and `for ... in x` for an object of a class of the tree."""
    # A loop over an object goes round as often as its iterator yields; `len` says so only where there is none.
    names = {"__len__": ("__iter__", "__len__"), "__iter__": ("__iter__", "__getitem__")}.get(
        special, (special,)
    )
    for name in names:
        found = method(cls, name)
        if found is None:
            continue
        inside = Frame(found, None, frame.depth + 1, (*frame.key, e))
        if inside.too_deep:
            return UNKNOWN
        if name == "__iter__":
            made = body(ev, found, inside, path, f"iter({text(e)})")
            step = method(cls, "__next__")
            if step is None:
                return made
            following = Frame(step, None, frame.depth + 1, (*frame.key, e))
            if path[0] == LEN:
                return join([made, failures.ends(ev, following)])
            return join([made, body(ev, step, following, path[1:], f"next({text(e)})")])
        rest = path[1:]
        return body(ev, found, inside, rest, f"{text(e)}.{name}()")
    return ev.all(arguments(e), frame) if isinstance(e, ast.Call) else UNKNOWN


def _method(ev: Evaluator, e: ast.Call, frame: Frame, path: Path) -> Value:
    """A call of a method, or of an object."""
    found: list[Value] = []
    if isinstance(e.func, ast.Attribute):
        if isinstance(e.func.value, ast.Call) and dotted(e.func.value.func) == "super":
            return _super(ev, e, frame, path)
        for cls in ev.objects.classes(e.func.value, frame):
            target = method(cls, e.func.attr)
            if target is not None:
                found.append(_function(ev, target, e, frame, path, bound=not _static(target)))
        if not found:
            for name in ev.objects.externals(e.func.value, frame):
                full = canonical(f"{name}.{e.func.attr}")
                if full in PARSED:
                    return UNIFORM
                if _known(full):
                    found.append(_external(ev, full, e, frame, path))
    if found:
        return join(found)
    for cls in ev.objects.classes(e.func, frame):
        for name in _RECEIVES:
            target = method(cls, name)
            if target is not None:
                found.append(_function(ev, target, e, frame, path, bound=True))
                break
    if found:
        return join(found)
    return _of_value(ev, e, frame, path)


def _super(ev: Evaluator, e: ast.Call, frame: Frame, path: Path) -> Value:
    owner = enclosing_class(frame.function)
    for each in lineage(owner)[1:] if owner is not None else []:
        target = method(each, e.func.attr) if isinstance(e.func, ast.Attribute) else None
        if target is not None:
            return _function(ev, target, e, frame, path, bound=True)
    return _by_arguments(ev, e, frame, text(e.func))


def _known(name: str) -> bool:
    return source(name) is not None or is_uniform(name) or sanitiser(name) is not None


def _of_value(ev: Evaluator, e: ast.Call, frame: Frame, path: Path) -> Value:
    """A method of a value (`loss.item()`, `d.get(key)`): made of the value and the arguments."""
    if not isinstance(e.func, ast.Attribute):
        return _by_arguments(ev, e, frame, text(e.func))
    receiver, name = e.func.value, e.func.attr
    if name == "get" and e.args and constant(e.args[0]) is not None:
        known = (("item", constant(e.args[0])), *path)
        return join([ev.value(receiver, frame, known), ev.all(e.args[1:], frame, path)])
    if name in ("items", "keys", "values") and not e.args:
        return ev.value(receiver, frame, path if path and path[0] in (LEN, EACH) else ())
    if random_state.is_draw(ev, e, frame):
        return random_state.draw_of_object(ev, e, frame)
    value = join([ev.value(receiver, frame), ev.all(arguments(e), frame)])
    if name not in _OF_MODULES and ev.objects.classes(receiver, frame):
        # A method that the tree does not show, of a class that it does.
        value = join([UNKNOWN, value])
    return _cautious(value, name)


def _by_arguments(ev: Evaluator, e: ast.Call, frame: Frame, name: str) -> Value:
    """Nothing is known of the function: what goes in may come out, unless it may agree on it inside."""
    return _cautious(join([UNKNOWN, ev.all(arguments(e), frame)]), name)


def _cautious(value: Value, name: str) -> Value:
    return UNKNOWN if value.differs and _MAY_AGREE.search(name) else value


def _external(ev: Evaluator, name: str, e: ast.Call, frame: Frame, path: Path) -> Value:
    if name in ("os.environ.get", "os.getenv"):
        return origins.environment(constant(e.args[0]) if e.args else None, e, frame)
    rule = sanitiser(name)
    if rule is not None and rule.returned:
        return ev.all(arguments(e), frame).sanitised(groups.span(ev, e, rule, frame))
    if random_state.family(name):
        return random_state.draw(ev, name, e, frame)
    known = source(name)
    if known is not None:
        return _positioned(ev, e, frame, name, path)
    if is_uniform(name) or name in PARSED:
        return UNIFORM
    if name in loaders.LOADERS:
        return loaders.loader(ev, e, frame, path)
    if name in TABLE.wraps:
        return UNIFORM if not path else ev.all(e.args[:1], frame, path)
    if name.startswith("builtins."):
        return _builtin(ev, name.removeprefix("builtins."), e, frame, path)
    if is_pure(name):
        return ev.all(arguments(e), frame)
    if name in ("itertools.count", "itertools.cycle"):
        return ev.all(arguments(e), frame)
    return _by_arguments(ev, e, frame, name)


def _positioned(ev: Evaluator, e: ast.Call, frame: Frame, name: str, path: Path) -> Value:
    """A rank within a group varies along the axes of the group; a coordinate along its dimension of the mesh."""
    known = source(name)
    assert known is not None
    value = origins.from_table(known, e, frame)
    dimension = groups.dimension(ev, e, frame, path) if known.along == "*" else None
    if dimension is not None:
        return origins.here(
            known.kind, f"{known.words} along `{dimension}`", e, frame, frozenset([dimension])
        )
    group = argument(e, 0, "group") if known.group else None
    if group is not None:
        axes = groups.axes(ev, group, frame)
        if axes is not None:
            return origins.here(known.kind, f"{known.words} within `{text(group, 40)}`", e, frame, axes)
    return value


def _builtin(ev: Evaluator, name: str, e: ast.Call, frame: Frame, path: Path) -> Value:
    args = arguments(e)
    first = args[0] if args else None
    if first is None:
        return UNIFORM
    if name in _SAME_ITEMS:
        return _same_items(ev, name, first, e, frame, path)
    if name == "len":
        return ev.value(first, frame, (LEN,))
    if name == "next":
        return join([ev.value(first, frame, (EACH, *path)), ev.all(args[1:], frame)])
    if name in ("enumerate", "zip", "map", "filter"):
        return _combined(ev, name, args, frame, path)
    if name == "range":
        return ev.all(args, frame)
    if name == "getattr" and len(args) > 1 and isinstance(constant(args[1]), str):
        made = ast.Attribute(first, str(constant(args[1])), ast.Load())
        ast.copy_location(made, e)
        return join([ev.value(made, frame, path), ev.all(args[2:], frame)])
    if name == "vars":
        return ev.value(first, frame, path)
    if name == "id" or (name == "hash" and not isinstance(constant(first), int)):
        return origins.here("process", "different in every process", e, frame)
    if name == "open":
        return join([UNKNOWN, ev.value(first, frame)])
    if name in ("hasattr", "isinstance", "issubclass", "callable", "type"):
        # What type a value has seldom differs where its content does.
        return UNKNOWN if name == "isinstance" and ev.value(first, frame).level != "uniform" else UNIFORM
    return ev.all(args, frame) if is_pure(f"builtins.{name}") else _by_arguments(ev, e, frame, name)


def _same_items(ev: Evaluator, name: str, first: ast.expr, e: ast.Call, frame: Frame, path: Path) -> Value:
    """The items are those of the argument; `sorted` takes the order of a set away, and its key can bring one in."""
    value = ev.value(first, frame, path)
    if name == "sorted":
        key = argument(e, "key")
        if path and path[0] in (("order", None), EACH) and value.source == "set_order":
            value = ev.value(first, frame, (LEN,))
        if key is not None and path and path[0][0] in ("order", "each"):
            value = join([value, _key(ev, key, frame)])
    if name in ("set", "frozenset") and path and path[0][0] in ("each", "order"):
        value = join([value, origins.set_order(e, frame)])
    return value


def _key(ev: Evaluator, key: ast.expr, frame: Frame) -> Value:
    """What a key function returns, whatever it is called with."""
    target = frame.function.module.by_node.get(key) or resolve(frame.function, key)
    if not isinstance(target, Function):
        return UNIFORM
    inside = Frame(target, {}, frame.depth + 1, (*frame.key, key))
    return UNKNOWN if inside.too_deep else body(ev, target, inside, (), f"{text(key, 40)}()")


def _combined(ev: Evaluator, name: str, args: list[ast.expr], frame: Frame, path: Path) -> Value:
    if path and path[0] == EACH and len(path) > 1 and path[1][0] == "item":
        index = path[1][1]
        if name == "enumerate":
            return UNIFORM if index == 0 else ev.value(args[0], frame, (EACH, *path[2:]))
        if name == "zip" and isinstance(index, int) and index < len(args):
            return ev.value(args[index], frame, (EACH, *path[2:]))
    if path and path[0] in (LEN, EACH) and name in ("enumerate", "zip", "map"):
        items = args[1:] if name == "map" else args
        return ev.all(items, frame, path[:1])
    return ev.all(args, frame)


def _static(function: Function) -> bool:
    node = function.node
    if isinstance(node, (ast.Module, ast.Lambda)):
        return True
    return any(dotted(d) == "staticmethod" for d in node.decorator_list)
