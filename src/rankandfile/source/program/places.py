"""From a frame, as a process saw it, to the file in the tree: by path, by function, by line.

The paths of a run are those of a container, of an installation, of a colleague's machine. What stays is how they end.
A file whose path ends like the frame's is the one; where several do, the function and the line decide, or nobody.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cached_property

from msgspec import Struct
from msgspec.structs import replace

from rankandfile.model.known.frameworks import framework_of
from rankandfile.source.files.paths import ends_alike, path_parts
from rankandfile.source.files.tree import SourceTree
from rankandfile.source.lines.call_paths import Frame

from .modules import Function, Module, Program
from .names import External, resolve
from .scopes import own_nodes

_INSTALLED = {"site-packages", "dist-packages"}
_NAMELESS = ("<lambda>", "<module>", "<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")


class SourcePlace(Struct, frozen=True, dict=True):
    """Where a frame's code stands in the tree."""

    path: str
    module: Module
    function: Function
    line: int
    doubt: str | None = None
    """What shows that this is not the source that ran; None: nothing does."""

    @cached_property
    def known(self) -> bool:
        return self.doubt is None

    def at(self, line: int) -> str:
        """A line of its file, as people say it: `train.py:12`."""
        return f"{self.path.rsplit('/', 1)[-1]}:{line}"


def place_in(function: Function, line: int) -> SourcePlace:
    """A line of the tree itself, which no frame led to."""
    return SourcePlace(function.module.path, function.module, function, line)


class SourcePlaces:
    def __init__(self, tree: SourceTree, program: Program) -> None:
        self.tree = tree
        self.program = program
        self._found: dict[Frame, SourcePlace | None] = {}
        self.doubts: dict[str, str] = dict(tree.doubts)
        """Files whose source does not match what ran, and what shows it."""
        self.ambiguous: dict[str, list[str]] = {}
        """Files of the run that several files of the tree could be."""
        self._owners: dict[str, set[str]] = {}
        """File of the tree -> those of the run that it is, by all their lines."""
        self._folders: set[tuple[str, ...]] = set()
        """Of the run, that have a file of the tree."""
        self._misfits: dict[str, str] = {}
        """File of the run -> that of the tree which it would be by its name, and is not by a line."""

    def find(self, frame: Frame) -> SourcePlace | None:
        """None if the tree does not have the file, or has several that could be it, or it is a framework's."""
        if frame not in self._found:
            self._found[frame] = self._find(frame)
        place = self._found[frame]
        if place is not None and place.doubt is None and place.path in self.doubts:
            # Where one line of a file is not what ran, the others may have moved just as well.
            return replace(place, doubt=self.doubts[place.path])
        return place

    def compare(self, called: Mapping[Frame, set[Frame]]) -> None:
        """Hold what frames were seen to call against what stands on their lines."""
        for frame in called:
            self.find(frame)
        self._tell_apart()
        for frame, inner in called.items():
            place, names = self.find(frame), {each.function for each in inner}
            for name in sorted(names) if place is not None and place.doubt is None else ():
                if place is not None and (doubt := _elsewhere(place, name)) is not None:
                    self.doubts.setdefault(place.path, doubt)

    def _tell_apart(self) -> None:
        """Let go of the doubts that files of libraries have raised, which have the names of the program's."""
        strangers = {file for file, path in self._misfits.items() if self._is_another(file, path)}
        for path in {self._misfits[file] for file in strangers}:
            if all(file in strangers for file, of in self._misfits.items() if of == path):
                self.doubts.pop(path, None)
        self._found.update((frame, None) for frame in self._found if frame.file in strangers)

    def _is_another(self, file: str, path: str) -> bool:
        """Another file of the run is this one of the tree, and nothing in this one's folder is in the tree."""
        return bool(self._owners.get(path, set()) - {file}) and _folder(file) not in self._folders

    def _find(self, frame: Frame) -> SourcePlace | None:
        parts = path_parts(frame.file)
        # A framework's own branches are how the program got there, and no lines that a person would change.
        if not parts or framework_of(frame.file) is not None:
            return None
        same = self.tree.identified.get(frame.file)
        known = self.program.module(same) if same is not None else None
        if same is not None and known is not None:
            return verified(same, known, frame)
        named = self.tree.named(parts[-1])
        scored = sorted(
            ((ends_alike(self.tree.whole(path), path, parts), path) for path in named), reverse=True
        )
        sure: list[SourcePlace] = []
        doubtful: list[SourcePlace] = []
        best: tuple[bool, int] | None = None
        for (complete, common), path in scored:
            if best is not None and (complete, common) < best:
                break
            module = self.program.module(path)
            if module is None:
                continue
            if not complete and common < 2 and frame.function in _NAMELESS:
                continue
            place = verified(path, module, frame)
            if place.doubt is None:
                sure.append(place)
                best = (complete, common)
            elif complete:
                doubtful.append(place)
        if len(sure) > 1:
            self.ambiguous[frame.file] = [place.path for place in sure]
            return None
        if sure:
            self._owners.setdefault(sure[0].path, set()).add(frame.file)
            self._folders.add(_folder(frame.file))
            return sure[0]
        if len(doubtful) == 1 and not _INSTALLED & set(parts):
            if self._is_another(frame.file, doubtful[0].path):
                return None
            self.doubts.setdefault(doubtful[0].path, doubtful[0].doubt or "")
            self._misfits[frame.file] = doubtful[0].path
            return doubtful[0]
        return None


def _folder(file: str) -> tuple[str, ...]:
    return tuple(path_parts(file)[:-1])


def verified(path: str, module: Module, frame: Frame) -> SourcePlace:
    """The frame's function in the module, if its line makes sense there; else with what does not."""
    function = module.function_at(frame.line) or module.functions[0]
    return SourcePlace(path, module, function, frame.line, _doubt(module, function, frame))


def _doubt(module: Module, function: Function, frame: Frame) -> str | None:
    line = frame.line
    if not 1 <= line <= len(module.lines):
        return f"it has {len(module.lines)} lines, and line {line} ran"
    if frame.function and frame.function not in _NAMELESS and not _spans(module, frame):
        homes = [f for f in module.functions if f.name == frame.function]
        where = f"{frame.function} is at lines {homes[0].first_line}-{homes[0].last_line}" if homes else ""
        return f"line {line} is not in {frame.function}" + (
            f": {where}" if where else ", which it does not have"
        )
    text = module.line_at(line)
    if not text or text.startswith("#"):
        return f"line {line} is {'a comment' if text else 'empty'}"
    if frame.function != "<module>" and not _runs(function, line):
        return f"nothing on line {line} runs: `{text[:80]}`"
    return None


def _spans(module: Module, frame: Frame) -> bool:
    """Whether a function of that name spans the line. A class body and a wrapped function keep their own names."""
    named = (f for f in module.functions if frame.function in (f.name, f.qualname))
    if any(f.first_line <= frame.line <= f.last_line for f in named):
        return True
    owner = module.classes.get(frame.function)
    return owner is not None and owner.lineno <= frame.line <= (owner.end_lineno or owner.lineno)


def _runs(function: Function, line: int) -> bool:
    """Whether an expression stands there that can call something: no docstring, no `else:`, no bare name."""
    for node in function.nodes:
        first = getattr(node, "lineno", None)
        if first is None or not first <= line <= (getattr(node, "end_lineno", None) or first):
            continue
        if isinstance(node, _RUNNING) or (
            isinstance(node, (ast.Tuple, ast.List)) and isinstance(node.ctx, ast.Store)
        ):
            return True
    # Decorators are called on their own lines.
    return any(
        decorator.lineno <= line <= (decorator.end_lineno or decorator.lineno)
        for node in function.nodes
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
        for decorator in node.decorator_list
    )


#: What Python can be at when something else is running on its behalf: calls, and all that calls behind the scenes.
_RUNNING = (
    ast.Call,
    ast.Attribute,
    ast.Subscript,
    ast.BinOp,
    ast.Compare,
    ast.UnaryOp,
    ast.For,
    ast.AsyncFor,
    ast.With,
    ast.AsyncWith,
    ast.comprehension,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
    ast.Await,
    ast.Yield,
    ast.YieldFrom,
    ast.AugAssign,
    ast.Raise,
    ast.Assert,
    ast.Import,
    ast.ImportFrom,
    ast.FormattedValue,
    ast.Delete,
    ast.While,
    ast.If,
    ast.Starred,
    ast.BoolOp,
    ast.IfExp,
    ast.ClassDef,
    ast.Match,
    ast.ExceptHandler,
)


def _elsewhere(place: SourcePlace, name: str) -> str | None:
    """Every call on the line is of a function that is known, and none of them is that one, which is called elsewhere.

    A variable may hold any function, an object's method may be anybody's, a loop or a `with` runs code that the line
    does not name: then the text proves nothing.
    """
    lines = [
        node.lineno
        for node in place.function.nodes
        if isinstance(node, ast.Call) and _name(node.func) == name
    ]
    running = list(_on_line(place))
    if not lines or not any(isinstance(node, ast.Call) for node in running):
        return None
    if not all(_plainly_other(place, node, name) for node in running):
        return None
    return f"line {place.line} called {name}, which is called on line {lines[0]}"


def _on_line(place: SourcePlace) -> Iterator[ast.AST]:
    """What may run something when the line does."""
    for node in place.function.nodes:
        first = getattr(node, "lineno", None)
        if first is not None and first <= place.line <= (getattr(node, "end_lineno", None) or first):
            outer = isinstance(
                node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.If, ast.While, ast.Try)
            )
            if isinstance(node, _RUNNING) and not outer:
                yield node


def _plainly_other(place: SourcePlace, node: ast.AST, name: str) -> bool:
    """A call of a function of the tree by its own name, which runs nothing but itself; or what only leads to it."""
    if isinstance(node, ast.Attribute):
        return isinstance(resolve(place.function, node), (Function, Module, External))
    target = resolve(place.function, node.func) if isinstance(node, ast.Call) else None
    if not isinstance(target, Function) or isinstance(target.node, (ast.Lambda, ast.Module)):
        return False
    lazy = any(isinstance(part, (ast.Yield, ast.YieldFrom)) for part in own_nodes(target))
    return target.name != name and not target.node.decorator_list and not lazy


def _name(node: ast.AST) -> str | None:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else None


def in_loop(place: SourcePlace) -> bool:
    """Whether a loop of the place's function goes over its line."""
    for node in place.function.nodes:
        last: ast.AST | None = None
        if isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
            last = node.body[-1]
        elif isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            last = node
        if last is not None and node.lineno <= place.line <= (getattr(last, "end_lineno", 0) or 0):  # type: ignore[attr-defined]
            return True
    return False
