"""A function as it is called from a known place, or from anywhere."""

from __future__ import annotations

import ast

from msgspec import Struct

from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import Class

from .syntax import Path

DEEPEST = 24


class Argument(Struct, frozen=True, eq=False):
    """What a parameter was given: an expression of the caller; `each` for one of many that `*args` holds."""

    value: ast.expr
    frame: Frame
    path: Path = ()


class Frame(Struct, frozen=True, eq=False):
    function: Function
    given: dict[str, Argument] | None = None
    """Parameter -> argument, where the call is known; None if the function may be called from anywhere."""
    depth: int = 0
    key: tuple[object, ...] = ()
    """Tells calls apart, so that each is looked at once."""

    @property
    def too_deep(self) -> bool:
        return self.depth >= DEEPEST


def called(target: Function, call: ast.Call, frame: Frame, bound: bool) -> Frame:
    """The frame of `target` when it is called by `call`; `bound`: its first parameter is the object."""
    given: dict[str, Argument] = {}
    arguments = target.node.args if not isinstance(target.node, ast.Module) else None
    if arguments is None:
        return Frame(target, {}, frame.depth + 1, (*frame.key, call))
    names = [a.arg for a in (*arguments.posonlyargs, *arguments.args)]
    if bound:
        names = names[1:]
    for name, value in zip(names, call.args, strict=False):
        if isinstance(value, ast.Starred):
            given.update(
                {n: Argument(value.value, frame, (("each", None),)) for n in names[names.index(name) :]}
            )
            break
        given[name] = Argument(value, frame)
    else:
        if arguments.vararg is not None:
            rest = ast.Tuple(call.args[len(names) :], ast.Load())
            given[arguments.vararg.arg] = Argument(ast.copy_location(rest, call), frame)
    known = {*names, *(a.arg for a in arguments.kwonlyargs)}
    for keyword in call.keywords:
        if keyword.arg in known and keyword.arg is not None:
            given[keyword.arg] = Argument(keyword.value, frame)
        elif keyword.arg is None:
            for name in known - given.keys():
                given[name] = Argument(keyword.value, frame, (("item", name),))
    if arguments.kwarg is not None:
        other = [k for k in call.keywords if k.arg not in known]
        keys: list[ast.expr | None] = [None if k.arg is None else ast.Constant(k.arg) for k in other]
        rest_by_name = ast.Dict(keys, [k.value for k in other])
        given[arguments.kwarg.arg] = Argument(ast.copy_location(rest_by_name, call), frame)
    return Frame(target, given, frame.depth + 1, (*frame.key, call))


class Instance(Struct, frozen=True, eq=False):
    """What an expression can be an object of: a class of the tree, or the dotted name of somebody else's."""

    type: Class | str
    made: ast.Call | None
    frame: Frame
    """Where it was made."""
