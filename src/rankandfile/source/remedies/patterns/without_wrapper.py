"""Without the wrapper: one rank runs the model alone, through a wrapper that broadcasts buffers."""

from __future__ import annotations

import ast

from rankandfile.source.program.called import called_name
from rankandfile.source.remedies.code import Definition
from rankandfile.source.remedies.edit import Edits
from rankandfile.source.remedies.patch import Refusal
from rankandfile.source.remedies.pattern import PATHS, Draft, Pattern
from rankandfile.source.remedies.place_to_mend import PlaceToMend
from rankandfile.source.remedies.rank_tests import is_rank_test
from rankandfile.source.remedies.reach import bound_call, called
from rankandfile.source.remedies.words import quoted

_WRAPPERS = {"DistributedDataParallel", "DDP"}


def make(place: PlaceToMend, _plain: bool) -> Draft | Refusal | None:
    node = place.node
    if not isinstance(node, ast.If):
        return None
    if not any(
        is_rank_test(place.code, place.module, p) for p in ast.walk(node.test) if isinstance(p, ast.expr)
    ):
        return None
    for statement in node.body:
        for definition in called(place.code, place.module, statement):
            found = _forward(place, definition)
            if found is not None:
                return _draft(definition, found)
    return None


def _forward(place: PlaceToMend, definition: Definition) -> ast.Call | None:
    """The call of a wrapped model at a site of the divergence, in a function that does not train it."""
    lines = {
        s.line
        for s in place.problem.culprit_sites()
        if s.file and place.code.find(s.file) == definition.module.path
    }
    if not definition.decorators() & {"no_grad", "inference_mode"}:
        return None
    parameters = {a.arg for a in definition.node.args.args}
    for part in ast.walk(definition.node):
        if not (isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and part.lineno in lines):
            continue
        if part.func.id in parameters and _always_wrapped(place, definition, part.func.id):
            return part
    return None


def _always_wrapped(place: PlaceToMend, definition: Definition, parameter: str) -> bool:
    """Every call of the function in the program hands it an attribute that holds a wrapped model."""
    given = [
        (module, argument)
        for module in place.code.around(place.module)
        for argument in bound_call(place.code, module, definition, parameter)
    ]
    return bool(given) and all(
        isinstance(argument, ast.Attribute) and _wrapped(module.tree, argument.attr)
        for module, argument in given
    )


def _wrapped(tree: ast.Module, attribute: str) -> bool:
    values = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        and any(isinstance(t, ast.Attribute) and t.attr == attribute for t in node.targets)
    ]
    return bool(values) and all(isinstance(v, ast.Call) and called_name(v) in _WRAPPERS for v in values)


def _draft(definition: Definition, call: ast.Call) -> Draft:
    edits = Edits(definition.module)
    name = definition.module.source(call.func)
    edits.expression(call.func, f"{name}.module")
    return Draft(
        edits,
        "Run the model without its wrapper",
        f"Only some ranks come to {quoted(definition.module, call)}, and DistributedDataParallel broadcasts "
        "buffers before each forward, which involves all ranks. The model inside does not.",
        "If the result should be that of all ranks' data, run it on every rank instead and reduce the "
        "result.",
    )


ORDER = 90
PATTERN = Pattern("without_wrapper", PATHS, make)
