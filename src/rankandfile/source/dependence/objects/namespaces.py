"""Objects that are made to have anything put into them: `state = SimpleNamespace(epoch=0)`, `state.loss = loss`.

In: an attribute of such an object. Out: its value, by what it was made with and by whatever is stored in that attribute
of any such object.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from rankandfile.source.dependence import control
from rankandfile.source.dependence.frame import Frame
from rankandfile.source.dependence.stores import stored_into
from rankandfile.source.dependence.syntax import Path, argument
from rankandfile.source.dependence.value import Value, join

if TYPE_CHECKING:
    from rankandfile.source.dependence.evaluate import Evaluator

_KINDS = {"types.SimpleNamespace", "argparse.Namespace"}


def of_namespace(ev: Evaluator, e: ast.Attribute, frame: Frame, path: Path) -> Value | None:
    """None where it is no such object, or nothing is ever stored in the attribute."""
    made = [each for each in ev.objects.of(e.value, frame) if each.type in _KINDS]
    if not made:
        return None
    stored = [
        (inside, d)
        for function, d, target in stored_into(ev.index, e.attr)
        for inside in [Frame(function, None, frame.depth + 1)]
        if _KINDS & set(ev.objects.externals(target, inside))
    ]
    given = [(argument(each.made, e.attr), each.frame) for each in made if isinstance(each.made, ast.Call)]
    first = [ev.value(value, outer, path) for value, outer in given if value is not None]
    if (not stored and len(first) < len(made)) or Frame(frame.function, None, frame.depth + 1).too_deep:
        return None
    return join([*first, control.stored_anywhere(ev, stored, path, before=bool(first))])
