"""Whether a Python file belongs to a job of several processes: by what it uses, and not by what it says of itself."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from pathlib import Path

from .plain import MOST_BYTES, plain

#: Of names that it imports or uses, and of texts such as `NCCL_DEBUG`.
_USED = re.compile(
    r"torch|nccl|\bdist\b|process_group|lightning|accelerate|deepspeed|transformers|\bray\b|megatron",
    re.IGNORECASE,
)
_SET_BY_LAUNCHERS = re.compile(
    r"\b(?:NCCL_\w+|TORCH_\w+|(?:LOCAL_|GROUP_)?(?:RANK|WORLD_SIZE)|MASTER_(?:ADDR|PORT))\b"
)


def is_distributed(text: str, path: Path | None = None) -> bool:
    """`path`: where the file lies; then a module beside it that it imports counts as well."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return bool(_USED.search(text))
    nodes = list(ast.walk(tree))
    imported = {name for node in nodes for name in _imported(node)}
    named = {one for node in nodes if (one := _name(node))}
    if _USED.search(" ".join([*imported, *named])) or any(map(_SET_BY_LAUNCHERS.search, _texts(nodes))):
        return True
    return path is not None and any(_beside(path, name) for name in sorted(imported))


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [one.name for one in node.names]
    return [node.module] if isinstance(node, ast.ImportFrom) and node.module else []


def _name(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _texts(nodes: list[ast.AST]) -> Iterator[str]:
    """What is written out in it, less what stands alone, as a docstring does."""
    alone = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone:
            yield node.value


def _beside(path: Path, module: str) -> bool:
    file = path.parent.joinpath(*module.split(".")).with_suffix(".py")
    try:
        with file.open("rb") as opened:
            return is_distributed(plain(opened.read(MOST_BYTES)))
    except (OSError, ValueError):
        return False
