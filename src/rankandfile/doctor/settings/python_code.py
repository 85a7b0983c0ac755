"""A training script's own settings: what it puts into the environment, its timeouts, how it ends when it fails.

A light look at the syntax tree. Deeper questions are the linter's.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator

from rankandfile.model.ledger import Note
from rankandfile.model.settings import Clause, Place, Setting, Settings, Span, Teardown

from .plain import never_expanded, short

_INIT = {"init_process_group", "InitProcessGroupKwargs", "DDPStrategy", "FSDPStrategy"}
_TEARDOWN = {"destroy_process_group", "abort_process_group", "_abort_process_group"}
_UNITS = {
    "weeks": 604800.0,
    "days": 86400.0,
    "hours": 3600.0,
    "minutes": 60.0,
    "seconds": 1.0,
    "milliseconds": 0.001,
}
_POSITIONS = ("days", "seconds", "microseconds", "milliseconds", "minutes", "hours", "weeks")
_OPERATIONS = {ast.Add: float.__add__, ast.Sub: float.__sub__, ast.Mult: float.__mul__}
_DEEPEST = 16


def read_python(text: str, file: str) -> Settings:
    """The settings of a Python file; one that does not parse gives none, and a note."""
    place = Place(file=file)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        where = f"line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        return Settings(place=place, notes=(Note(file=file, where=where, what="not Python that parses"),))
    nodes = list(ast.walk(tree))
    return Settings(
        place=place,
        settings=tuple(_environment(nodes, file)),
        spans=tuple(_spans(nodes, file)),
        teardowns=tuple(_teardowns(nodes, file)),
    )


def _name(node: ast.AST) -> str:
    """The last part of a dotted name."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _text(node: ast.AST) -> str | None:
    return short(str(node.value)) if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _environment(nodes: list[ast.AST], file: str) -> Iterator[Setting]:
    """``os.environ["NAME"] = "value"`` and ``os.environ.setdefault("NAME", "value")``."""
    for node in nodes:
        pair: tuple[ast.AST, ast.AST] | None = None
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
            target = node.targets[0]
            if _name(target.value) == "environ":
                pair = (target.slice, node.value)
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and len(node.args) == 2
            and node.func.attr in ("setdefault", "putenv")
            and _name(node.func.value) in ("environ", "os")
        ):
            pair = (node.args[0], node.args[1])
        if pair is not None and (name := _text(pair[0])) and (value := _text(pair[1])) is not None:
            line = getattr(node, "lineno", None)
            place = Place(file=file, line=line)
            yield Setting(name=name, value=value, place=place, unexpanded=never_expanded(value))


def _spans(nodes: list[ast.AST], file: str) -> Iterator[Span]:
    for node in nodes:
        if not isinstance(node, ast.Call):
            continue
        name = _name(node.func)
        if name not in _INIT and name != "new_group":
            continue
        given = next((keyword.value for keyword in node.keywords if keyword.arg == "timeout"), None)
        if given is None and len(node.args) > 2 - (name == "new_group"):
            given = node.args[2 - (name == "new_group")]
        yield Span(
            what="new_group" if name == "new_group" else "init_process_group",
            seconds=None if given is None else _seconds(given, 0),
            detail="" if given is None else short(ast.unparse(given), 120),
            place=Place(file=file, line=node.lineno),
        )


def _seconds(node: ast.AST, depth: int) -> float | None:
    """Of ``timedelta(...)`` with numbers in it."""
    if not isinstance(node, ast.Call) or _name(node.func) != "timedelta":
        return None
    parts = [*zip(_POSITIONS, node.args, strict=False), *((k.arg or "", k.value) for k in node.keywords)]
    total = 0.0
    for unit, value in parts:
        number = _number(value, depth)
        if number is None or unit not in _UNITS:
            return None
        total += number * _UNITS[unit]
    return total


def _number(node: ast.AST, depth: int) -> float | None:
    if depth > _DEEPEST:
        return None
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        try:
            return float(node.value)
        except OverflowError:
            return None
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATIONS:
        left, right = _number(node.left, depth + 1), _number(node.right, depth + 1)
        return None if left is None or right is None else _OPERATIONS[type(node.op)](left, right)
    return None


def _teardowns(nodes: list[ast.AST], file: str) -> Iterator[Teardown]:
    for node in nodes:
        if isinstance(node, ast.Try):
            for handler in node.handlers:
                yield from _torn_in(handler.body, "except", file)
            yield from _torn_in(node.finalbody, "finally", file)
        elif isinstance(node, ast.Call) and _name(node.func) == "register" and node.args:
            name = _name(node.args[0])
            if name in _TEARDOWN:
                yield Teardown(call=name, clause="atexit", place=Place(file=file, line=node.lineno))


def _torn_in(body: list[ast.stmt], clause: Clause, file: str) -> Iterator[Teardown]:
    """Teardowns in a clause that writes no dump of its own before."""
    calls = [inside for statement in body for inside in ast.walk(statement) if isinstance(inside, ast.Call)]
    calls.sort(key=lambda call: (call.lineno, call.col_offset))
    for call in calls:
        name = _name(call.func)
        if "dump" in name:
            return
        if name in _TEARDOWN:
            yield Teardown(call=name, clause=clause, place=Place(file=file, line=call.lineno))
