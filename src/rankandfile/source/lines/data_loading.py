"""Where a data-loading process can be held, when nobody took its stack: the only code of a dataset that can wait."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rankandfile.model.heuristics import heuristic
from rankandfile.source.program.modules import Function, Program
from rankandfile.source.program.names import resolve
from rankandfile.source.program.places import SourcePlace

from .arguments import called_name
from .program_exit import MOST_FILES

_ITEMS = {"__getitem__", "__getitems__", "__iter__", "__next__"}
#: Calls that come back only when something outside of the process lets them.
_WAITING = {
    "open", "read", "readline", "readlines", "recv", "accept", "connect", "urlopen", "acquire", "wait",
    "flock", "lockf", "sleep", "select", "communicate", "check_output",
}  # fmt: skip
_DEEPEST = 2


@heuristic(
    "the only wait of a dataset", "a loader without a stack is held at the only line of a dataset that waits"
)
def only_wait(program: Program) -> SourcePlace | None:
    """The line at which a dataset of the tree waits; None if none does, or several functions do."""
    found: dict[Function, int] = {}
    for path in program.paths[:MOST_FILES]:
        text = program.files.read(path)
        module = program.module(path) if text is not None and "Dataset" in text else None
        for function in module.functions if module is not None else ():
            if function.name in _ITEMS and _is_dataset(function.owner):
                for reached in _reached(function, _DEEPEST):
                    lines = [call.lineno for call in _calls(reached) if called_name(call) in _WAITING]
                    if lines:
                        found[reached] = min(lines)
    if len(found) != 1:
        return None
    function, line = next(iter(found.items()))
    return SourcePlace(function.module.path, function.module, function, line)


def _is_dataset(owner: ast.ClassDef | None) -> bool:
    bases = owner.bases if owner is not None else []
    return any(ast.unparse(base).rsplit(".", 1)[-1].endswith("Dataset") for base in bases)


def _reached(function: Function, depth: int) -> Iterator[Function]:
    yield function
    for call in _calls(function) if depth else ():
        target = _called(function, call)
        if target is not None and target is not function:
            yield from _reached(target, depth - 1)


def _called(function: Function, call: ast.Call) -> Function | None:
    """A function of the tree; a method of the object itself is that of the class."""
    what = call.func
    if isinstance(what, ast.Attribute) and isinstance(what.value, ast.Name) and what.value.id == "self":
        siblings = (f for f in function.module.functions if f.owner is not None and f.owner is function.owner)
        return next((f for f in siblings if f.name == what.attr), None)
    target = resolve(function, what)
    return target if isinstance(target, Function) else None


def _calls(function: Function) -> list[ast.Call]:
    return [node for node in ast.walk(function.node) if isinstance(node, ast.Call)]
