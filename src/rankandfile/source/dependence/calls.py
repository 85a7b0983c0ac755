"""The value of a call: by the body of the function, by what the registry knows, or by the arguments."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from rankandfile.model.known.group_makers import GROUP_MAKERS
from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import (
    Class,
    External,
    enclosing_class,
    lineage,
    method,
    resolve,
)
from rankandfile.source.registry.python import PARSED
from rankandfile.source.registry.tables import (
    TABLE,
    UNMISTAKABLE,
    canonical,
    is_pure,
    is_uniform,
    sanitiser,
    source,
)

from . import containers, groups, loaders, origins, random_state
from .builtin import builtin, by_functions
from .callers import is_static
from .frame import Frame, called
from .objects.functions_held import functions_held
from .objects.instances import instance
from .returned import body, by_arguments, cautious
from .syntax import HOLDS, KIND, LEN, Path, argument, constant, content, dotted, text
from .value import UNIFORM, UNKNOWN, Value, join

if TYPE_CHECKING:
    from .evaluate import Evaluator


_RECEIVES = {"forward", "__call__"}
_HOW_MANY = {"numel", "nelement", "dim", "element_size", "size"}
_OF_MODULES = {
    "parameters",
    "named_parameters",
    "modules",
    "children",
    "buffers",
    "named_buffers",
    "named_modules",
    "named_children",
    "state_dict",
    "train",
    "eval",
}
"""Methods of every `torch.nn.Module`, as alike on all ranks as the module is."""


_OF_NUMBERS = (
    "builtins.",
    "math.",
    "operator.",
    "torch.tensor",
    "torch.as_tensor",
    "copy.",
    "typing.",
    "enum.",
)
"""What makes of a number something that is still that number, or an answer about it."""
_SAME_NUMBER = {
    "item",
    "int",
    "long",
    "bool",
    "float",
    "to",
    "cuda",
    "cpu",
    "clone",
    "copy",
    "any",
    "all",
    "rank",
    "send",
}


_AS_LONG = _SAME_NUMBER - {"item", "any", "all", "rank", "send"} | {"sum", "mean", "detach", "argmax", "abs"}
"""Methods of a tensor that leave it as long as it was: those that sum up do so along another dimension, or there is no
length to be asked for."""
_OF_A_SHAPE = {
    *(f"torch.{name}" for name in ("zeros", "ones", "empty", "rand", "randn", "randint", "arange")),
    *(f"numpy.{name}" for name in ("zeros", "ones", "empty", "arange")),
}
"""What makes a tensor of the shape that is given, whatever is put in."""
_OF_ITS_SHARD = {"to_local"}
"""Methods that give the part of a tensor that this rank holds."""
_LISTS = {"torch.nn.ModuleList", "torch.nn.ParameterList"}
"""What holds the items of its argument."""
_PLACES = {"to", "cuda"}
"""Methods whose arguments say where a value lies."""
_OF_GROUPS = {"get_group", "get_all_groups"}
"""What is true of a group is true for all of its members."""
_MAKES_GROUPS = {
    f"torch.distributed.{name}"
    for name in (*GROUP_MAKERS, "device_mesh.init_device_mesh", "device_mesh.DeviceMesh")
}


def call(ev: Evaluator, e: ast.Call, frame: Frame, path: Path) -> Value:
    """The value of what a call returns, on all ranks together."""
    target = frame.function.module.by_node.get(e.func) or resolve(frame.function, e.func)
    if isinstance(target, External):
        return _external(ev, canonical(target.dotted), e, frame, path)
    if isinstance(target, Function):
        bound = target.owner is not None and not is_static(target)
        return _function(ev, target, e, frame, path, bound=bound)
    if isinstance(target, Class):
        return instance(ev, target, e, frame, path)
    return _method(ev, e, frame, path)


def _function(
    ev: Evaluator, target: Function, e: ast.Call, frame: Frame, path: Path, *, bound: bool
) -> Value:
    inside = called(target, e, frame, bound)
    if inside.too_deep:
        return by_arguments(ev, e, frame, text(e.func))
    return body(ev, target, inside, path, f"{text(e.func)}()")


_READ = {f"pathlib.Path.{name}" for name in ("open", "read_text", "read_bytes")}


def _method(ev: Evaluator, e: ast.Call, frame: Frame, path: Path) -> Value:
    """A call of a method, or of an object."""
    found: list[Value] = []
    if isinstance(e.func, ast.Attribute):
        if isinstance(e.func.value, ast.Call) and dotted(e.func.value.func) == "super":
            return _super(ev, e, frame, path)
        classes = ev.objects.classes(e.func.value, frame)
        for cls in classes:
            target = method(cls, e.func.attr)
            if target is not None:
                found.append(_function(ev, target, e, frame, path, bound=not is_static(target)))
        if len(found) > 1 and not ev.in_depth:
            found.append(ev.value(e.func.value, frame, (KIND,)))  # of which class it is
        if not found:
            for name in ev.objects.externals(e.func.value, frame):
                full = canonical(f"{name}.{e.func.attr}")
                if full in PARSED:
                    return UNIFORM
                if full in _READ:
                    # As `open`: which file it is may go by the rank's number; what is in it does not.
                    return join([UNKNOWN, ev.value(e.func.value, frame).of_data()])
                if _known(full) or full in TABLE.wraps or origins.as_done(full):
                    found.append(_external(ev, full, e, frame, path))
        if not found and e.func.attr in UNMISTAKABLE and e.func.attr not in ev.objects.index.defined:
            found.append(_external(ev, UNMISTAKABLE[e.func.attr], e, frame, path))
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
    for target in functions_held(ev.objects, frame.function, e.func):
        own = isinstance(e.func, ast.Attribute) and target.owner is not None and not is_static(target)
        found.append(_function(ev, target, e, frame, path, bound=own))
    return join(found) if found else _of_value(ev, e, frame, path)


def _super(ev: Evaluator, e: ast.Call, frame: Frame, path: Path) -> Value:
    owner = enclosing_class(frame.function)
    for each in lineage(owner)[1:] if owner is not None else []:
        target = method(each, e.func.attr) if isinstance(e.func, ast.Attribute) else None
        if target is not None:
            return _function(ev, target, e, frame, path, bound=True)
    return by_arguments(ev, e, frame, text(e.func))


def _of_value(ev: Evaluator, e: ast.Call, frame: Frame, path: Path) -> Value:
    """A method of a value (`loss.item()`, `d.get(key)`): made of the value and the arguments."""
    if not isinstance(e.func, ast.Attribute):
        if ev.in_depth and path[:1] == (KIND,):
            return UNKNOWN  # Whether whatever is called gives None is its own business.
        return by_arguments(ev, e, frame, text(e.func))
    receiver, name = e.func.value, e.func.attr
    if name == "get" and e.args and constant(e.args[0]) is not None:
        known = (("item", constant(e.args[0])), *path)
        return join([ev.value(receiver, frame, known), ev.all(e.args[1:], frame, path)])
    if name == "get" and len(e.args) == 1 and path[:1] == (KIND,):
        # Whether there is something at all is a question of the keys.
        return join([ev.value(e.args[0], frame), ev.value(receiver, frame, (HOLDS,))])
    if name in ("items", "keys", "values") and not e.args:
        return containers.view_of_dictionary(ev, receiver, name, frame, path)
    if random_state.is_draw(ev, e, frame):
        return random_state.draw_of_object(ev, e, frame)
    if name in _OF_GROUPS:
        return UNKNOWN
    if name in _OF_ITS_SHARD and not path:
        return origins.here("local_data", "the part of the tensor that this rank holds", e, frame)
    if path[:1] == (LEN,) and name in _AS_LONG:
        return ev.value(receiver, frame, path)
    value = ev.value(receiver, frame)
    if not value.differs:
        value = join([value, _by_order(ev, e, name, receiver, frame)])
    if name in _HOW_MANY and origins.of_gradient(value):
        return UNIFORM
    if ev.in_depth and name in _OF_MODULES and value.differs:
        return UNKNOWN  # Where a module lies, or what it has learnt, is not what it is built of.
    value = value if name in _PLACES else join([value, ev.all(content(e), frame)])
    value = value if name in _SAME_NUMBER else value.of_data()
    if name not in _OF_MODULES and ev.objects.classes(receiver, frame):
        # A method that the tree does not show, of a class that it does.
        value = join([UNKNOWN, value])
    return cautious(value, name)


def _by_order(ev: Evaluator, e: ast.Call, name: str, receiver: ast.expr, frame: Frame) -> Value:
    """`",".join(items)`, and `items.pop()`, where it is a matter of their order what that gives."""
    if name == "join" and e.args:
        return containers.order(ev, e.args[0], frame)
    if name in ("pop", "popitem") and (not e.args or name == "popitem"):
        return containers.order(ev, receiver, frame)
    return UNIFORM


def _known(name: str) -> bool:
    return source(name) is not None or is_uniform(name) or sanitiser(name) is not None


def _external(ev: Evaluator, name: str, e: ast.Call, frame: Frame, path: Path) -> Value:
    if name in ("os.environ.get", "os.getenv"):
        if path[:1] == (KIND,):
            return UNIFORM  # A launcher sets its variables for every rank, or for none.
        return origins.asked_of_environment(argument(e, 0, "key"), e, frame)
    rule = sanitiser(name)
    if rule is not None and rule.returned:
        return ev.all(content(e), frame).sanitised(groups.span(ev, e, rule, frame))
    if path[:1] == (LEN,) and name in _OF_A_SHAPE:
        return ev.all([*e.args, *(k.value for k in e.keywords if k.arg == "size")], frame)
    if path[:1] == (LEN,) and name == loaders.AS_LONG_AS_ITS_FIRST and e.args:
        return ev.value(e.args[0], frame, path)
    if random_state.family(name):
        return random_state.draw(ev, name, e, frame)
    if origins.as_done(name):
        items = ev.all(content(e), frame, path)
        return join([items, origins.arrival(e, frame)]) if path and path[0][0] in ("each", "order") else items
    if name in _LISTS and path and e.args:
        return ev.value(e.args[0], frame, path)
    known = source(name)
    if known is not None:
        return _positioned(ev, e, frame, name, path)
    if is_uniform(name) or name in PARSED:
        return UNIFORM
    if name in _MAKES_GROUPS:
        return UNKNOWN
    if name in loaders.LOADERS:
        return loaders.loader(ev, e, frame, path)
    if name in TABLE.wraps:
        return loaders.prepared(ev, e, frame, path)
    if name.startswith("builtins."):
        return builtin(ev, name.removeprefix("builtins."), e, frame, path)
    if name == "collections.deque":
        return builtin(ev, "list", e, frame, path)
    if is_pure(name):
        if path[:1] == (KIND,) and not name.startswith("builtins."):
            return UNIFORM  # A tensor is made, whatever of.
        value = ev.all(content(e), frame)
        if not value.differs:
            value = join([value, by_functions(ev, e, frame)])
        return value if name.startswith(_OF_NUMBERS) else value.of_data()
    if name in ("itertools.count", "itertools.cycle"):
        return ev.all(content(e), frame)
    return by_arguments(ev, e, frame, name)


def _positioned(ev: Evaluator, e: ast.Call, frame: Frame, name: str, path: Path) -> Value:
    """A rank within a group varies along the axes of the group; a coordinate along its dimension of the mesh."""
    known = source(name)
    assert known is not None
    value = origins.from_table(known, e, frame)
    dimension = groups.dimension(ev, e, frame, path) if known.along == "*" else None
    if dimension is not None:
        return origins.of_source(known, f" along `{dimension}`", e, frame, frozenset([dimension]))
    group = argument(e, 0, "group") if known.group else None
    if group is not None:
        axes = groups.axes(ev, group, frame)
        if axes is not None:
            return origins.of_source(known, f" within `{text(group, 40)}`", e, frame, axes)
    return value
