"""Exceptions as decisions: which call of a `try` may raise, and whether on this rank alone."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rankandfile.source.flow.condition import Condition, Point
from rankandfile.source.flow.exceptions import Caught
from rankandfile.source.flow.how_often import between_nodes
from rankandfile.source.program.called import called_name
from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import Class, External, method, resolve
from rankandfile.source.program.scopes import own_nodes
from rankandfile.source.registry.exceptions import BY_TYPE, EVERYWHERE_ALIKE

from . import control
from .frame import Frame, called
from .reaching_assignments import reaching
from .syntax import ancestors, arguments, dotted, text
from .value import UNKNOWN, Link, Value, join

if TYPE_CHECKING:
    from .evaluate import Evaluator

_DEEPEST = 3
_READS = {"builtins.open", "torch.load", "json.load", "pickle.load", "numpy.load", "PIL.Image.open"} | {
    f"safetensors.{name}" for name in ("safe_open", "torch.load_file", "numpy.load_file")
}
_CHANGES = ("os.mkdir", "os.makedirs", "os.rename", "os.remove", "os.unlink", "os.symlink", "shutil.")
_BUILTINS = (
    *(
        "bool",
        "callable",
        "dict",
        "enumerate",
        "hasattr",
        "hash",
        "id",
        "isinstance",
        "issubclass",
        "iter",
        "len",
    ),
    *("list", "print", "range", "repr", "set", "str", "tuple", "type", "vars", "zip"),
)
_MAKERS = ("arange", "empty", "empty_like", "full", "ones", "ones_like", "tensor", "zeros", "zeros_like")
_SELDOM_RAISE = {f"builtins.{name}" for name in _BUILTINS} | {f"torch.{name}" for name in _MAKERS}
"""Whatever they are given."""
_LOGS = {"debug", "info", "warning", "error", "exception", "critical"}
"""Of a logger, which reports its own failures and goes on."""
_LOOKUPS = {"KeyError", "IndexError", "LookupError"}


def handled(ev: Evaluator, condition: Condition, frame: Frame) -> Value:
    """Whether the handler runs on this rank alone."""
    handler = condition.node
    assert isinstance(handler, ast.ExceptHandler)
    statement = next((a for a in ancestors(frame.function.module, handler) if isinstance(a, ast.Try)), None)
    if statement is None:
        return UNKNOWN
    file = frame.function.module.path
    by_type = _by_type(handler, file)
    found = []
    for call in _calls(statement.body, frame.function, condition.after):
        value = _of_call(ev, call, Caught(frame.function, handler.type), frame, 0)
        if value.differs:
            shown = text(call, 60)
            place = f"{file}:{call.lineno}"
            found.append(
                value.by(Link(file, call.lineno, "the exception", f"is raised by `{shown}` ({place})", shown))
            )
    value = join(found)
    return value if value.differs or by_type is None else by_type


def swallowed(ev: Evaluator, condition: Condition, frame: Frame) -> Value:
    """Whether a `with` swallows an exception on this rank alone."""
    manager = condition.node
    statement = next((a for a in ancestors(frame.function.module, manager) if isinstance(a, ast.With)), None)
    if statement is None:
        return UNKNOWN
    calls = _calls(statement.body, frame.function, condition.after)
    caught = Caught(frame.function, _let_pass(manager))
    return join(_of_call(ev, call, caught, frame, 0) for call in calls)


def _let_pass(manager: ast.AST) -> ast.Tuple | None:
    """The exceptions that a manager is given by name: `suppress(KeyError)`."""
    given = manager.args if isinstance(manager, ast.Call) else []
    named = [e for e in given if (dotted(e) or "").endswith(("Error", "Exception"))]
    return ast.Tuple(named, ast.Load()) if named else None


def raised(ev: Evaluator, node: ast.AST, frame: Frame) -> Value:
    """Whether a call raises on this rank alone."""
    return _of_call(ev, node, Caught(frame.function), frame, 0) if isinstance(node, ast.Call) else UNKNOWN


def raised_for(ev: Evaluator, step: ast.AST, caught: Caught, frame: Frame) -> Value:
    """Whether a call, or a `raise`, ends in what a handler takes on this rank alone."""
    known = isinstance(step, (ast.Call, ast.Raise, ast.For, ast.AsyncFor))
    return _of_call(ev, step, caught, frame, 0) if known else UNKNOWN


def subject(ev: Evaluator, case: ast.match_case, frame: Frame) -> Value:
    """What is matched."""
    statement = next((a for a in ancestors(frame.function.module, case) if isinstance(a, ast.Match)), None)
    return UNKNOWN if statement is None else ev.value(statement.subject, frame)


def _by_type(handler: ast.ExceptHandler, file: str) -> Value | None:
    """Some exceptions say by their type that they are one rank's own."""
    types = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    for each in types:
        name = each.attr if isinstance(each, ast.Attribute) else each.id if isinstance(each, ast.Name) else ""
        if name in BY_TYPE:
            kind, words = BY_TYPE[name]
            link = Link(
                file, handler.lineno, f"except {name}", f"depends on {words} ({file}:{handler.lineno})"
            )
            return Value("varying", source=kind, chain=(link,))
    return None


def _calls(
    body: list[ast.stmt], function: Function, after: Point | None = None
) -> Sequence[ast.expr | ast.stmt]:
    """What may raise in a block: calls, and the next item of a loop. Not what control got through, `after`."""
    inner = {id(n) for n in own_nodes(function)}
    kinds = (ast.Call, ast.For, ast.AsyncFor, ast.Raise, ast.Subscript)
    found = [n for s in body for n in ast.walk(s) if id(n) in inner and isinstance(n, kinds)]
    if after is not None and not any(
        isinstance(n, (ast.For, ast.While, ast.AsyncFor)) for s in body for n in ast.walk(s)
    ):
        found = [n for n in found if _not_before(n, after)]
    return found[:40]


def _not_before(node: ast.expr | ast.stmt, after: Point) -> bool:
    """On the line itself: the call that control came back from, and what is asked of its result."""
    if (node.end_lineno or node.lineno) != after.line or not isinstance(node, ast.Call):
        return (node.end_lineno or node.lineno) >= after.line
    calls = (n for n in ast.walk(node) if isinstance(n, ast.Call))
    return after.call is None or any(called_name(n) == after.call for n in calls)


def _of_call(ev: Evaluator, call: ast.AST, caught: Caught, frame: Frame, depth: int) -> Value:
    """Why this step raises what the handler takes, on this rank."""
    if isinstance(call, ast.Raise):
        return _of_raise(ev, call, caught, frame)
    if isinstance(call, (ast.For, ast.AsyncFor)):
        return _of_iteration(ev, call, caught, frame, depth)
    if isinstance(call, ast.Subscript):
        return _of_lookup(ev, call, caught, frame)
    assert isinstance(call, ast.Call)
    targets = _targets(ev, call, frame)
    if targets:
        inside = [called(t, call, frame, bound=t.owner is not None) for t in targets]
        return join(_inside(ev, each, caught, depth) for each in inside if not each.too_deep)
    return _outside(ev, call, caught, frame)


def _targets(ev: Evaluator, call: ast.Call, frame: Frame) -> list[Function]:
    """The functions of the tree that a call can run."""
    target = resolve(frame.function, call.func)
    if isinstance(target, Function):
        return [target]
    if isinstance(target, Class):
        made = method(target, "__init__")
        return [made] if made is not None else []
    if isinstance(target, External):
        return []
    found = []
    if isinstance(call.func, ast.Attribute):
        found = [method(c, call.func.attr) for c in ev.objects.classes(call.func.value, frame)]
    found = found or [
        method(c, "forward") or method(c, "__call__") for c in ev.objects.classes(call.func, frame)
    ]
    return [f for f in found if f is not None]


def _inside(ev: Evaluator, frame: Frame, caught: Caught, depth: int) -> Value:
    """What a function raises, itself or through what it calls."""
    if depth >= _DEEPEST:
        return UNKNOWN
    found = []
    for node in own_nodes(frame.function):
        if isinstance(node, ast.Raise):
            found.append(_of_raise(ev, node, caught, frame))
        elif isinstance(node, (ast.Call, ast.For)) and depth + 1 < _DEEPEST:
            found.append(_of_call(ev, node, caught, frame, depth + 1))
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
            found.append(_of_lookup(ev, node, caught, frame))
    value = join(found)
    return value if value.differs else UNKNOWN


def _of_lookup(ev: Evaluator, node: ast.Subscript, caught: Caught, frame: Frame) -> Value:
    """What is not in a table raises; only where somebody expects just that."""
    if isinstance(node.slice, (ast.Constant, ast.Slice)) or not caught.names & _LOOKUPS:
        return UNKNOWN
    key = ev.value(node.slice, frame)
    if not key.differs:
        return UNKNOWN
    file, line = frame.function.module.path, node.lineno
    words = f"asks for what only this rank's data has ({file}:{line})"
    link = Link(file, line, text(node, 60), words, kind="own data")
    return Value("varying", source="exception", chain=(link, *key.chain))


def _of_raise(ev: Evaluator, node: ast.Raise, caught: Caught, frame: Frame) -> Value:
    """What leads to a `raise`, and not past it."""
    if node.exc is None or caught.takes(node.exc, frame.function) == "no":
        return UNKNOWN
    flow = reaching(frame.function)
    file = frame.function.module.path
    found = []
    here = set(flow.nodes(node))
    for condition in between_nodes(frame.function, here, {flow.graph.returns}, [flow.graph.entry]):
        if condition.kind == "call" or isinstance(condition.node, ast.ExceptHandler):
            continue
        value = control.of_condition(ev, condition, frame)
        place = f"{file}:{node.lineno}"
        words = f"is raised at {place} as `{condition.text}` decides ({file}:{condition.line})"
        found.append(value.by(Link(file, node.lineno, text(node.exc, 60), words, condition.text)))
    return join(found)


def _of_iteration(
    ev: Evaluator, loop: ast.For | ast.AsyncFor, caught: Caught, frame: Frame, depth: int
) -> Value:
    """The next item of a loop over an object of the tree, or over a loader of a dataset of the tree."""
    found = []
    for instance in ev.objects.of(loop.iter, frame):
        holders = [instance] if isinstance(instance.type, Class) else []
        if instance.made is not None and not holders:
            holders = [i for a in arguments(instance.made)[:1] for i in ev.objects.of(a, instance.frame)]
        for each in holders:
            if isinstance(each.type, Class):
                for name in ("__iter__", "__next__", "__getitem__"):
                    inner = method(each.type, name)
                    if inner is not None:
                        found.append(_inside(ev, Frame(inner, None, frame.depth + 1), caught, depth + 1))
    return join(found)


def _outside(ev: Evaluator, call: ast.Call, caught: Caught, frame: Frame) -> Value:
    """A call out of the tree: it raises for what it was given."""
    if caught.names and caught.names <= EVERYWHERE_ALIKE:
        return UNKNOWN
    target = resolve(frame.function, call.func)
    dotted_name = target.dotted if isinstance(target, External) else ""
    if not dotted_name and any(
        name.startswith("logging.") for name in ev.objects.externals(call.func, frame)
    ):
        return UNKNOWN
    file = frame.function.module.path
    reads = dotted_name in _READS
    if reads or dotted_name.startswith(_CHANGES):
        words = "reads a file that may be unreadable" if reads else "changes files, which may fail"
        words = f"{words} for this rank alone ({file}:{call.lineno})"
        return Value("varying", source="file_system", chain=(Link(file, call.lineno, text(call, 60), words),))
    if (
        dotted_name.startswith(("logging.", "torch.distributed.", "warnings."))
        or dotted_name in _SELDOM_RAISE
    ):
        return UNKNOWN
    if isinstance(call.func, ast.Attribute) and call.func.attr in _LOGS and target is None:
        return UNKNOWN
    given = ev.all([a for a in arguments(call) if not isinstance(a, ast.Constant)], frame)
    if not given.differs:
        return UNKNOWN
    words = f"raises for data that only this rank has ({file}:{call.lineno})"
    link = Link(file, call.lineno, text(call, 60), words, kind="own data")
    return Value("varying", source="exception", chain=(link, *given.chain))


def ends(ev: Evaluator, frame: Frame) -> Value:
    """When an iterator of the tree stops."""
    stop = ast.Name("StopIteration", ast.Load())
    return _inside(ev, frame, Caught(frame.function, stop), 0)
