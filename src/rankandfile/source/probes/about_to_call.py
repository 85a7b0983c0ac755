"""A line in the log before the call at which the ranks no longer meet."""

from __future__ import annotations

import ast

from rankandfile.source.dependence.syntax import spans
from rankandfile.source.remedies.edit import Edits
from rankandfile.source.remedies.patch import Refusal
from rankandfile.source.remedies.pattern import ORDERS, Draft, Pattern
from rankandfile.source.remedies.place_to_mend import PlaceToMend
from rankandfile.source.remedies.spelling import Spelling, literal

_PRINT = '''
def {name}(op, *values):
    """A line before a call: rank, call, shapes and dtypes, and a hash of them that ranks can be compared by."""
    told = [f"{{v.dtype}}{{list(v.shape)}}" if hasattr(v, "shape") else type(v).__name__ for v in values]
    what = " ".join([op, *told])
    print(f"rank {{{dist}.get_rank()}} is about to call {{what}} #{{zlib.crc32(what.encode()):08x}}", flush=True)
'''


def make(place: PlaceToMend, plain: bool) -> Draft | Refusal | None:
    for site, module in place.called():
        statement = _statement(module.tree, site.line)
        if statement is None:
            continue
        say = Spelling(Edits(module), plain)
        values = [module.source(value) for value in _tensors(statement, site.line)]
        where = f"{site.op or 'the call'} at {module.path}:{site.line}"
        given = ", ".join([literal(where), *values])
        if plain:
            name = say.helper("about_to_call", _PRINT)
            if "zlib" not in module.imports:
                say.edits.imports.append("import zlib")
            say.edits.before(statement, f"{name}({given})")
        else:
            say.edits.before(statement, f"{say.guard()}.about_to_call({given})")
        return Draft(
            say.edits,
            "Who calls what, in which order?",
            f"Each rank says in its log that it is about to call {where}, with a hash of what it hands "
            "over. Compare the logs of two ranks: the first line that differs is where they went different ways. "
            "Nothing is sent, nobody waits.",
        )
    return None


def _statement(tree: ast.Module, line: int) -> ast.stmt | None:
    """The simple statement that spans the line."""
    found = [
        node
        for node in ast.walk(tree)
        if isinstance(node, (ast.Expr, ast.Assign, ast.AugAssign, ast.Return, ast.AnnAssign))
        and spans(node, line)
    ]
    return max(found, key=lambda node: node.lineno, default=None)


def _tensors(statement: ast.stmt, line: int) -> list[ast.expr]:
    """What the call is handed, as far as naming it again has no effect."""
    calls = [part for part in ast.walk(statement) if isinstance(part, ast.Call) and spans(part, line)]
    if not calls:
        return []
    return [a for a in calls[0].args if _is_plain(a)][:3]


def _is_plain(value: ast.expr) -> bool:
    """A name, or attributes of one, in lower case: neither a class nor a call."""
    if isinstance(value, ast.Attribute):
        return _is_plain(value.value)
    return isinstance(value, ast.Name) and value.id[:1].islower()


ORDER = 20
PROBE = Pattern("about_to_call", ORDERS, make)
