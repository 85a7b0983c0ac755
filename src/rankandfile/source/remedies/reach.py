"""Which collectives a piece of code comes to, through calls, and how its own scope would name their group."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from rankandfile.source.program.modules import defaults_of
from rankandfile.source.program.walking import walk

from .code import Code, Definition, Module

COLLECTIVES = frozenset(
    {
        *("all_reduce", "all_reduce_coalesced", "reduce", "reduce_scatter", "reduce_scatter_tensor"),
        *("broadcast", "broadcast_object_list", "scatter", "scatter_object_list", "gather", "gather_object"),
        *("all_gather", "all_gather_object", "all_gather_into_tensor", "all_gather_coalesced"),
        *("all_to_all", "all_to_all_single", "barrier", "monitored_barrier"),
        *("full_tensor", "clip_grad_norm_", "wait_for_everyone", "gather_for_metrics"),
    }
)
POINT_TO_POINT = frozenset({"send", "recv", "isend", "irecv", "P2POp", "batch_isend_irecv"})
TRAINS = frozenset({"backward", "step"})
_DEPTH = 6
_MOST_CALLS = 5_000

#: The group of the call is the job's own, or cannot be named.
DEFAULT, UNKNOWN = "", "?"


class Event(Struct, frozen=True):
    """A call that involves other ranks, or that trains."""

    name: str
    path: str
    line: int
    group: str
    """Code that names the group where the search began, `DEFAULT` or `UNKNOWN`."""


class _Scope(Struct, frozen=True):
    """A function as it is called: what its parameters are, in the code of where the search began."""

    module: Module
    function: Definition | None
    names: Mapping[str, ast.expr | None] | None
    """None: this is where the search began, every name means itself."""

    def spelled(self, node: ast.expr | None) -> ast.expr | None:
        """The expression in the words of the first scope; none if it cannot be said there."""
        if node is None or self.names is None:
            return node
        if isinstance(node, ast.Constant):
            return node
        if isinstance(node, ast.Name):
            return self.names.get(node.id)
        if isinstance(node, ast.Attribute):
            value = self.spelled(node.value)
            return ast.Attribute(value, node.attr, ast.Load()) if value is not None else None
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            value = self.spelled(node.value)
            return ast.Subscript(value, node.slice, ast.Load()) if value is not None else None
        if isinstance(node, ast.Call) and _only_asks(node):
            func = self.spelled(node.func)
            return ast.Call(func, node.args, node.keywords) if func is not None else None
        return None


def events(code: Code, module: Module, nodes: Iterable[ast.AST]) -> list[Event]:
    """What the code in these nodes comes to, calls followed as far as their names can be resolved."""
    search = _Search(code, code.around(module))
    found: list[Event] = []
    for node in nodes:
        scope = _Scope(module, module.function_of(node), None)
        found.extend(search.walk(node, scope, 0))
    return found


def collective(event: Event) -> bool:
    return event.name in COLLECTIVES or event.name in POINT_TO_POINT


def resolve(code: Code, module: Module, node: ast.expr) -> list[Definition]:
    """The functions that a call's target or a property's name may mean."""
    search = _Search(code, code.around(module))
    return [d for d, _ in search.targets(node, _Scope(module, module.function_of(node), None))]


class _Search:
    def __init__(self, code: Code, modules: list[Module]) -> None:
        self.code = code
        self.modules = modules
        self.seen: set[tuple[int, str]] = set()
        self.entered: dict[int, Definition] = {}
        self.left = _MOST_CALLS

    def walk(self, node: ast.AST, scope: _Scope, depth: int) -> Iterator[Event]:
        for part in _evaluated(node):
            if isinstance(part, ast.Call):
                yield from self._call(part, scope, depth)
            elif isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Load):
                for definition in self._methods(part.attr):
                    if definition.is_property:
                        yield from self._into(definition, None, part.value, scope, depth)

    def _call(self, call: ast.Call, scope: _Scope, depth: int) -> Iterator[Event]:
        name = _last_name(call.func)
        if (
            name in COLLECTIVES
            or name in POINT_TO_POINT
            or (name in TRAINS and isinstance(call.func, ast.Attribute))
        ) and not (isinstance(call.func, ast.Name) and name not in scope.module.imports):
            yield Event(name, scope.module.path, call.lineno, _group(call, scope))
            return
        for definition, receiver in self.targets(call.func, scope):
            yield from self._into(definition, call, receiver, scope, depth)

    def _into(
        self,
        definition: Definition,
        call: ast.Call | None,
        receiver: ast.expr | None,
        scope: _Scope,
        depth: int,
    ) -> Iterator[Event]:
        said = scope.spelled(receiver)
        names: dict[str, ast.expr | None] = {}
        if call is not None:
            names = {k: scope.spelled(v) for k, v in bound(definition, call).items()}
        first = _first_parameter(definition)
        if definition.owner is not None and first in ("self", "cls"):
            names[first] = said
        key = (id(definition.node), ast.dump(said) if said is not None else "")
        if depth >= _DEPTH or key in self.seen or not self.left:
            return
        self.left -= 1
        self.entered[id(definition.node)] = definition
        self.seen.add(key)
        inner = _Scope(definition.module, definition, names)
        for statement in definition.node.body:
            yield from self.walk(statement, inner, depth + 1)
        self.seen.discard(key)

    def targets(self, target: ast.expr, scope: _Scope) -> Iterator[tuple[Definition, ast.expr | None]]:
        """The functions that the target of a call may be, each with what `self` is in it."""
        module = scope.module
        if isinstance(target, ast.Name):
            yield from ((d, None) for d in self._named(module, target.id))
        elif isinstance(target, ast.Attribute):
            value = target.value
            if isinstance(value, ast.Name) and scope.function and value.id in scope.function.containers:
                return
            if target.attr == "apply" and isinstance(value, ast.Name):
                yield from ((d, None) for d in self._method_of(value.id, "forward"))
                return
            if isinstance(value, ast.Name) and value.id in module.imports:
                other = self.code.imported(module.imports[value.id])
                if other is not None:
                    yield from ((d, None) for d in self._named(other, target.attr))
                    return
            methods = [d for d in self._methods(target.attr) if not d.is_property]
            own = [d for d in methods if scope.function and d.owner is scope.function.owner]
            if isinstance(value, ast.Name) and value.id == "self" and own:
                methods = own
            if methods:
                yield from ((d, value) for d in methods[:3])
            elif (
                isinstance(value, ast.Name) and value.id == "self" and scope.function and scope.function.owner
            ):
                for kind in _assigned(scope.function.owner, target.attr):
                    yield from ((d, target) for d in self._method_of(kind, "forward"))

    def _named(self, module: Module, name: str) -> list[Definition]:
        found = [d for d in module.by_name.get(name, ()) if d.owner is None]
        if found:
            return found[:2]
        if name in module.imports:
            dotted = module.imports[name]
            other = self.code.imported(dotted.rpartition(".")[0])
            if other is not None and other is not module:
                return self._named(other, dotted.rpartition(".")[2])
        return []

    def _methods(self, name: str) -> list[Definition]:
        return [d for m in self.modules for d in m.by_name.get(name, ()) if d.owner is not None]

    def _method_of(self, kind: str, name: str) -> list[Definition]:
        for candidate in self.modules:
            if kind in candidate.classes:
                return [d for d in candidate.by_name.get(name, ()) if d.owner is candidate.classes[kind]]
        return []


def _only_asks(call: ast.Call) -> bool:
    """A mesh is asked for its group, by nothing that is other code elsewhere."""
    given = [*call.args, *(k.value for k in call.keywords)]
    return _last_name(call.func) == "get_group" and all(isinstance(e, ast.Constant) for e in given)


def _evaluated(node: ast.AST) -> Iterator[ast.AST]:
    """The node and all below, without the bodies of functions that it only defines."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            yield from _evaluated(child)


def _last_name(target: ast.expr) -> str:
    return getattr(target, "attr", "") or getattr(target, "id", "")


def _group(call: ast.Call, scope: _Scope) -> str:
    given = next((k.value for k in call.keywords if k.arg in ("group", "process_group")), None)
    if given is None:
        if _last_name(call.func) in ("barrier", "monitored_barrier") and call.args:
            given = call.args[0]
        else:
            return DEFAULT
    if isinstance(given, ast.Constant) and given.value is None:
        return DEFAULT
    said = scope.spelled(given)
    if said is None:
        return UNKNOWN
    return DEFAULT if isinstance(said, ast.Constant) and said.value is None else ast.unparse(said)


def _parameters(definition: Definition) -> list[ast.arg]:
    arguments = definition.node.args
    return [*arguments.posonlyargs, *arguments.args]


def _first_parameter(definition: Definition) -> str:
    parameters = _parameters(definition)
    return parameters[0].arg if parameters and "staticmethod" not in definition.decorators() else ""


def bound(definition: Definition, call: ast.Call) -> dict[str, ast.expr]:
    """The arguments of a call by the names of the parameters."""
    parameters = [p.arg for p in _parameters(definition)]
    if definition.owner is not None:
        parameters = parameters[1:]  # self, cls, or an autograd function's ctx
    found = dict(zip(parameters, call.args, strict=False))
    found.update({k.arg: k.value for k in call.keywords if k.arg})
    return {**defaults_of(definition.node.args), **found}


def said_in_call(definition: Definition, call: ast.Call, e: ast.expr) -> ast.expr | None:
    """An expression of the function in the words of a call of it; none if it cannot be said there."""
    names: dict[str, ast.expr | None] = {**bound(definition, call)}
    first = _first_parameter(definition)
    if definition.owner is not None and first == "self" and isinstance(call.func, ast.Attribute):
        names[first] = call.func.value
    return _Scope(definition.module, definition, names).spelled(e)


def _assigned(owner: ast.ClassDef, attribute: str) -> list[str]:
    """The classes whose instances the class keeps under this attribute of itself."""
    kinds = []
    for node in walk(owner):
        if not isinstance(node, ast.Assign):
            continue
        pairs: list[tuple[ast.expr, ast.expr]] = []
        for target in node.targets:
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                pairs += list(zip(target.elts, node.value.elts, strict=False))
            else:
                pairs.append((target, node.value))
        for place, value in pairs:
            mine = isinstance(place, ast.Attribute) and place.attr == attribute
            if mine and isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
                kinds.append(value.func.id)
    return kinds


def called(code: Code, module: Module, node: ast.AST) -> list[Definition]:
    """The functions that the code calls, directly or not."""
    search = _Search(code, code.around(module))
    scope = _Scope(module, module.function_of(node), None)
    for _ in search.walk(node, scope, 0):
        pass
    return list(search.entered.values())


def bound_call(code: Code, module: Module, definition: Definition, parameter: str) -> list[ast.expr]:
    """What the calls in this module hand to a parameter of the function."""
    search = _Search(code, code.around(module))
    found = []
    for node in module.nodes:
        if isinstance(node, ast.Call):
            scope = _Scope(module, module.function_of(node), None)
            if any(d.node is definition.node for d, _ in search.targets(node.func, scope)):
                given = bound(definition, node).get(parameter)
                if given is not None:
                    found.append(given)
    return found
