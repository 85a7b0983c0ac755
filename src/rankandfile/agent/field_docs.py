"""What the fields of a class mean, as the strings below them say: Python itself keeps these nowhere."""

from __future__ import annotations

import ast
import inspect
import textwrap
from functools import cache
from itertools import pairwise


@cache
def field_docs(owner: type) -> dict[str, str]:
    """Field -> what it means; inherited ones too. Empty where the program came without its source."""
    found: dict[str, str] = {}
    for one in reversed(owner.__mro__):
        try:
            tree = ast.parse(textwrap.dedent(inspect.getsource(one)))
        except (OSError, TypeError, SyntaxError):
            continue
        body = tree.body[0].body if isinstance(tree.body[0], ast.ClassDef) else []
        for before, after in pairwise(body):
            if (
                isinstance(before, ast.AnnAssign)
                and isinstance(before.target, ast.Name)
                and isinstance(after, ast.Expr)
                and isinstance(after.value, ast.Constant)
                and isinstance(after.value.value, str)
            ):
                found[before.target.id] = " ".join(after.value.value.split())
    return found
