"""Same root: each rank names the owner by what it knows itself; the first rank's answer is everybody's now."""

from __future__ import annotations

import ast

from rankandfile.source.remedies.code import Module
from rankandfile.source.remedies.edit import Edits
from rankandfile.source.remedies.pattern import Draft, Pattern
from rankandfile.source.remedies.place_to_mend import PlaceToMend
from rankandfile.source.remedies.spelling import Spelling
from rankandfile.source.remedies.words import quoted

_ROOTED = {
    "broadcast": "src",
    "scatter": "src",
    "broadcast_object_list": "src",
    "reduce": "dst",
    "gather": "dst",
}


def make(place: PlaceToMend, plain: bool) -> Draft | None:
    for site, module in place.called():
        for call in ast.walk(module.tree):
            if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)):
                continue
            if not call.lineno <= site.line <= (call.end_lineno or call.lineno):
                continue
            named = {k.arg: k.value for k in call.keywords}
            root = named.get(_ROOTED.get(call.func.attr, ""))
            if root is None or isinstance(root, ast.Constant):
                continue
            say = Spelling(Edits(module), plain)
            group = module.source(named["group"]) if "group" in named else ""
            made = _made(place, module, root, group)
            if made is not None:
                # Asked for more than once: the collective and all that goes by the answer must hold the same one.
                say = Spelling(Edits(place.module), plain)
                module, root = place.module, made
            say.edits.expression(root, say.of_rank_zero(module.source(root), group))
            return Draft(
                say.edits,
                "Let the first rank name the root",
                f"{quoted(module, root)} is not the same on every rank: one sends where nobody listens, or "
                "all wait for somebody else. The first rank's answer now counts for all.",
                "If the owner depends on what all ranks know (the best score, the most free memory), "
                "gather that first, and choose from it on every rank.",
            )
    return None


def _made(place: PlaceToMend, module: Module, root: ast.expr, group: str) -> ast.expr | None:
    """What the root is given its value by, at the line that was named, where more than this one call uses it."""
    if not isinstance(root, ast.Name) or place.function is None:
        return None
    around = place.function.node
    if group and (module is not place.module or not around.lineno <= root.lineno <= (around.end_lineno or 0)):
        # What the group is called there, nobody knows here.
        return None
    for node in ast.walk(place.function.node):
        if isinstance(node, ast.Assign) and node.lineno == place.problem.line and len(node.targets) == 1:
            target = node.targets[0]
            uses = [
                n
                for n in ast.walk(place.function.node)
                if isinstance(n, ast.Name)
                and isinstance(n.ctx, ast.Load)
                and n.id == getattr(target, "id", "")
            ]
            if isinstance(target, ast.Name) and len(uses) > 1:
                return node.value
    return None


ORDER = 110
PATTERN = Pattern("same_root", frozenset({"root_mismatch"}), make, meets=True)
