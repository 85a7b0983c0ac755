"""How the framework that a place is written for lets all ranks agree, or one go first: a patch speaks its language."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence

from .place_to_mend import PlaceToMend
from .spelling import Spelling

_LIGHTNING = re.compile(r"^(lightning|pytorch_lightning|lightning_fabric)\b")
_ACCELERATE = re.compile(r"^accelerate\b")
_OF_ACCELERATE = ("Accelerator", "PartialState")
_OF_TRAINERS = ("TrainingArguments", "Seq2SeqTrainingArguments")


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
    known = _known(place.module.tree, scopes, ("Accelerator",)) if _imports(place, _ACCELERATE) else set()
    accelerator = _accelerator(function, arguments, known)
    if accelerator and _imports(place, _ACCELERATE):
        vote = f"{say.torch()}.tensor(float(bool({expression})), device={accelerator}.device)"
        enough = "> 0" if how == "any" else f"== {accelerator}.num_processes"
        return f'{accelerator}.reduce({vote}, reduction="sum").item() {enough}'
    return ""


def goes_first(place: PlaceToMend, local: bool) -> str:
    """The block in which the main process goes before all others, or that of each node before those of the node."""
    scopes = list(place.module.enclosing(place.statement()))
    function = next((one for one in scopes if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)), None)
    around = list(ast.walk(function or place.module.tree))
    spoken = {ast.unparse(one) for one in around if isinstance(one, ast.Name | ast.Attribute)}
    spoken |= {one.arg for one in around if isinstance(one, ast.arg)}
    if state := sorted(spoken & _known(place.module.tree, scopes, _OF_ACCELERATE)):
        return f"{state[0]}.{'local_' if local else ''}main_process_first()"
    if arguments := sorted(spoken & _known(place.module.tree, scopes, _OF_TRAINERS)):
        return f"{arguments[0]}.main_process_first(local={local})"
    return ""


def _imports(place: PlaceToMend, framework: re.Pattern[str]) -> bool:
    for node in place.module.nodes:
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module or ""]
        if any(framework.match(name) for name in names):
            return True
    return False


def _is_module(owner: ast.ClassDef | None) -> bool:
    bases = owner.bases if owner is not None else []
    return any(ast.unparse(base).endswith("LightningModule") for base in bases)


def _accelerator(
    function: ast.FunctionDef | ast.AsyncFunctionDef, arguments: set[str], known: set[str]
) -> str:
    """As the function itself speaks of it: what is known to be one; else what is handed in, or used, by the name
    that the examples give it."""
    spoken = {ast.unparse(one.value) for one in ast.walk(function) if isinstance(one, ast.Attribute)}
    found = sorted(known & spoken)
    return (
        found[0]
        if found
        else next((name for name in ("accelerator", "self.accelerator") if name in spoken | arguments), "")
    )


def _known(tree: ast.Module, scopes: Sequence[ast.AST], types: Sequence[str]) -> set[str]:
    """What is of such a type by what it is given or annotated with, as the innermost of the scopes has it."""
    found = {one for one in _made(_top_level(tree), types) if "." not in one}
    for scope in reversed(scopes):
        if isinstance(scope, ast.ClassDef):
            found |= {one for one in _made(ast.walk(scope), types) if "." in one}
        elif isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef):
            found = (found - _bound(scope)) | _made(ast.walk(scope), types)
    return found


def _top_level(tree: ast.Module) -> Iterator[ast.AST]:
    """The module's own statements, without those of its functions and classes."""
    left: list[ast.AST] = list(tree.body)
    while left:
        node = left.pop()
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node
            left += ast.iter_child_nodes(node)


def _made(nodes: Iterable[ast.AST], types: Sequence[str]) -> set[str]:
    """Names and attributes that are given an object of such a type."""
    found: set[str] = set()
    for node in nodes:
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Call)
            and _is_type(node.value.func, types)
        ):
            found |= {ast.unparse(target) for target in node.targets}
        elif isinstance(node, ast.AnnAssign) and _is_type(node.annotation, types):
            found.add(ast.unparse(node.target))
        elif isinstance(node, ast.arg) and node.annotation is not None and _is_type(node.annotation, types):
            found.add(node.arg)
    return found


def _is_type(node: ast.expr, types: Sequence[str]) -> bool:
    name = node.value if isinstance(node, ast.Constant) else ast.unparse(node)
    return str(name).rpartition(".")[2] in types


def _bound(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """Names of the function's own."""
    stored = {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return stored | {one.arg for one in ast.walk(function.args) if isinstance(one, ast.arg)}
