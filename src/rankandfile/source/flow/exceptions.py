"""Which handler takes an exception, and which context manager swallows it: yes, no, or perhaps."""

from __future__ import annotations

import ast
import builtins
from functools import cached_property
from typing import Literal, TypeAlias

from msgspec import Struct

from rankandfile.source.program.made_as import made_as
from rankandfile.source.program.methods import methods_named
from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import (
    Class,
    External,
    lineage,
    method,
    resolve,
)
from rankandfile.source.program.names import external_bases as outside
from rankandfile.source.program.scopes import own_nodes

Match: TypeAlias = Literal["yes", "no", "perhaps"]
_CATCHES_ALL = {"builtins.Exception", "builtins.BaseException"}
_SWALLOWS = {"contextlib.suppress"}


_OF_PERSONS = {"builtins.KeyboardInterrupt", "builtins.SystemExit"}


class Caught(Struct, frozen=True, dict=True):
    """What a handler takes, by the names that mean it where they are written; no types: whatever is raised."""

    function: Function
    types: ast.expr | None = None

    @cached_property
    def names(self) -> frozenset[str]:
        """The last part of each."""
        return frozenset(str(getattr(e, "attr", "") or getattr(e, "id", "")) for e in self._each)

    @cached_property
    def only_of_the_program(self) -> bool:
        """No library raises what the program defines, or what a person at the keyboard does."""
        found = [resolve(self.function, each) for each in self._each]
        return bool(found) and all(
            isinstance(f, Class) or (isinstance(f, External) and f.dotted in _OF_PERSONS) for f in found
        )

    def takes(self, thrown: ast.expr, function: Function) -> Match:
        """Whether it takes what `raise thrown` raises in a function, which may be another one than the handler's."""
        answers = [_is_a(_type(thrown, function), resolve(self.function, each)) for each in self._each]
        return _any(answers) if self.types is not None else "yes"

    @property
    def _each(self) -> list[ast.expr]:
        if self.types is None:
            return []
        return list(self.types.elts) if isinstance(self.types, ast.Tuple) else [self.types]


def catches(function: Function, caught: ast.expr | None, thrown: ast.expr | None) -> Match:
    """Whether `except caught:` takes what `raise thrown` raises (None: an exception of unknown type)."""
    if caught is None:
        return "yes"
    if isinstance(caught, ast.Tuple):
        return _any([catches(function, part, thrown) for part in caught.elts])
    handler = resolve(function, caught)
    if thrown is None:
        return "yes" if isinstance(handler, External) and handler.dotted in _CATCHES_ALL else "perhaps"
    return _is_a(_type(thrown, function), handler)


def _type(thrown: ast.expr, function: Function) -> object:
    return resolve(function, thrown.func if isinstance(thrown, ast.Call) else thrown)


def _any(answers: list[Match]) -> Match:
    return "yes" if "yes" in answers else "perhaps" if "perhaps" in answers else "no"


def _is_a(raised: object, handler: object) -> Match:
    if isinstance(handler, External) and isinstance(raised, (External, Class)):
        names = {raised.dotted} if isinstance(raised, External) else outside(raised)
        answers = [_builtin_is_a(name, handler.dotted) for name in names]
        return _any(answers) if answers else "perhaps"
    if isinstance(handler, Class) and isinstance(raised, Class):
        if handler in lineage(raised):
            return "yes"
        return "perhaps" if any(not _builtin(name) for name in outside(raised)) else "no"
    if isinstance(handler, Class) and isinstance(raised, External):
        return "no" if _builtin(raised.dotted) else "perhaps"
    return "perhaps"


def _builtin_is_a(raised: str, handler: str) -> Match:
    if raised == handler or handler == "builtins.BaseException":
        return "yes"
    child, parent = _builtin(raised), _builtin(handler)
    if child is None or parent is None:
        return "perhaps"
    return "yes" if issubclass(child, parent) else "no"


def _builtin(dotted: str) -> type[BaseException] | None:
    found = getattr(builtins, dotted.removeprefix("builtins."), None)
    return found if isinstance(found, type) and issubclass(found, BaseException) else None


def swallows(function: Function, manager: ast.expr, thrown: ast.expr | None) -> Match:
    """Whether `with manager:` can end an exception that its body raised."""
    if not isinstance(manager, ast.Call):
        # An object that was made before, and perhaps handed over.
        name = getattr(manager, "attr", getattr(manager, "id", ""))
        return _any([_of_made(each) for each in made_as(function.module.program, name)])
    target = resolve(function, manager.func)
    if isinstance(target, External):
        if target.dotted not in _SWALLOWS:
            return "no"
        return _any([catches(function, each, thrown) for each in manager.args])
    if target is None and isinstance(manager.func, ast.Attribute):
        # A method of an object: whichever has that name.
        made = methods_named(function.module.program, manager.func.attr)
        return _any([_of_made(each) for each in made])
    return _of_made(target)


def _of_made(target: object) -> Match:
    """What a class of the program, or a function that makes the manager, is known to do."""
    if isinstance(target, Class):
        leave = method(target, "__exit__") or method(target, "__aexit__")
        return "perhaps" if leave is not None and _may_return_true(leave) else "no"
    if isinstance(target, Function):
        returned = [n.value for n in own_nodes(target) if isinstance(n, ast.Return)]
        given = [resolve(target, each.func) for each in returned if isinstance(each, ast.Call)]
        if target.owner is not None and any(
            getattr(each, "id", "") in target.parameters[:1] for each in returned
        ):
            # `return self`: the object is the manager itself.
            given.append(Class(target.module, target.owner))
        by_class = _any([_of_made(each) for each in given if isinstance(each, Class)])
        return "perhaps" if by_class != "no" or _yields_inside_a_handler(target) else "no"
    return "no"


def _may_return_true(function: Function) -> bool:
    returned = [n.value for n in function.nodes if isinstance(n, ast.Return) and n.value is not None]
    return any(not (isinstance(value, ast.Constant) and not value.value) for value in returned)


def _yields_inside_a_handler(function: Function) -> bool:
    """A generator made a context manager swallows what its handlers around the `yield` do not raise again."""
    for node in function.nodes:
        if isinstance(node, ast.Try) and node.handlers:
            yielding = any(isinstance(n, ast.Yield) for part in node.body for n in ast.walk(part))
            raising = all(_always_raises(handler.body) for handler in node.handlers)
            if yielding and not raising:
                return True
    return False


def _always_raises(body: list[ast.stmt]) -> bool:
    """Whether nothing goes on behind these statements, nor comes back from within: `if self.failures > self.allowed:
    raise` does not raise always."""
    if any(isinstance(node, ast.Return) for step in body for node in ast.walk(step)):
        return False
    return any(_raises(step) for step in body)


def _raises(step: ast.stmt) -> bool:
    if isinstance(step, ast.If):
        return _always_raises(step.body) and _always_raises(step.orelse)
    if isinstance(step, (ast.With, ast.AsyncWith)):
        return _always_raises(step.body)
    if isinstance(step, ast.Try):
        return _always_raises(step.finalbody) or (_always_raises(step.body) and not step.handlers)
    return isinstance(step, ast.Raise)
