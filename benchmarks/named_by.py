"""The resolvers that `resolvers.py` compares: what a call may call, by ours, by jedi and by astroid."""

from __future__ import annotations

import ast
import importlib
import inspect
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]


class Callee(NamedTuple):
    """A function by its place, or a class by its name: called, or one whose object was."""

    file: str = ""
    line: int = 0
    name: str = ""
    class_name: str = ""


class Ours:
    def __init__(self, root: Path) -> None:
        sys.path.insert(0, str(ROOT / "src"))
        from rankandfile.source.dependence.index import Index
        from rankandfile.source.dependence.objects.of_expressions import Objects
        from rankandfile.source.files.tree import open_tree
        from rankandfile.source.program.modules import Program

        self._root = root
        self._program = Program(open_tree([root]))
        self._objects = Objects(Index(self._program))

    def answers(self, path: Path, call: ast.Call) -> Iterable[Callee]:
        from rankandfile.source.dependence.frame import Frame
        from rankandfile.source.program.names import resolve

        module = self._program.module(path.relative_to(self._root).as_posix())
        function = module.function_at(call.lineno) if module is not None else None
        if module is None or function is None:
            return
        mine = next(
            (n for n in ast.walk(module.tree) if isinstance(n, ast.Call) and place_of(n) == place_of(call)),
            None,
        )
        if mine is None:
            return
        for each in module.functions:  # by columns too, for a lambda
            if not isinstance(each.node, ast.Module) and any(n is mine for n in ast.walk(each.node)):
                function = each
        target = resolve(function, mine.func)
        if target is not None:
            yield from self._of(target)
            return
        frame = Frame(function)
        self._objects.left = 4000
        if isinstance(mine.func, ast.Attribute):
            yield from self._methods(mine.func, frame)
        for found in self._objects.classes(mine.func, frame):
            yield Callee(class_name=found.name)

    def _methods(self, func: ast.Attribute, frame: Any) -> Iterable[Callee]:
        from rankandfile.source.program.names import enclosing_class, lineage, method

        if isinstance(func.value, ast.Call) and getattr(func.value.func, "id", "") == "super":
            own = enclosing_class(frame.function)
            for each in lineage(own)[1:] if own is not None else ():
                found = method(each, func.attr)
                if found is not None:
                    yield from self._of(found)
                    return
        for cls in self._objects.classes(func.value, frame):
            found = method(cls, func.attr)
            if found is not None:
                yield from self._of(found)
        for name in self._objects.externals(func.value, frame):
            yield from _imported(f"{name}.{func.attr}")

    def _of(self, target: Any) -> Iterable[Callee]:
        from rankandfile.source.program.modules import Function
        from rankandfile.source.program.names import Class, External

        if isinstance(target, Function):
            yield Callee(str(self._root / target.module.path), target.first_line, target.name)
        elif isinstance(target, Class):
            yield Callee(class_name=target.name)
        elif isinstance(target, External):
            yield from _imported(target.dotted)


class Jedi:
    def __init__(self, root: Path) -> None:
        import jedi

        self._jedi, self._project = jedi, jedi.Project(str(root), smart_sys_path=True)
        self._scripts: dict[Path, Any] = {}

    def answers(self, path: Path, call: ast.Call) -> Iterable[Callee]:
        if path not in self._scripts:
            self._scripts[path] = self._jedi.Script(path=path, project=self._project)
        func = call.func
        column = func.end_col_offset - 1 if isinstance(func, ast.Attribute) else func.col_offset
        for name in self._scripts[path].infer(func.end_lineno or func.lineno, column):
            if name.type == "function":
                yield Callee(str(name.module_path), name.line or 0, name.name)
            elif name.type in ("class", "instance"):
                yield Callee(class_name=name.name)


class Astroid:
    def __init__(self, root: Path) -> None:
        import astroid

        self._astroid, self._root = astroid, str(root)
        astroid.MANAGER.clear_cache()
        sys.path.insert(0, self._root)
        self._calls: dict[Path, dict[tuple[int, int, int, int], Any]] = {}

    def answers(self, path: Path, call: ast.Call) -> Iterable[Callee]:
        nodes = self._astroid.nodes
        if path not in self._calls:
            tree = self._astroid.MANAGER.ast_from_file(str(path))
            self._calls[path] = {
                (n.lineno, n.col_offset, n.end_lineno, n.end_col_offset): n
                for n in tree.nodes_of_class(nodes.Call)
            }
        node = self._calls[path].get(place_of(call))
        if node is None:
            return
        for found in node.func.infer():
            if found is self._astroid.Uninferable:
                continue
            found = (
                getattr(found, "_proxied", found) if not isinstance(found, self._astroid.Instance) else found
            )
            if isinstance(found, nodes.FunctionDef):
                yield Callee(found.root().file or "", found.fromlineno, found.name)
            elif isinstance(found, (nodes.ClassDef, self._astroid.Instance)):
                yield Callee(class_name=found.name)


def _imported(dotted: str) -> Iterable[Callee]:
    """The function or class that a dotted name of a package means there."""
    parts = dotted.split(".")
    for count in range(len(parts) - 1, 0, -1):
        try:
            value: Any = importlib.import_module(".".join(parts[:count]))
            for part in parts[count:]:
                value = getattr(value, part)
        except Exception:
            continue
        if inspect.isclass(value):
            yield Callee(class_name=value.__name__)
        elif (code := getattr(getattr(value, "__func__", value), "__code__", None)) is not None:
            yield Callee(code.co_filename, code.co_firstlineno, code.co_name)
        return


def place_of(node: Any) -> tuple[int, int, int, int]:
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset
