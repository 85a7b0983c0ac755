"""The sources of a problem, parsed when they are needed: modules, what their names mean, and places in them."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator
from functools import cached_property
from typing import TypeAlias

from msgspec import Struct, field

from rankandfile.source.program.modules import Files, Program
from rankandfile.source.program.walking import children, walk

from .indentation import lines_in_strings

FunctionNode: TypeAlias = "ast.FunctionDef | ast.AsyncFunctionDef"

#: Modules that one look may parse; a decision and its collective are never so many imports apart.
_MAX_MODULES = 40
_MAX_BESIDE = 20


class Definition(Struct, frozen=True, dict=True):
    """A function, and the class that it is a method of."""

    module: Module
    node: FunctionNode
    owner: ast.ClassDef | None

    def decorators(self) -> set[str]:
        names = (d.func if isinstance(d, ast.Call) else d for d in self.node.decorator_list)
        return {
            n.attr if isinstance(n, ast.Attribute) else n.id
            for n in names
            if isinstance(n, (ast.Attribute, ast.Name))
        }

    @property
    def is_property(self) -> bool:
        return bool(self.decorators() & {"property", "cached_property"})

    @property
    def only_answer(self) -> ast.expr | None:
        """What a function returns that does nothing else."""
        body = [
            s for s in self.node.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))
        ]
        return body[0].value if len(body) == 1 and isinstance(body[0], ast.Return) else None

    @cached_property
    def containers(self) -> set[str]:
        """Its names that are given lists, sets and dictionaries of Python's own, and nothing else."""
        given: dict[str, bool] = {}
        for node in walk(self.node):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                made = self.module.parents.get(node)
                own = isinstance(made, ast.Assign) and made.targets == [node] and _is_container(made.value)
                given[node.id] = own and given.get(node.id, True)
        return {name for name, own in given.items() if own}


class Module(Struct, frozen=True, eq=False, dict=True, weakref=True):
    path: str
    text: str
    tree: ast.Module

    @cached_property
    def lines(self) -> list[str]:
        """As the parser counts them: a form feed or a separator inside a line does not end it."""
        return self.text.split("\n")

    @cached_property
    def starts(self) -> list[int]:
        """The place in the text at which each line begins."""
        found = [0]
        for line in self.lines:
            found.append(found[-1] + len(line) + 1)
        return found

    @cached_property
    def in_strings(self) -> set[int]:
        """Lines, from 0, that begin within a string."""
        return lines_in_strings(self.tree)

    @cached_property
    def nodes(self) -> list[ast.AST]:
        return walk(self.tree)

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        return {child: node for node in self.nodes for child in children(node)}

    @cached_property
    def _index(self) -> _Index:
        return _Index.of(self)

    @property
    def functions(self) -> list[Definition]:
        return self._index.functions

    @property
    def by_name(self) -> dict[str, list[Definition]]:
        return self._index.by_name

    @property
    def classes(self) -> dict[str, ast.ClassDef]:
        return self._index.classes

    @property
    def imports(self) -> dict[str, str]:
        """Local name -> dotted name, of everything that the module imports."""
        return self._index.imports

    @cached_property
    def names(self) -> set[str]:
        """Every name that the module binds or uses, so that a new one does not clash."""
        named = {n.id for n in self.nodes if isinstance(n, ast.Name)}
        return named | set(self.imports) | set(self.classes) | {f.node.name for f in self.functions}

    def kept(self, attribute: str) -> list[ast.expr]:
        """What the module's classes assign to this attribute of themselves."""
        return self._index.kept.get(attribute, [])

    def enclosing(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes around this one, from the inside out."""
        while node in self.parents:
            node = self.parents[node]
            yield node

    def function_of(self, node: ast.AST) -> Definition | None:
        for outer in self.enclosing(node):
            if isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef)):
                parent = self.parents[outer]
                return Definition(self, outer, parent if isinstance(parent, ast.ClassDef) else None)
        return None

    def source(self, node: ast.AST) -> str:
        """The code of an expression as written."""
        return ast.get_source_segment(self.text, node) or ast.unparse(node)

    def lines_of(self, node: ast.stmt) -> str:
        """The code of a statement as if it stood at the left margin."""
        lines = self.lines[node.lineno - 1 : node.end_lineno]
        return textwrap.dedent("\n".join(lines)) + "\n"

    def column(self, line: int, offset: int) -> int:
        """The column in characters of an offset in bytes, as `ast` counts."""
        text = self.lines[line - 1] if line <= len(self.lines) else ""
        return len(text.encode()[:offset].decode(errors="replace"))


class _Index(Struct, eq=False):
    """What one walk over a module finds: a look may come by dozens of modules."""

    functions: list[Definition] = field(default_factory=list)
    by_name: dict[str, list[Definition]] = field(default_factory=dict)
    classes: dict[str, ast.ClassDef] = field(default_factory=dict)
    imports: dict[str, str] = field(default_factory=dict)
    kept: dict[str, list[ast.expr]] = field(default_factory=dict)

    @classmethod
    def of(cls, module: Module) -> _Index:
        index = cls()
        owners: dict[ast.AST, ast.ClassDef] = {}
        for node in module.nodes:
            if isinstance(node, ast.ClassDef):
                index.classes[node.name] = node
                owners.update(dict.fromkeys(node.body, node))
            elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                definition = Definition(module, node, owners.get(node))
                index.functions.append(definition)
                index.by_name.setdefault(node.name, []).append(definition)
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    first = alias.name.split(".")[0]
                    index.imports[alias.asname or first] = alias.name if alias.asname else first
            elif isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    dotted = ".".join(filter(None, (node.module or "", alias.name)))
                    index.imports[alias.asname or alias.name] = dotted
            elif isinstance(node, ast.Assign):
                index._keep(node)
        return index

    def _keep(self, node: ast.Assign) -> None:
        for target in node.targets:
            for place, value in _pairs(target, node.value):
                if isinstance(place, ast.Attribute):
                    self.kept.setdefault(place.attr, []).append(value)


def _is_container(e: ast.expr) -> bool:
    called = getattr(e.func, "id", "") if isinstance(e, ast.Call) else ""
    shown = (ast.List, ast.Set, ast.Dict, ast.ListComp, ast.SetComp, ast.DictComp)
    return isinstance(e, shown) or called in ("set", "list", "dict")


def _pairs(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    """Which target gets which value; all of them get what a call returns, where that cannot be told apart."""
    if not isinstance(target, ast.Tuple):
        return [(target, value)]
    if isinstance(value, ast.Tuple):
        return list(zip(target.elts, value.elts, strict=False))
    return [(one, value) for one in target.elts]


class Code(Struct, eq=False, dict=True, weakref=True):
    """The modules of a source tree, as far as they have been asked for."""

    files: Files
    _modules: dict[str, Module | None] = field(default_factory=dict)
    _imported: dict[str, Module | None] = field(default_factory=dict)
    _around: dict[str, list[Module]] = field(default_factory=dict)

    @cached_property
    def program(self) -> Program:
        return Program(self.files)

    @cached_property
    def _paths(self) -> dict[str, list[str]]:
        """Paths by their last part, for resolving imports and frames."""
        found: dict[str, list[str]] = {}
        for path in self.files.paths():
            found.setdefault(path.rsplit("/", 1)[-1], []).append(path)
        return found

    def module(self, path: str) -> Module | None:
        if path not in self._modules:
            self._modules[path] = self._parse(path)
        return self._modules[path]

    def _parse(self, path: str) -> Module | None:
        if sum(m is not None for m in self._modules.values()) >= _MAX_MODULES:
            return None
        found = self.program.module(path)
        return None if found is None else Module(path, found.text, found.tree)

    def find(self, path: str) -> str | None:
        """The file of the tree that a path from elsewhere means: the longest common ending, if there is one such."""
        parts = path.replace("\\", "/").split("/")
        best: list[str] = []
        longest = 0
        for candidate in self._paths.get(parts[-1], []):
            theirs = candidate.split("/")
            same = 0
            while same < min(len(parts), len(theirs)) and parts[-1 - same] == theirs[-1 - same]:
                same += 1
            if same > longest:
                best, longest = [candidate], same
            elif same == longest:
                best.append(candidate)
        return best[0] if len(best) == 1 else None

    def imported(self, dotted: str) -> Module | None:
        """The module of the tree with this dotted name."""
        if dotted not in self._imported:
            self._imported[dotted] = self._import(dotted)
        return self._imported[dotted]

    def _import(self, dotted: str) -> Module | None:
        last = dotted.rpartition(".")[2]
        for ending in (".py", "/__init__.py"):
            path = self.find(dotted.replace(".", "/") + ending)
            if path and f"/{path}".endswith(f"/{last}{ending}"):
                module = self.module(path)
                if module is not None:
                    return module
        return None

    def around(self, module: Module) -> list[Module]:
        """The module, those that it imports, directly or not, and those beside it, which may import it."""
        if module.path in self._around:
            return self._around[module.path]
        folder = module.path.rpartition("/")[0]
        beside = [path for path in self.files.paths() if path.rpartition("/")[0] == folder][:_MAX_BESIDE]
        found, queue = [module], [module, *filter(None, map(self.module, beside))]
        while queue and len(found) < _MAX_MODULES:
            current = queue.pop(0)
            if current not in found:
                found.append(current)
            for dotted in current.imports.values():
                for name in (dotted, dotted.rpartition(".")[0]):
                    other = self.imported(name) if name else None
                    if other is not None and other not in found and other not in queue:
                        queue.append(other)
        self._around[module.path] = found
        return found

    def named(self, module: Module, name: str) -> list[Definition]:
        """The functions of that name in the module and in those around it."""
        return [definition for near in self.around(module) for definition in near.by_name.get(name, ())]
