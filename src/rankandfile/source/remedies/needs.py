"""What code needs that a test has found to be there: a rank on which the test came out otherwise cannot run it.

`if os.path.exists(path): torch.load(path)` needs the file, `if batch is not None: step(batch)` the batch, and
`if not found: return` is followed by a `torch.cat(found)` that needs at least one.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from typing import Literal, NamedTuple, TypeAlias

from rankandfile.source.program.called import called_name

Kind: TypeAlias = Literal["file", "value", "items", "key"]

_FILE_TESTS = {"exists", "isfile", "isdir", "is_file", "is_dir", "access", "lexists"}
_SIZES = {"numel", "nelement", "size", "__len__", "count_nonzero", "any", "sum"}
_TAKES = {
    *("pop", "popleft", "popitem", "get_nowait", "take", "max", "min", "argmax", "argmin", "mean", "item"),
    *("next", "index", "first", "last"),
}
_OF_SOME = {
    *("cat", "stack", "concat", "concatenate", "vstack", "hstack", "max", "min", "next", "mean", "fmean"),
    *("reduce", "choice", "block_diag", "pad_sequence", "median"),
}
#: What takes the kind of its values from them: of none, it has one that the others' code may not take.
_OF_THEIR_KIND = {"tensor", "as_tensor"}
_AS_MANY = {"list", "tuple", "sorted", "reversed", "iter", "enumerate", "set", "zip"}
_HARMLESS = {
    *(
        "append",
        "extend",
        "add",
        "update",
        "clear",
        "insert",
        "put",
        "to",
        "cpu",
        "cuda",
        "sum",
        "numel",
        "size",
    ),
    *(
        "items",
        "keys",
        "values",
        "get",
        "copy",
        "clone",
        "detach",
        "float",
        "long",
        "reset",
        "setdefault",
        "sort",
    ),
}


_SAYS = {"print", "debug", "info", "warning", "warn", "error", "exception", "critical", "log"}


class Need(NamedTuple):
    kind: Kind
    what: str
    """The expression, as `ast.dump` writes it."""
    shown: str


def established(test: ast.expr, truth: bool) -> Iterator[Need]:
    """What is known to be there once the test has come out so."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield from established(operand, not truth)
        case ast.BoolOp(op=op, values=values):
            if isinstance(op, ast.And) is truth:
                for value in values:
                    yield from established(value, truth)
        case ast.NamedExpr(target=target):
            yield from established(target, truth)
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            yield from _compared(left, op, right, truth)
        case ast.Call(func=ast.Attribute(attr=name, value=base), args=args) if truth and name in _FILE_TESTS:
            yield _need("file", args[0] if args else base)
        case ast.Call() if truth and (sized := _sized(test)) is not None:
            yield _need("items", sized)
        case ast.Name() | ast.Attribute() if truth:
            yield _need("items", test)


def _compared(left: ast.expr, op: ast.cmpop, right: ast.expr, truth: bool) -> Iterator[Need]:
    if isinstance(right, ast.Constant) and right.value is None:
        if isinstance(op, (ast.IsNot, ast.NotEq)) is truth:
            yield _need("value", left)
    elif isinstance(op, (ast.In, ast.NotIn)):
        if isinstance(op, ast.In) is truth:
            yield _need("key", ast.Subscript(right, left, ast.Load()))
    elif isinstance(right, ast.Constant) and (sized := _sized(left)) is not None:
        some = {ast.Gt: True, ast.GtE: True, ast.NotEq: True, ast.Eq: False, ast.Lt: False, ast.LtE: False}
        if some.get(type(op)) is truth:
            yield _need("items", sized)


def _sized(e: ast.expr) -> ast.expr | None:
    """`x` of `len(x)`, `x.numel()`, `x.shape[0]`."""
    match e:
        case ast.Call(func=ast.Name(id="len" | "any" | "bool"), args=[x]):
            return x
        case ast.Call(func=ast.Attribute(attr=name, value=x)) if name in _SIZES:
            return x
        case ast.Subscript(value=ast.Attribute(attr="shape", value=x)):
            return x
    return None


def _need(kind: Kind, e: ast.expr) -> Need:
    shown = ast.unparse(e)
    return Need(kind, shown, shown)


def used(need: Need, nodes: Iterable[ast.AST], own: Callable[[ast.expr], bool]) -> ast.AST | None:
    """The first place in the code that cannot do without; `own`: whether an expression is an object of a class of the
    program, whose methods may need anything."""
    for node in nodes:
        for part in _unsaid(node):
            if _is_use(need, part, own):
                return part
    return None


def _unsaid(node: ast.AST) -> Iterator[ast.AST]:
    """The node and all below it, without what is only said: a message can do with anything."""
    if isinstance(node, ast.Call) and called_name(node) in _SAYS:
        return
    yield node
    for child in ast.iter_child_nodes(node):
        yield from _unsaid(child)


def _is_use(need: Need, part: ast.AST, own: Callable[[ast.expr], bool]) -> bool:
    def same(e: ast.AST) -> bool:
        return isinstance(e, ast.expr) and ast.unparse(e) == need.what

    match part:
        case ast.Subscript(ctx=ast.Load(), value=base) if need.kind in ("value", "items") and same(base):
            return need.kind == "value" or not isinstance(part.slice, ast.Slice)
        case ast.Subscript(ctx=ast.Load(), slice=mask) if need.kind == "items" and same(mask):
            return True  # rows[found], of which there would be none
        case ast.Subscript(ctx=ast.Load()) if need.kind == "key":
            return same(part)
        case ast.Attribute(value=base) if need.kind == "value":
            return same(base)
        case ast.FormattedValue(value=value) if need.kind == "value":
            return same(value)
        case ast.BinOp() if need.kind == "value":
            return same(part.left) or same(part.right)
        case ast.BinOp(op=ast.Div() | ast.FloorDiv(), right=right) if need.kind == "items":
            return (sized := _sized(right)) is not None and same(sized)
        case ast.Call(func=func, args=args) if need.kind != "key":
            name = called_name(part)
            given = any(same(a) for a in (*args, *(k.value for k in part.keywords)))
            of = func.value if isinstance(func, ast.Attribute) else None
            if need.kind == "file":
                return name not in _FILE_TESTS and (given or (of is not None and same(of)))
            if need.kind == "value":
                return given
            if of is not None and same(of):
                return name in _TAKES or (name not in _HARMLESS and own(of))
            if name in _OF_THEIR_KIND and not any(k.arg == "dtype" for k in part.keywords):
                return any(same(a) for a in args)
            made = any(same(_items_of(a)) for a in args)
            return name in _OF_SOME and (given or made) and not _does_without(part, name)
    return False


def _does_without(call: ast.Call, name: str) -> bool:
    """It is told what to take where there is nothing: `max(x, default=0)`, `next(iter(x), None)`, `max(a, b, *x)`."""
    told = {"next": 2, "reduce": 3}.get(name, 0)
    single = [arg for arg in call.args if not isinstance(arg, ast.Starred)]
    beside = isinstance(call.func, ast.Name) and name in ("max", "min") and len(single) > 1
    default = any(keyword.arg in ("default", "initial") for keyword in call.keywords)
    return default or beside or 0 < told <= len(call.args)


def _items_of(e: ast.expr) -> ast.expr:
    """What has as many items as this, and is asked for them: `x` of `list(x.values())`, of `[f(y) for y in x]`."""
    match e:
        case ast.Call(func=ast.Name(id=name), args=[x, *_]) if name in _AS_MANY:
            return _items_of(x)
        case ast.Call(func=ast.Name(id="map"), args=[_, x]):
            return _items_of(x)
        case ast.Call(func=ast.Attribute(attr="items" | "keys" | "values" | "copy" | "unbind", value=x)):
            return _items_of(x)
        case ast.ListComp(generators=[one]) | ast.GeneratorExp(generators=[one]):
            return _items_of(one.iter)
        case ast.Starred(value=x):
            return _items_of(x)
    return e
