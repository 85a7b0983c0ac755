"""How the framework that a place is written for lets all ranks agree: a patch there speaks its language."""

from __future__ import annotations

import ast
import re

from .place_to_mend import PlaceToMend
from .spelling import Spelling

_LIGHTNING = re.compile(r"^(lightning|pytorch_lightning|lightning_fabric)\b")
_ACCELERATE = re.compile(r"^accelerate\b")


def framework_vote(place: PlaceToMend, say: Spelling, expression: str, how: str) -> str:
    """The decision made by all ranks together, "any" or "all"; empty where the place is of no such framework."""
    scopes = list(place.module.enclosing(place.statement()))
    function = next((one for one in scopes if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)), None)
    owner = next((one for one in scopes if isinstance(one, ast.ClassDef)), None)
    if function is None:
        return ""
    arguments = {one.arg for one in (*function.args.args, *function.args.kwonlyargs)}
    if _imports(place, _LIGHTNING):
        trainer = "trainer" if "trainer" in arguments else "self.trainer" if _is_module(owner) else ""
        if trainer:
            return f"{trainer}.strategy.reduce_boolean_decision(bool({expression}), all={how == 'all'})"
    accelerator = _accelerator(function, arguments)
    if accelerator and _imports(place, _ACCELERATE):
        vote = f"{say.torch()}.tensor(float(bool({expression})), device={accelerator}.device)"
        enough = "> 0" if how == "any" else f"== {accelerator}.num_processes"
        return f'{accelerator}.reduce({vote}, reduction="sum").item() {enough}'
    return ""


def _imports(place: PlaceToMend, framework: re.Pattern[str]) -> bool:
    for node in ast.walk(place.module.tree):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module or ""]
        if any(framework.match(name) for name in names):
            return True
    return False


def _is_module(owner: ast.ClassDef | None) -> bool:
    bases = owner.bases if owner is not None else []
    return any(ast.unparse(base).endswith("LightningModule") for base in bases)


def _accelerator(function: ast.FunctionDef | ast.AsyncFunctionDef, arguments: set[str]) -> str:
    """As the function itself speaks of it: handed in, or used there."""
    spoken = {ast.unparse(one.value) for one in ast.walk(function) if isinstance(one, ast.Attribute)}
    return next((name for name in ("accelerator", "self.accelerator") if name in spoken | arguments), "")
