"""What a name means: the function, class or module of the tree, or a dotted name of somebody else's package."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from typing import TypeAlias

from msgspec import Struct

from .modules import Function, Module, Program
from .scopes import binding_scope, scope_of

DEEPEST = 8
"""Re-exports, aliases and base classes that are followed in a row."""
_AUTOGRAD = "torch.autograd.Function"


class Class(Struct, frozen=True):
    """A class of the tree."""

    module: Module
    node: ast.ClassDef

    @property
    def name(self) -> str:
        return self.node.name


class External(Struct, frozen=True):
    """Something outside the tree: `torch.distributed.all_reduce`, `builtins.len`."""

    dotted: str


Target: TypeAlias = Function | Class | Module | External


def resolve(function: Function, expression: ast.expr, depth: int = 0) -> Target | None:
    """What the expression names; None for a variable, and whatever cannot be told."""
    if depth > DEEPEST:
        return None
    if isinstance(expression, ast.Name):
        return resolve_name(function, expression.id, depth + 1)
    if isinstance(expression, ast.Attribute):
        base = resolve(function, expression.value, depth + 1)
        return None if base is None else member(base, expression.attr, depth + 1)
    return None


def resolve_name(function: Function, name: str, depth: int = 0) -> Target | None:
    """What a bare name means inside the function, by the rules of scope."""
    scope = binding_scope(function, name)
    if scope is None or isinstance(scope.node, ast.Module):
        return top_level(function.module, name, depth) or _builtin(name)
    return _binding(scope, scope_of(scope).names[name], name, depth)


def top_level(module: Module, name: str, depth: int = 0) -> Target | None:
    """What the module calls by this name."""
    if depth > DEEPEST:
        return None
    body = module.functions[0]
    table = scope_of(body).names
    if name in table:
        return _binding(body, table[name], name, depth)
    for node in table.get("*", []):
        if isinstance(node, ast.ImportFrom):
            origin = imported_module(module, node)
            found = top_level(origin, name, depth + 1) if origin is not None else None
            if found is not None:
                return found
    return None


def member(base: Target, name: str, depth: int = 0) -> Target | None:
    """`base.name`, where `base` is a module, a class, or outside the tree."""
    if depth > DEEPEST:
        return None
    if isinstance(base, External):
        return External(f"{base.dotted}.{name}")
    if isinstance(base, Module):
        found = top_level(base, name, depth + 1)
        return found or submodule(base, name)
    if isinstance(base, Class):
        forward = method(base, "forward") if name == "apply" else None
        return method(base, name) or (forward if forward is not None and by_autograd(forward) else None)
    return None


def method(cls: Class, name: str) -> Function | None:
    """The method or property of that name, looked up through the base classes that the tree shows."""
    for each in lineage(cls):
        for node in each.node.body:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == name:
                return each.module.by_node.get(node)
    return None


def methods(cls: Class) -> list[Function]:
    """All methods of the class and its bases in the tree; overridden ones once."""
    found: dict[str, Function] = {}
    for each in lineage(cls):
        for node in each.node.body:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node in each.module.by_node:
                found.setdefault(node.name, each.module.by_node[node])
    return list(found.values())


def lineage(cls: Class) -> list[Class]:
    """The class and its bases in the tree, nearest first."""
    found, queue = [cls], [cls]
    while queue and len(found) < 40:
        current = queue.pop(0)
        for base in bases(current):
            if isinstance(base, Class) and base not in found:
                found.append(base)
                queue.append(base)
    return found


def body_fields(cls: Class, name: str) -> Iterator[tuple[Class, ast.Assign | ast.AnnAssign]]:
    """Where the bodies of the class and its bases in the tree give the name a value or a type, nearest first."""
    for each in lineage(cls):
        for node in each.node.body:
            if isinstance(node, (ast.Assign, ast.AnnAssign)):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                if any(isinstance(target, ast.Name) and target.id == name for target in targets):
                    yield each, node


def bases(cls: Class) -> Iterator[Target]:
    body = cls.module.functions[0]
    for expression in cls.node.bases:
        value = expression.value if isinstance(expression, ast.Subscript) else expression
        found = resolve(body, value)
        if found is not None:
            yield found


def external_bases(cls: Class) -> set[str]:
    """Dotted names of the bases that are outside the tree."""
    return {base.dotted for each in lineage(cls) for base in bases(each) if isinstance(base, External)}


def by_autograd(function: Function) -> bool:
    """The `forward` of a function of autograd: `apply` calls it, and autograd hands over its first argument."""
    owner = function.owner if function.name == "forward" else None
    return owner is not None and _AUTOGRAD in external_bases(Class(function.module, owner))


def enclosing_class(function: Function) -> Class | None:
    """The class of `self` in the function: its own, or that of the method it is nested in."""
    scope: Function | None = function
    while scope is not None:
        if scope.owner is not None:
            return Class(scope.module, scope.owner)
        scope = scope.parent
    return None


def _binding(scope: Function, nodes: list[ast.AST], name: str, depth: int) -> Target | None:
    """The one thing that a name is bound to by definition or import; None for a variable."""
    for node in nodes:
        found = _bound_to(scope, node, name, depth)
        if found is not None:
            return found
    return None


def _bound_to(scope: Function, node: ast.AST, name: str, depth: int) -> Target | None:
    module = scope.module
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node is not scope.node:
        return module.by_node.get(node)
    if isinstance(node, ast.ClassDef):
        return Class(module, node)
    if isinstance(node, ast.Import):
        for alias in node.names:
            if (alias.asname or alias.name.split(".")[0]) == name:
                dotted = alias.name if alias.asname else alias.name.split(".")[0]
                return find_module(module, dotted) or External(dotted)
    if isinstance(node, ast.ImportFrom):
        return _imported(module, node, name, depth)
    return None


def _imported(module: Module, node: ast.ImportFrom, name: str, depth: int) -> Target | None:
    for alias in node.names:
        if (alias.asname or alias.name) == name:
            origin = imported_module(module, node)
            if origin is None:
                base = "." * node.level + (node.module or "")
                return External(f"{base}.{alias.name}" if node.module else f"{base}{alias.name}")
            return member(origin, alias.name, depth + 1)
    return None


def imported_module(module: Module, node: ast.ImportFrom) -> Module | None:
    """The module of the tree that a `from ... import` reads from."""
    if not node.level:
        return find_module(module, node.module or "")
    parts = module.path.split("/")[: -node.level]
    if len(module.path.split("/")) < node.level:
        return None
    return _at(module.program, [*parts, *(node.module or "").split(".")] if node.module else parts)


_MOST_HOPS = 4


def imported_variable(
    module: Module, name: str, node: ast.AST | None, left: int = _MOST_HOPS
) -> tuple[Function, str] | None:
    """The module body and the name there of what `from x import name` brings, if it is a variable of the tree; through
    packages that hand it on."""
    alias = next((a for a in getattr(node, "names", ()) if (a.asname or a.name) == name), None)
    origin = imported_module(module, node) if isinstance(node, ast.ImportFrom) else None
    if origin is None or alias is None or left == 0 or alias.name not in scope_of(origin.functions[0]).names:
        return None
    for handed_on in (
        origin.functions[0].node.body if isinstance(origin.functions[0].node, ast.Module) else ()
    ):
        if isinstance(handed_on, ast.ImportFrom) and any(
            (a.asname or a.name) == alias.name for a in handed_on.names
        ):
            return imported_variable(origin, alias.name, handed_on, left - 1)
    return (origin.functions[0], alias.name) if top_level(origin, alias.name) is None else None


def submodule(module: Module, name: str) -> Module | None:
    if not module.path.endswith("__init__.py"):
        return None
    return _at(module.program, [*module.path.split("/")[:-1], name])


def find_module(module: Module, dotted: str) -> Module | None:
    """An absolute import: beside the importing file first, as for a script, then from any root above it."""
    parts = dotted.split(".")
    if not dotted or not all(parts):
        return None
    folders = module.path.split("/")[:-1]
    for depth in range(len(folders), -1, -1):
        found = _at(module.program, [*folders[:depth], *parts])
        if found is not None:
            return found
    return None


def _at(program: Program, parts: list[str]) -> Module | None:
    path = "/".join(parts)
    for candidate in (f"{path}.py", f"{path}/__init__.py"):
        if candidate in program.path_set:
            return program.module(candidate)
    return None


def _builtin(name: str) -> External | None:
    return External(f"builtins.{name}") if hasattr(builtins, name) else None
