"""Ways that no rank of a job takes: "there is nobody to agree with" is asked before most collectives.

In: a step that decides. Out: the outcome that every rank of a job of several ranks takes, where the test asks just
that: `dist.is_initialized()`, `world_size > 1`, `RANK != -1`, `args.distributed`. The other branch is that of a single
process. One that sets the job up is no such branch: every rank takes it once.
"""

from __future__ import annotations

import ast
import re

from rankandfile.source.program.kept import kept
from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import External, resolve

from .build import graph_of
from .graph import Node

_READY = re.compile(
    r"torch\.distributed\.(distributed_c10d\.)?is_(initialized|available|torchelastic_launched)$"
)
_SAYS_SO = re.compile(
    r"_?((is|use|using|in|has|enable)_)?(distributed|ddp|dist|multi_?gpu|multi_?process|multi_?node)"
    r"(_(is|and|avail|available|initialized|enabled|mode|run|training|process|world))*$"
)
_SIZE = re.compile(
    r"(get_)?(\w+_)?world_?size|num_processes|num_ranks|nranks|n_ranks|world"
    r"|(tp|dp|pp|cp|ep|sp|mp|(data|tensor|pipeline|context|expert|sequence|model)_parallel)_(world_)?size"
)
_ASKS = ("get", "getenv")
_RANK = re.compile(r"(get_)?(\w+_)?rank", re.IGNORECASE)
_TURNED = {ast.Gt: ast.Lt, ast.Lt: ast.Gt, ast.GtE: ast.LtE, ast.LtE: ast.GtE}
_SIZES = {
    (ast.Gt, 1): True,
    (ast.GtE, 2): True,
    (ast.NotEq, 1): True,
    (ast.Eq, 1): False,
    (ast.LtE, 1): False,
    (ast.Lt, 2): False,
}
_RANKS = {
    (ast.NotEq, -1): True,
    (ast.GtE, 0): True,
    (ast.Gt, -1): True,
    (ast.Eq, -1): False,
    (ast.Lt, 0): False,
    (ast.LtE, -1): False,
}


def taken(node: Node, function: Function) -> str | None:
    """The outcome "true" or "false", if that is the only way for a rank of a job; None where either may be."""
    return None if node.decision is None else _ways(function).get(node)


@kept
def _ways(function: Function) -> dict[Node, str]:
    found = ((node, _way(node, function)) for node in graph_of(function).nodes if node.decision is not None)
    return {node: way for node, way in found if way is not None}


def _way(node: Node, function: Function) -> str | None:
    if node.decision is None or not isinstance(node.what, ast.expr):
        return None
    of_several = asks_for_several(node.what, function)
    if of_several is None:
        return None
    lost = next((to for outcome, to in node.edges if outcome == ("false" if of_several else "true")), None)
    owner = node.decision.owner
    if isinstance(owner, ast.If):
        body = (
            owner.body if lost is node.decision.then else owner.orelse if lost is node.decision.other else []
        )
        if any(_sets_up(statement) for statement in body):
            return None
    return "true" if of_several else "false"


def asks_for_several(test: ast.expr, function: Function) -> bool | None:
    """What a test answers on every rank of a job of several; None for one about anything else."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        answer = asks_for_several(test.operand, function)
        return None if answer is None else not answer
    if isinstance(test, ast.BoolOp):
        answers = [asks_for_several(part, function) for part in test.values]
        ends = isinstance(test.op, ast.Or)
        if ends in answers:
            return ends
        return (not ends) if all(answer is (not ends) for answer in answers) else None
    if isinstance(test, ast.Compare):
        return _compared(test)
    if isinstance(test, ast.Call):
        target = resolve(function, test.func)
        if isinstance(target, External):
            return True if _READY.match(target.dotted) else None
    return True if _SAYS_SO.match(_name(test)) else None


def _compared(test: ast.Compare) -> bool | None:
    if len(test.ops) != 1:
        return None
    left, op, right = test.left, type(test.ops[0]), test.comparators[0]
    if _number(left) is not None:
        left, op, right = right, _TURNED.get(op, op), left
    number = _number(right)
    if number is None:
        return None
    name = _name(left)
    if _SIZE.fullmatch(name.lower()):
        return _SIZES.get((op, number))
    return _RANKS.get((op, number)) if _RANK.fullmatch(name) else None


def _number(e: ast.expr) -> int | None:
    if isinstance(e, ast.UnaryOp) and isinstance(e.op, ast.USub) and isinstance(e.operand, ast.Constant):
        return -e.operand.value if isinstance(e.operand.value, int) else None
    return (
        e.value
        if isinstance(e, ast.Constant) and isinstance(e.value, int) and not isinstance(e.value, bool)
        else None
    )


def _name(e: ast.expr) -> str:
    """The last part; of `int(os.environ.get("RANK", -1))` the variable's."""
    if isinstance(e, ast.Call) and isinstance(e.func, ast.Name) and e.func.id == "int" and e.args:
        e = e.args[0]
    if isinstance(e, ast.Call):
        first = e.args[0] if e.args else None
        if isinstance(first, ast.Constant) and isinstance(first.value, str) and _name(e.func) in _ASKS:
            return first.value
        e = e.func
    return e.attr if isinstance(e, ast.Attribute) else e.id if isinstance(e, ast.Name) else ""


def _sets_up(statement: ast.stmt) -> bool:
    names = (_name(n).lower() for n in ast.walk(statement) if isinstance(n, ast.Call))
    return any("init" in name or "setup" in name or "spawn" in name or "launch" in name for name in names)
