"""What the program itself says that something is an object of: an annotation, read where nothing else tells."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rankandfile.source.dependence.frame import Frame, Instance
from rankandfile.source.dependence.syntax import Path, dotted
from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import Class, External, resolve
from rankandfile.source.registry.tables import canonical

_NO_CLASS = ("builtins.", "typing.", "collections.abc.")
_SAME = {"Optional", "Union", "Annotated", "Final", "ClassVar"}
"""What stands around the type of one thing, and not of what it holds."""
_CALLED = {"Callable", "type", "Type"}
"""What is no object of the types that it names, and holds none."""


def annotated_as(e: ast.expr | None, function: Function, frame: Frame, path: Path = ()) -> Iterator[Instance]:
    """The classes that an annotation in the function names, of what lies on the path: `list[Stage]` holds stages."""
    if isinstance(e, ast.Constant) and isinstance(e.value, str):
        try:
            e = ast.parse(e.value, mode="eval").body
        except (SyntaxError, ValueError):
            return
    if isinstance(e, ast.BinOp):
        for part in (e.left, e.right):
            yield from annotated_as(part, function, frame, path)
    elif isinstance(e, ast.Subscript):
        name = (dotted(e.value) or "").rpartition(".")[2]
        inner = e.slice.elts if isinstance(e.slice, ast.Tuple) else [e.slice]
        if name in _SAME:
            for part in inner[:1] if name == "Annotated" else inner:
                yield from annotated_as(part, function, frame, path)
        elif path and name not in _CALLED:
            # Of a table the last of its types is that of what stands under a key.
            yield from annotated_as(inner[-1], function, frame, path[1:])
        elif not path:
            yield from annotated_as(e.value, function, frame)
    elif isinstance(e, (ast.Name, ast.Attribute)) and not path:
        target = resolve(function, e)
        if isinstance(target, Class):
            yield Instance(target, None, frame)
        elif isinstance(target, External) and not target.dotted.startswith(_NO_CLASS):
            yield Instance(canonical(target.dotted), None, frame)
