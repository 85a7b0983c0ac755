"""Whether the source says that what a rank is owed does not show in the numbers of its transfers in one group."""

from __future__ import annotations

import ast
import re

from rankandfile.source.program.called import called_name
from rankandfile.source.program.modules import Program

_SENDS = re.compile(r"\b(isend|irecv|P2POp|(?:send|recv)(?:_object_list)?)\s*\(")
#: What ranks send each other by other means: a wait for it looks like one for a request.
_OTHERWISE = re.compile(r"\b(rpc_a?sync|distributed\.rpc|mpi4py)\b")
#: By the transfer's name, at which place its group is handed over.
_GROUP_AT = {
    **dict.fromkeys(("send", "recv", "isend", "irecv"), 2),
    **dict.fromkeys(("send_object_list", "recv_object_list"), 2),
    "P2POp": 3,
}


def untold_transfers(program: Program, makes_groups: bool) -> bool:
    """It makes transfers in groups beside that of all ranks, or by other means than a group's; or lets go of a send at
    once: gloo drops such a message where the other side is not there yet, and counts it all the same."""
    for path in program.files.paths():
        text = program.files.read(path) or ""
        if _OTHERWISE.search(text):
            return True
        if not _SENDS.search(text):
            continue
        module = program.module(path)
        if module is None:
            return True
        calls = [
            node for node in module.nodes if isinstance(node, ast.Call) and called_name(node) in _GROUP_AT
        ]
        if makes_groups and any(_group(call) for call in calls):
            return True
        if _lets_go(module.nodes):
            return True
    return False


def _lets_go(nodes: list[ast.AST]) -> bool:
    """Of what a send gave back: nobody takes it, or nobody reads it again."""
    read = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    for node in nodes:
        if isinstance(node, ast.Expr) and _is_isend(node.value):
            return True
        names = node.targets if isinstance(node, ast.Assign) and _is_isend(node.value) else []
        if any(isinstance(name, ast.Name) and name.id not in read for name in names):
            return True
    return False


def _group(call: ast.Call) -> bool:
    at = _GROUP_AT[called_name(call)]
    given = [*call.args[at : at + 1], *(k.value for k in call.keywords if k.arg in ("group", "group_peer"))]
    return any(not (isinstance(value, ast.Constant) and value.value is None) for value in given)


def _is_isend(e: ast.expr) -> bool:
    return isinstance(e, ast.Call) and called_name(e) == "isend"
