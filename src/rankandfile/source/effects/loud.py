"""Which functions of a program issue collectives, themselves or through what they call; what each call does.

From the calls that the registry knows, the callers are gone up, and theirs. A call that may run such a function, by the
name of what is called, but whose object is not known, is opaque: it may issue collectives, or not.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property
from itertools import islice

from msgspec import Struct

from rankandfile.source.dependence.frame import Frame
from rankandfile.source.dependence.index import Index, Site, index_of
from rankandfile.source.dependence.objects.of_expressions import is_property
from rankandfile.source.dependence.objects.registered import lookups_called
from rankandfile.source.flow.graph import Node
from rankandfile.source.program.kept import kept
from rankandfile.source.program.modules import Function, Program
from rankandfile.source.program.names import (
    Class,
    External,
    by_autograd,
    enclosing_class,
    lineage,
    method,
    resolve,
)
from rankandfile.source.program.scopes import own_nodes
from rankandfile.source.registry.tables import TABLE

from .event import Event, event, objects_of, wrappers_used
from .handed import collectives_handed, handed, run_in_a_thread
from .wrapped import last_name, may_be_wrapped

_MOST_CALLED_VARIABLES = 2000
_RECEIVES = ("forward", "__call__")
_ENTERS = ("__enter__", "__exit__", "__aenter__", "__aexit__")
_MAKES = ("__init__", "__new__", "__post_init__")
_LEAVES = {"sys.exit", "os._exit", "builtins.exit", "builtins.quit", "os.abort"}


class Ends(Struct, frozen=True):
    """The call ends the process."""


class Opaque(Struct, frozen=True):
    """The call may issue collectives; which, nobody can tell."""

    call: ast.expr


class Runs(Struct, frozen=True):
    """The call runs a function of the program that issues collectives."""

    target: Function
    call: ast.expr
    bound: bool
    handed_by: ast.Call | None = None
    """The call that hands the function over, where it is run as the value of a parameter."""


Effect = Event | Runs | Opaque | Ends


class Effects:
    """What the calls of one program do, worked out once."""

    def __init__(self, program: Program, messages: bool = False) -> None:
        self.program = program
        self._messages = messages
        """Asked for are messages from rank to rank, in the place of collectives."""
        self.index: Index = index_of(program)
        self.of: dict[ast.AST, list[Effect]] = {}
        """A call, or a property that is read -> what it does to the other ranks; silent ones are not here."""
        self.loud: dict[Function, None] = {}
        """Functions that issue collectives, themselves or through what they call."""
        self.by_step: dict[Node, list[Effect]] = {}
        """What the steps of graphs do, as far as it was asked."""
        self._queue: list[Function] = []
        self._queued: set[Function] = set()
        self._find()

    def _find(self) -> None:
        for function, e in self._candidates():
            found = self._event(e, function)
            if found is not None and (found.name in TABLE.pairwise) is self._messages:
                self._add(function, e, found)
        for function, call, name in collectives_handed(self.index, objects_of(self.program)):
            if (name in TABLE.pairwise) is self._messages:
                self._add(function, call, Event(name, TABLE.collectives[name], call, function))
        while self._queue:
            self._to_callers(self._queue.pop())
        for name in ("exit", "_exit", "quit", "abort"):
            for site in self.index.calls(name):
                target = resolve(site.function, site.call.func)
                if isinstance(target, External) and target.dotted in _LEAVES:
                    self.of.setdefault(site.call, []).append(Ends())

    def _add(self, function: Function, e: ast.expr | ast.stmt, effect: Effect, for_all: bool = True) -> None:
        """`for_all`: whoever calls the function meets this."""
        effects = self.of.setdefault(e, [])
        if effect not in effects:
            effects.append(effect)
        if isinstance(effect, Opaque):
            return
        self.loud.setdefault(function)
        if for_all and function not in self._queued:
            self._queued.add(function)
            self._queue.append(function)

    def _to_holders(self, function: Function) -> None:
        """To those that run the function as the value of a parameter, and, of their callers, to those that hand it."""
        for found in handed(self.index, objects_of(self.program), function):
            bound = found.by is not None and found.runs.owner is not None
            if found.runs is function:
                self._add(
                    found.inside, found.call, Runs(function, found.call, bound, found.by), for_all=False
                )
            elif not isinstance(found.inside.node, ast.Lambda):
                bound = found.runs.owner is not None
                passes = found.by is not None
                self._add(found.inside, found.call, Runs(found.runs, found.call, bound, found.by), not passes)

    def _candidates(self) -> Iterator[tuple[Function, ast.expr]]:
        """What may be a collective, or a message, by its name."""
        known = TABLE.pairwise if self._messages else {*TABLE.collectives, "backward"}
        for name in sorted({name.rpartition(".")[2] for name in known}):
            yield from ((site.function, site.call) for site in self.index.calls(name))
        if self._messages:
            return  # None is implied by a property, or by calling a wrapped module.
        properties = {name.rpartition(".")[2] for name in TABLE.properties}
        for module in self.index.modules:
            if any(name in module.text for name in properties):
                for function in module.functions:
                    for node in own_nodes(function):
                        if isinstance(node, ast.Attribute) and node.attr in properties:
                            yield function, node
        if wrappers_used(self.index):
            wrapped = may_be_wrapped(self.index)
            called = (s for s in self.index.calls_of_variables if last_name(s.call.func) in wrapped)
            for site in islice(called, _MOST_CALLED_VARIABLES):
                if not isinstance(site.call.func, ast.Attribute) or _may_be_object(site):
                    yield site.function, site.call

    @staticmethod
    def _event(e: ast.expr, function: Function) -> Event | None:
        try:
            return event(e, function)
        except RecursionError:
            return None

    def _to_callers(self, function: Function) -> None:
        owner = Class(function.module, function.owner) if function.owner is not None else None
        if owner is not None and is_property(function):
            for reader, e in self._reads.get(function.name, ()):
                if owner in self.classes(e.value, reader):
                    self._add(reader, e, Runs(function, e, True))
            return
        self._to_holders(function)
        if isinstance(function.node, (ast.Module, ast.Lambda)):
            return
        for site in lookups_called(self.index).get(function, ()):
            self._add(site.function, site.call, Runs(function, site.call, False))
        for site, call in run_in_a_thread(self.index, function):
            self._add(site.function, site.call, Runs(function, call, owner is not None))
        if owner is not None and function.name in _ENTERS:
            for user, statement, item in self._with_items:
                if any(method(each, function.name) is function for each in self.classes(item, user)):
                    self._add(user, statement, Runs(function, item, True))
            return
        names = [function.name]
        if owner is not None and function.name in _MAKES:
            names = [owner.name, *self._heirs(owner)]
        elif by_autograd(function):
            names.append("apply")
        for name in names:
            for site in self.index.calls(name):
                self._call(function, owner, site)
        if owner is not None and function.name in _RECEIVES:
            for site, classes in self._called_objects:
                if any(method(each, function.name) is function for each in classes):
                    self._add(site.function, site.call, Runs(function, site.call, True))

    def _call(self, function: Function, owner: Class | None, site: Site) -> None:
        """Whether the call runs the function, by its name."""
        target = resolve(site.function, site.call.func)
        if target is function:
            self._add(site.function, site.call, Runs(function, site.call, owner is not None))
        elif isinstance(target, Class):
            if owner is not None and function.name in _MAKES and method(target, function.name) is function:
                self._add(site.function, site.call, Runs(function, site.call, True))
        elif target is None and owner is not None and isinstance(site.call.func, ast.Attribute):
            self._method(function, owner, site, site.call.func)

    def _method(self, function: Function, owner: Class, site: Site, func: ast.Attribute) -> None:
        if _is_super(func.value):
            mine = enclosing_class(site.function)
            above = (method(each, function.name) for each in (lineage(mine)[1:] if mine is not None else []))
            if next((m for m in above if m is not None), None) is function:
                self._add(site.function, site.call, Runs(function, site.call, True))
            return
        classes = self.classes(func.value, site.function)
        if any(method(each, function.name) is function for each in classes):
            self._add(site.function, site.call, Runs(function, site.call, True))
        elif not classes:
            if not objects_of(self.program).externals(func.value, Frame(site.function)):
                self._add(site.function, site.call, Opaque(site.call))
        elif any(each in lineage(owner) for each in classes):
            # A class that derives from the object's may be what is really there.
            self._add(site.function, site.call, Opaque(site.call))

    def classes(self, e: ast.expr, function: Function) -> list[Class]:
        if isinstance(e, ast.Name) and e.id in ("self", "cls"):
            own = enclosing_class(function)
            return [own] if own is not None else []
        try:
            return objects_of(self.program).classes(e, Frame(function))
        except RecursionError:
            return []

    def _heirs(self, owner: Class) -> list[str]:
        return [cls.name for cls in self._derived.get(owner.name, ()) if owner in lineage(cls)]

    @cached_property
    def _derived(self) -> dict[str, list[Class]]:
        """Name of a base -> the classes that name it, or something derived from it, as a base."""
        direct: dict[str, list[Class]] = {}
        for module in self.index.modules:
            for node in module.classes.values():
                for base in node.bases:
                    name = str(getattr(base, "attr", "") or getattr(base, "id", ""))
                    direct.setdefault(name, []).append(Class(module, node))
        found: dict[str, list[Class]] = {}
        for name in direct:
            queue = list(direct[name])
            seen: dict[Class, None] = {}
            while queue and len(seen) < 200:
                cls = queue.pop()
                if cls not in seen:
                    seen[cls] = None
                    queue.extend(direct.get(cls.name, ()))
            found[name] = list(seen)
        return found

    @cached_property
    def _reads(self) -> dict[str, list[tuple[Function, ast.Attribute]]]:
        """Reads of what a class of the program calls a property, by name."""
        names = {f.name for module in self.index.modules for f in module.functions if is_property(f)}
        found: dict[str, list[tuple[Function, ast.Attribute]]] = {}
        for module in self.index.modules:
            for function in module.functions:
                for node in own_nodes(function):
                    if isinstance(node, ast.Attribute) and node.attr in names:
                        found.setdefault(node.attr, []).append((function, node))
        return found

    @cached_property
    def _with_items(self) -> list[tuple[Function, ast.With | ast.AsyncWith, ast.expr]]:
        functions = [function for module in self.index.modules for function in module.functions]
        return [
            (function, node, item.context_expr)
            for function in functions
            for node in own_nodes(function)
            if isinstance(node, (ast.With, ast.AsyncWith))
            for item in node.items
        ]

    @cached_property
    def _called_objects(self) -> list[tuple[Site, list[Class]]]:
        sites = self.index.calls_of_variables[:_MOST_CALLED_VARIABLES]
        return [(site, self.classes(site.call.func, site.function)) for site in sites if _may_be_object(site)]


@kept
def effects_of(program: Program) -> Effects:
    return Effects(program)


@kept
def messages_of(program: Program) -> Effects:
    """The same of sends and receives."""
    return Effects(program, messages=True)


def _may_be_object(site: Site) -> bool:
    """`self.model(x)`, and not `self.run(x)`, a method that the class has."""
    func = site.call.func
    if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id == "self":
        own = enclosing_class(site.function)
        return own is None or method(own, func.attr) is None
    return True


def _is_super(e: ast.expr) -> bool:
    return isinstance(e, ast.Call) and isinstance(e.func, ast.Name) and e.func.id == "super"
