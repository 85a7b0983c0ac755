"""Does a test ask which rank this is? Followed through functions and properties that only answer that."""

from __future__ import annotations

import ast

from .code import Code, Module
from .reach import resolve

_CALLS = {
    "get_coordinate",
    "get_group_rank",
    "get_rank",
    "get_node_local_rank",
    "is_main_process",
    "is_local_main_process",
    "local_rank",
    "is_rank_zero",
}
_NAMES = {
    "rank",
    "local_rank",
    "global_rank",
    "is_main_process",
    "is_local_main_process",
    "is_global_zero",
    "process_index",
}
_VARIABLES = {"RANK", "LOCAL_RANK", "GLOBAL_RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK"}
_DEPTH = 4


def is_rank_test(code: Code, module: Module, test: ast.expr, depth: int = 0) -> bool:
    """`rank == 0`, `is_main()`, `not layout.writes`, ... and nothing else."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return is_rank_test(code, module, test.operand, depth)
    if isinstance(test, ast.BoolOp):
        return all(is_rank_test(code, module, value, depth) for value in test.values)
    if isinstance(test, ast.Compare):
        sides = [test.left, *test.comparators]
        return any(is_rank(code, module, side, depth) for side in sides)
    return is_rank(code, module, test, depth)


def is_rank(code: Code, module: Module, value: ast.expr, depth: int = 0) -> bool:
    """The expression's value is this rank's number, or the answer to a question about it."""
    if isinstance(value, ast.Name):
        return value.id in _NAMES or value.id.endswith("_rank")
    if isinstance(value, ast.Attribute):
        if value.attr in _NAMES or value.attr.endswith("_rank"):
            return True
        return _is_role(code, module, value.attr, depth) or _answers(code, module, value, depth)
    if isinstance(value, ast.BinOp):
        return is_rank(code, module, value.left, depth) or is_rank(code, module, value.right, depth)
    if isinstance(value, ast.Subscript):
        return isinstance(value.slice, ast.Constant) and value.slice.value in _VARIABLES
    if isinstance(value, ast.Call):
        target = value.func
        name = target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")
        if name in _CALLS:
            return True
        if name == "int" and value.args:
            return is_rank(code, module, value.args[0], depth)
        if name in ("getenv", "get") and value.args:
            return isinstance(value.args[0], ast.Constant) and value.args[0].value in _VARIABLES
        return _answers(code, module, target, depth)
    return False


def _answers(code: Code, module: Module, target: ast.expr, depth: int) -> bool:
    """The target is a function or property that does nothing but answer a question about the rank."""
    if depth >= _DEPTH:
        return False
    found = resolve(code, module, target)
    if not found and isinstance(target, ast.Attribute):
        found = [d for d in code.named(module, target.attr) if d.is_property]
    return any(
        is_rank_test(code, definition.module, answer, depth + 1)
        for definition in found
        if (answer := definition.only_answer) is not None
    )


def _is_role(code: Code, module: Module, attribute: str, depth: int) -> bool:
    """The attribute is worked out from the rank where it is set: a stage, a shard, a place in a mesh."""
    if depth >= _DEPTH:
        return False
    return any(
        is_rank(code, other, value, depth + 1)
        for other in code.around(module)
        for value in other.kept(attribute)
    )
