"""What a name or an attribute is given, as far as plain statements tell."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from rankandfile.model.heuristics import heuristic
from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import own_nodes

_PROPERTIES = {"property", "cached_property"}


@heuristic("assigned names", "a name is what the plain assignments of its function give it", otherwise=())
def given(function: Function, name: str) -> Iterator[ast.expr | None]:
    """What the name is given in the function, wherever; None for what is no plain expression."""
    for node in own_nodes(function):
        match node:
            case ast.Assign():
                for target in node.targets:
                    yield from _into(target, node.value, lambda t: isinstance(t, ast.Name) and t.id == name)
            case ast.AnnAssign(target=ast.Name(id=other)) if other == name:
                yield node.value
            case ast.For(target=ast.Name(id=other), iter=ast.Tuple() | ast.List() as items) if other == name:
                yield from items.elts
            case ast.Name(id=other, ctx=ast.Store()) if other == name and not _plain(function, node):
                yield None


def _plain(function: Function, name: ast.Name) -> bool:
    """It is stored by one of the statements that are looked into."""
    for node in own_nodes(function):
        match node:
            case ast.Assign() if any(name in ast.walk(target) for target in node.targets):
                return True
            case ast.AnnAssign() if node.target is name:
                return True
            case ast.For(target=ast.Name() as target, iter=ast.Tuple() | ast.List()) if target is name:
                return True
    return False


def stored(function: Function, attribute: str) -> Iterator[ast.expr | None]:
    """What a method stores in the attribute of its object."""

    def ours(target: ast.expr) -> bool:
        return (
            isinstance(target, ast.Attribute)
            and target.attr == attribute
            and isinstance(target.value, ast.Name)
            and target.value.id in function.parameters[:1]
        )

    for node in own_nodes(function):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                yield from _into(target, node.value, ours)
        elif isinstance(node, (ast.AugAssign, ast.AnnAssign)) and ours(node.target):
            yield node.value if isinstance(node, ast.AnnAssign) else None


def _into(target: ast.expr, value: ast.expr, wanted: Callable[[ast.expr], bool]) -> Iterator[ast.expr | None]:
    if wanted(target):
        yield value
    elif isinstance(target, (ast.Tuple, ast.List)):
        parts = value.elts if isinstance(value, (ast.Tuple, ast.List)) else []
        same = len(parts) == len(target.elts) and not any(isinstance(p, ast.Starred) for p in parts)
        for number, inner in enumerate(target.elts):
            if same:
                yield from _into(inner, parts[number], wanted)
            elif wanted(inner):
                yield None


def is_plain_property(function: Function) -> bool:
    node = function.node
    decorators = node.decorator_list if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) else []
    names = {getattr(one, "attr", "") or getattr(one, "id", "") for one in decorators}
    return bool(names & _PROPERTIES) and len(decorators) == 1


def is_generator(function: Function) -> bool:
    return isinstance(function.node, ast.AsyncFunctionDef) or any(
        isinstance(node, (ast.Yield, ast.YieldFrom)) for node in own_nodes(function)
    )


def names_rank(e: ast.expr) -> bool:
    """`os.environ["RANK"]`, or the like with a default."""
    match e:
        case ast.Subscript(value=ast.Attribute(attr="environ"), slice=ast.Constant(value="RANK")):
            return True
        case ast.Call(func=ast.Attribute(attr="get" | "getenv"), args=[ast.Constant(value="RANK"), *_]):
            return True
    return False
