"""The program under analysis: modules parsed when they are asked for, and the functions in them.

Source comes from strangers. Nothing of it runs, and one place decides what is too much: a file that is too long, too
deep or no Python is a module that does not exist.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol, TypeAlias

from msgspec import Struct

from rankandfile.source.files.text import without_comment

from .as_written import keep_numbers
from .kept import kept
from .walking import children, walk

LONGEST_FILE = 4_000_000
MOST_FILES = 20_000
_MOST_AT_ONCE = 1500
MOST_PARSED = 40_000_000
"""Characters of source that one program may parse in all."""

Body: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.Module


class Files(Protocol):
    """Source files by their path relative to a root, with "/" between the parts."""

    def paths(self) -> Iterable[str]: ...

    def read(self, path: str) -> str | None: ...


class Function(Struct, eq=False, weakref=True):
    """A function, a lambda, or the body of a module (`<module>`)."""

    module: Module
    name: str
    qualname: str
    node: Body
    owner: ast.ClassDef | None = None
    """The class whose body it stands in."""
    parent: Function | None = None

    @property
    def nodes(self) -> list[ast.AST]:
        """Its own node first, and all below it."""
        return _nodes(self)

    @property
    def first_line(self) -> int:
        """Of the first decorator, where there is one."""
        if isinstance(self.node, ast.Module):
            return 1
        if isinstance(self.node, ast.Lambda):
            return self.node.lineno
        return min([self.node.lineno, *(decorator.lineno for decorator in self.node.decorator_list)])

    @property
    def last_line(self) -> int:
        if isinstance(self.node, ast.Module):
            return max(len(self.module.lines), 1)
        last: int | None = self.node.end_lineno
        return last or self.first_line

    @property
    def parameters(self) -> list[str]:
        """Names of all parameters, in order."""
        if isinstance(self.node, ast.Module):
            return []
        a = self.node.args
        every = (*a.posonlyargs, *a.args, a.vararg, *a.kwonlyargs, a.kwarg)
        return [arg.arg for arg in every if arg is not None]

    @property
    def defaults(self) -> dict[str, ast.expr]:
        """Of the parameters that have one."""
        return {} if isinstance(self.node, ast.Module) else defaults_of(self.node.args)

    def __repr__(self) -> str:
        return f"<{self.module.path}:{self.first_line} {self.qualname}>"


@kept
def _nodes(function: Function) -> list[ast.AST]:
    return walk(function.node)


def defaults_of(a: ast.arguments) -> dict[str, ast.expr]:
    """`a, b=1, *, c=2` -> the expressions 1 and 2 by the names b and c."""
    plain = [*a.posonlyargs, *a.args]
    by_place = zip(plain[len(plain) - len(a.defaults) :], a.defaults, strict=True)
    by_name = zip(a.kwonlyargs, a.kw_defaults, strict=True)
    return {arg.arg: value for arg, value in (*by_place, *by_name) if value is not None}


@dataclass(eq=False)
class Module:
    """One parsed file."""

    path: str
    text: str
    tree: ast.Module
    program: Program = field(repr=False)

    @cached_property
    def lines(self) -> list[str]:
        return self.text.splitlines()

    def line_at(self, number: int) -> str:
        """As written, less what it is indented by."""
        return self.lines[number - 1].strip()

    def code_at(self, number: int) -> str:
        """The same without a comment behind it."""
        return without_comment(self.line_at(number))

    @cached_property
    def nodes(self) -> list[ast.AST]:
        return walk(self.tree)

    @cached_property
    def functions(self) -> list[Function]:
        """The module body first, then every function and lambda, outer before inner."""
        return list(_functions(self))

    @cached_property
    def by_node(self) -> dict[ast.AST, Function]:
        return {function.node: function for function in self.functions}

    @cached_property
    def classes(self) -> dict[str, ast.ClassDef]:
        """Classes by name, wherever they stand; of two with one name the first."""
        found: dict[str, ast.ClassDef] = {}
        for node in self.nodes:
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name, node)
        return found

    def function_at(self, line: int) -> Function | None:
        """The innermost function that spans the line (the module body, where none does); None beyond the file."""
        if not 1 <= line <= max(len(self.lines), 1):
            return None
        spanning = [f for f in self.functions if f.first_line <= line <= f.last_line]
        named = [f for f in spanning if not isinstance(f.node, ast.Lambda)]
        # Functions that span one line are nested, and outer ones come before inner ones.
        return named[-1] if named else None


class Program:
    """The files of a tree as one program."""

    def __init__(self, files: Files) -> None:
        self.files = files
        self._modules: dict[str, Module | None] = {}
        self._left = MOST_PARSED

    @cached_property
    def paths(self) -> list[str]:
        return [path for path, _ in zip(self.files.paths(), range(MOST_FILES), strict=False)]

    @cached_property
    def modules(self) -> list[Module]:
        """Those that are looked over as a whole: of a large tree the first."""
        return [module for path in self.paths[:_MOST_AT_ONCE] if (module := self.module(path)) is not None]

    @cached_property
    def path_set(self) -> frozenset[str]:
        return frozenset(self.paths)

    def module(self, path: str) -> Module | None:
        """The parsed file; None if there is none, or it cannot be read or parsed."""
        if path not in self._modules:
            self._modules[path] = None
            text = self.files.read(path)
            if text is not None and len(text) <= min(LONGEST_FILE, self._left):
                self._left -= len(text)
                tree = parsed(text)
                self._modules[path] = None if tree is None else Module(path, text, tree, self)
        return self._modules[path]


def parsed(text: str) -> ast.Module | None:
    """The syntax tree, or None: the only place that parses what a stranger wrote."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tree = ast.parse(text)
            keep_numbers(tree, text)
            return tree
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


def _functions(module: Module) -> Iterator[Function]:
    body = Function(module, "<module>", "<module>", module.tree)
    yield body
    # An explicit stack: the nesting of a hostile file must not become ours.
    stack: list[tuple[ast.AST, Function, ast.ClassDef | None, str]] = [(module.tree, body, None, "")]
    while stack:
        node, parent, owner, prefix = stack.pop()
        inner: list[tuple[ast.AST, Function, ast.ClassDef | None, str]] = []
        for child in children(node):
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
                name = "<lambda>" if isinstance(child, ast.Lambda) else child.name
                function = Function(module, name, prefix + name, child, owner, parent)
                yield function
                inner.append((child, function, None, f"{prefix}{name}.<locals>."))
            elif isinstance(child, ast.ClassDef):
                inner.append((child, parent, child, f"{prefix}{child.name}."))
            else:
                inner.append((child, parent, owner, prefix))
        stack.extend(reversed(inner))
