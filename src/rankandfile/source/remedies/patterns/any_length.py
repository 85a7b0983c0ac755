"""Any length: lists that are not equally long on every rank are gathered with their lengths."""

from __future__ import annotations

import ast

from rankandfile.source.remedies.code import Module
from rankandfile.source.remedies.edit import Edits
from rankandfile.source.remedies.pattern import Draft, Pattern
from rankandfile.source.remedies.place_to_mend import PlaceToMend
from rankandfile.source.remedies.spelling import Spelling
from rankandfile.source.remedies.words import quoted

_GATHER = '''
def {name}(tensor, group=None):
    """Every rank's tensor, also where they are not equally long in the first dimension."""
    sizes = [None] * {dist}.get_world_size(group)
    {dist}.all_gather_object(sizes, len(tensor), group=group)
    padded = tensor.new_zeros((max(sizes), *tensor.shape[1:]))
    padded[: len(tensor)] = tensor
    parts = [{torch}.empty_like(padded) for _ in sizes]
    {dist}.all_gather(parts, padded, group=group)
    return [part[:size] for part, size in zip(parts, sizes)]
'''


def make(place: PlaceToMend, plain: bool) -> Draft | None:
    for site, module in place.called():
        for statement in module.nodes:
            if isinstance(statement, ast.Expr) and statement.lineno == site.line:
                draft = _gathered(module, statement, plain)
                if draft is not None:
                    return draft
    return None


def _gathered(module: Module, statement: ast.Expr, plain: bool) -> Draft | None:
    """`parts = [torch.empty_like(mine) for ...]; dist.all_gather(parts, mine)`, and nothing else."""
    call = statement.value
    if not (
        isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "all_gather"
    ):
        return None
    named = {k.arg: k.value for k in call.keywords}
    if len(call.args) != 2 or set(named) - {"group"} or not isinstance(call.args[0], ast.Name):
        return None
    parent = module.parents[statement]
    body = getattr(parent, "body", [])
    at = body.index(statement) if statement in body else 0
    before = body[at - 1] if at else None
    parts, mine = call.args[0].id, module.source(call.args[1])
    if not (isinstance(before, ast.Assign) and isinstance(before.value, ast.ListComp)):
        return None
    if [t.id for t in before.targets if isinstance(t, ast.Name)] != [
        parts
    ] or f"_like({mine})" not in module.source(before.value):
        return None
    say = Spelling(Edits(module), plain)
    gather = say.helper("gather_of_any_length", _GATHER)
    group = f", {module.source(named['group'])}" if "group" in named else ""
    say.edits.replace(before, f"{parts} = {gather}({mine}{group})")
    say.edits.remove(statement)
    return Draft(
        say.edits,
        "Gather with the lengths",
        f"{quoted(module, statement)} needs tensors of one size, and {quoted(module, call.args[1])} is as "
        "long as this rank has something. The ranks now tell their lengths first, and what was padded is "
        "cut off again.",
        "It moves the longest length from everybody; where one is far longer than the others, gather in "
        "pieces.",
    )


ORDER = 120
PATTERN = Pattern("any_length", frozenset({"size_mismatch"}), make, meets=True)
