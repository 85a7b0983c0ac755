"""Looked up over the whole program: who calls a function, who stores an attribute, what runs by itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from msgspec import Struct

from rankandfile.source.program.kept import kept
from rankandfile.source.program.modules import Function, Module, Program
from rankandfile.source.program.names import Class, External, enclosing_class, method, resolve
from rankandfile.source.program.scopes import own_nodes

from .called_by_name import Callers, calls_by_name
from .syntax import PUTS_IN, ancestors, argument, dotted, set_by_name

MOST_SITES = 12

_STARTS_BY_ITSELF: dict[str, tuple[str, int | str]] = {
    "signal.signal": ("signal", 1),
    "threading.Thread": ("thread", "target"),
    "threading.Timer": ("clock", 1),
    "atexit.register": ("exit", 0),
}
SEEDS = {
    "random.seed": "python",
    "numpy.random.seed": "numpy",
    "torch.manual_seed": "torch",
    "torch.random.manual_seed": "torch",
    "torch.cuda.manual_seed": "torch",
    "torch.cuda.manual_seed_all": "torch",
    "accelerate.utils.set_seed": "all",
    "transformers.set_seed": "all",
    "lightning.seed_everything": "all",
    "lightning.pytorch.seed_everything": "all",
    "pytorch_lightning.seed_everything": "all",
}


class Site(Struct, frozen=True):
    """A call, and the function it stands in."""

    function: Function
    call: ast.Call
    written: ast.expr | None = None
    """What stands there, where that is no call."""

    @property
    def node(self) -> ast.expr:
        return self.written or self.call


class Index:
    """One walk over the files of the program, when something of it is first asked for."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.seen: dict[Function, list[Site]] = {}
        """Calls by a variable, of which stacks show what they called."""
        self._tried: dict[str, bool] = {}

    @property
    def modules(self) -> list[Module]:
        return self.program.modules

    @cached_property
    def _calls(self) -> dict[str, list[Site]]:
        """Calls by the last part of the name of what is called."""
        found: dict[str, list[Site]] = {}
        for module in self.modules:
            for function in module.functions:
                for node in _own_calls(function):
                    name = node.func.attr if isinstance(node.func, ast.Attribute) else None
                    if isinstance(node.func, ast.Name):
                        name = node.func.id
                    found.setdefault(name or "", []).append(Site(function, node))
        by_name = list(self._by_name(lambda name: [site.call for site in found.get(name, [])]))
        for site in by_name:
            assert isinstance(site.call.func, ast.Attribute)
            found.setdefault(site.call.func.attr, []).append(site)
        return found

    def _by_name(self, callers: Callers) -> Iterator[Site]:
        """Calls of what `getattr` gives, once for each method that it may be."""
        for module in self.modules:
            for function in module.functions if "getattr" in module.text else ():
                own = [node for node in own_nodes(function) if isinstance(node, ast.Assign)]
                for node in _own_calls(function):
                    for call in calls_by_name(function, node, own, callers):
                        yield Site(function, call, node)

    @cached_property
    def stores(self) -> dict[str, list[tuple[Function, str]]]:
        """Attribute -> functions that store it into something, or put something into it, with the dotted name."""
        found: dict[str, dict[tuple[Function, str], None]] = {}
        for module in self.modules:
            for function in module.functions:
                for node in own_nodes(function):
                    by_name = set_by_name(node) if isinstance(node, ast.Call) else None
                    if by_name is not None and by_name[1] is not None and dotted(by_name[0]) is not None:
                        stored = f"{dotted(by_name[0])}.{by_name[1]}"
                        found.setdefault(by_name[1], {})[function, stored] = None
                    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
                        node = node.value
                    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                        node = node.func.value if node.func.attr in PUTS_IN else node
                    elif not isinstance(getattr(node, "ctx", None), ast.Store):
                        continue
                    if isinstance(node, ast.Attribute):
                        name = dotted(node)
                        if name is not None:
                            found.setdefault(node.attr, {})[function, name] = None
        return {attribute: list(places) for attribute, places in found.items()}

    def made(self, cls: Class) -> list[Site]:
        """Where objects of the class are made, by its name or by `cls(...)` in one of its own methods."""
        by_name = (s for s in self.calls(cls.name) if resolve(s.function, s.call.func) == cls)
        by_itself = (s for s in self.calls("cls") if enclosing_class(s.function) == cls)
        return [*by_name, *by_itself]

    @cached_property
    def calls_of_variables(self) -> list[Site]:
        """Calls of something that is no function, class or name of a package: perhaps of an object."""
        every = (site for sites in self._calls.values() for site in sites)
        return [
            s
            for s in every
            if isinstance(s.call.func, (ast.Name, ast.Attribute, ast.Subscript)) and _variable(s)
        ]

    def tried(self, function: Function) -> bool:
        """Whether some call of it, by its name, stands in a `try`: what it raises need not end the process."""
        known = self._tried.get(function.name)
        if known is None:
            sites = self.calls(function.name)[:MOST_SITES]
            around = (each for site in sites for each in ancestors(site.function.module, site.node))
            known = any(isinstance(each, ast.Try) and each.handlers for each in around)
            self._tried[function.name] = known
        return known

    def calls(self, name: str) -> list[Site]:
        """Calls by the last part of the name of what is called, also where it was imported under another one."""
        if name == "__getitem__":
            return self.lookups
        found = self._calls.get(name, [])
        renamed = (self._calls.get(other, []) for other in self.renamed.get(name, ()))
        return [*found, *(site for sites in renamed for site in sites)] if name in self.renamed else found

    @cached_property
    def renamed(self) -> dict[str, list[str]]:
        """`import DistributedDataParallel as DDP`: a name -> what else it is called."""
        found: dict[str, dict[str, None]] = {}
        for module in self.modules:
            for function in module.functions if " as " in module.text else ():
                for node in own_nodes(function):
                    for alias in node.names if isinstance(node, (ast.Import, ast.ImportFrom)) else ():
                        last = alias.name.rpartition(".")[2]
                        if alias.asname is not None and alias.asname != last:
                            found.setdefault(last, {})[alias.asname] = None
        return {name: list(others) for name, others in found.items()}

    @cached_property
    def lookups(self) -> list[Site]:
        """`plans[size]`, as the call of `plans.__getitem__` that it is."""
        return [
            Site(function, _lookup(node), node)
            for module in self.modules
            for function in module.functions
            for node in own_nodes(function)
            if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load)
        ]

    @cached_property
    def handed_over(self) -> dict[str, list[tuple[Site, ast.expr]]]:
        """Functions of the program that stand among a call's arguments, by the last part of their names."""
        found: dict[str, list[tuple[Site, ast.expr]]] = {}
        for site in (site for sites in self._calls.values() for site in sites):
            for given in (*site.call.args, *(k.value for k in site.call.keywords)):
                name = given.attr if isinstance(given, ast.Attribute) else getattr(given, "id", "")
                if name in self.defined:
                    found.setdefault(name, []).append((site, given))
        return found

    @cached_property
    def objects_handed_over(self) -> dict[Class, list[tuple[Site, ast.expr]]]:
        """A class -> calls that are given an object of it: `self`, in its own methods, or one that is made there."""
        found: dict[Class, list[tuple[Site, ast.expr]]] = {}
        for site in (site for sites in self._calls.values() for site in sites):
            for given in site.call.args:
                cls: object = None
                if isinstance(given, ast.Name) and given.id == "self":
                    cls = enclosing_class(site.function)
                elif isinstance(given, ast.Call):
                    cls = resolve(site.function, given.func)
                if isinstance(cls, Class):
                    found.setdefault(cls, []).append((site, given))
        return found

    @cached_property
    def handed_on(self) -> frozenset[str]:
        """Last names of what stands anywhere without being called: perhaps functions that somebody else calls."""
        found: set[str] = set()
        for module in self.modules:
            targets = {id(node.func) for node in module.nodes if isinstance(node, ast.Call)}
            for node in module.nodes:
                if isinstance(node, (ast.Name, ast.Attribute)) and id(node) not in targets:
                    found.add(node.id if isinstance(node, ast.Name) else node.attr)
        return frozenset(found)

    @cached_property
    def defined(self) -> frozenset[str]:
        """Names of all functions and methods, and of what stands in the bodies of classes."""
        found = {function.name for module in self.modules for function in module.functions}
        bodies = (cls.body for module in self.modules for cls in module.classes.values())
        for s in (s for body in bodies for s in body):
            targets = s.targets if isinstance(s, ast.Assign) else [getattr(s, "target", None)]
            found |= {target.id for target in targets if isinstance(target, ast.Name)}
        return frozenset(found)

    @cached_property
    def by_themselves(self) -> dict[Function, tuple[str, Site]]:
        """Functions that nobody calls at a place of the program: signal handlers, threads."""
        found: dict[Function, tuple[str, Site]] = {}
        for name, (kind, place) in _STARTS_BY_ITSELF.items():
            for site in self.calls(name.rsplit(".", 1)[-1]):
                target = resolve(site.function, site.call.func)
                if isinstance(target, External) and target.dotted == name:
                    handler = argument(site.call, place)
                    function = None if handler is None else function_of(site.function, handler)
                    if function is not None:
                        found[function] = (kind, site)
        return found

    @cached_property
    def seeds(self) -> list[tuple[str, Site]]:
        """Calls that seed a generator of the process, with the family that they seed."""
        found = []
        for dotted_name, family in SEEDS.items():
            for site in self.calls(dotted_name.rsplit(".", 1)[-1]):
                target = resolve(site.function, site.call.func)
                if isinstance(target, External) and target.dotted == dotted_name:
                    found.append((family, site))
        return found

    @cached_property
    def reduces_gradients_by_itself(self) -> bool:
        """A wrapper somewhere in the program reduces gradients without being asked."""
        words = (
            "DistributedDataParallel",
            "fully_shard",
            "FullyShardedDataParallel",
            "deepspeed",
            "accelerat",
            "lightning",
            "transformers",
        )
        return any(word in module.text for module in self.modules for word in words)


@kept
def index_of(program: Program) -> Index:
    return Index(program)


def _lookup(node: ast.Subscript) -> ast.Call:
    func = ast.copy_location(ast.Attribute(node.value, "__getitem__", ast.Load()), node)
    return ast.copy_location(ast.Call(func, [node.slice], []), node)


def _own_calls(function: Function) -> list[ast.Call]:
    return [node for node in own_nodes(function) if isinstance(node, ast.Call)]


def _variable(site: Site) -> bool:
    """Not `module.name`, and not a method of a literal."""
    func = site.call.func
    if isinstance(func, ast.Attribute) and not isinstance(func.value, (ast.Name, ast.Attribute)):
        return False
    return resolve(site.function, func) is None


def function_of(function: Function, e: ast.expr) -> Function | None:
    """What an expression that stands in the function hands over: `work`, `self.work`."""
    target = function.module.by_node.get(e) or resolve(function, e)
    if isinstance(target, Function):
        return target
    owner = enclosing_class(function)
    if isinstance(e, ast.Attribute) and isinstance(e.value, ast.Name) and owner is not None:
        return method(owner, e.attr) if e.value.id == "self" else None
    return None
