"""Whether what a test asks for is what the calls behind it hand to the other ranks.

`if not torch.isfinite(loss): continue` before `dist.all_reduce(b * loss)` keeps a rank's data out of the sum: a rank
that is made to take part puts in what it meant to keep out. Whether there is any data, `if not batch`, is another
question: who has none adds nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from rankandfile.source.dependence.reaching_assignments import reaching
from rankandfile.source.program.modules import Function

from .needs import established
from .place_to_mend import PlaceToMend
from .reach import POINT_TO_POINT, collective

_MOST = 40
_OF_NUMBERS = {"isnan", "isinf", "isfinite"}


def hands_over(place: PlaceToMend, test: ast.expr, nodes: Iterable[ast.AST]) -> bool:
    """Calls in the nodes give others, here or further down, what is made from the value that the test asks for."""
    asked = _data(place.in_program, _asked(place, test))
    if not asked:
        return False
    calls = [call for node in nodes for call in ast.walk(node) if isinstance(call, ast.Call) and call.args]
    return any(_shared(place, call) and asked & _data(place.in_program, [call.args[0]]) for call in calls)


def asks_whether_number(place: PlaceToMend, test: ast.expr) -> bool:
    """The test asks whether a value is a number at all: nobody wants one in that is none, whatever is made of it."""
    return any(
        isinstance(part, ast.Call) and ast.unparse(part.func).rpartition(".")[2] in _OF_NUMBERS
        for part in ast.walk(_said_by(place, test))
    )


def _asked(place: PlaceToMend, test: ast.expr) -> list[ast.expr]:
    """What a function or method is asked about it, which is the value; not a name, a length, or whether it is None.

    A name of the test stands for the one call that gave it its value."""
    test = _said_by(place, test)
    if not isinstance(test, ast.Call) or any(
        True for truth in (True, False) for _ in established(test, truth)
    ):
        return []
    owner = [test.func.value] if isinstance(test.func, ast.Attribute) and not test.args else []
    return [*test.args, *owner]


def _said_by(place: PlaceToMend, test: ast.expr) -> ast.expr:
    """The test without its `not`, and for a name the one expression that gave it its value."""
    while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test = test.operand
    if isinstance(test, ast.Name):
        made = [d.value for d in reaching(place.in_program).everywhere(test.id)]
        return made[0] if len(made) == 1 and made[0] is not None else test
    return test


def _shared(place: PlaceToMend, call: ast.Call) -> bool:
    """It is given to others here, or further down."""
    return any(collective(event) and event.name not in POINT_TO_POINT for event in place.events([call]))


def _data(function: Function, made_of: Iterable[ast.expr]) -> set[str]:
    """The local names that a value is made of, one made from the other; what is called on the way is no data."""
    flow, queue, seen = reaching(function), list(made_of), set[str]()
    while queue and len(seen) < _MOST:
        e = queue.pop()
        called = {call.func for call in ast.walk(e) if isinstance(call, ast.Call)}
        for part in ast.walk(e):
            if not isinstance(part, ast.Name) or part in called or part.id in seen:
                continue
            given = flow.everywhere(part.id)
            if given and not any(_counts(d.site) for d in given):
                seen.add(part.id)
                queue += [d.value for d in given if d.value is not None]
    return seen


def _counts(site: ast.AST | None) -> bool:
    """The variable of a loop that counts its rounds."""
    iterable = site.iter if isinstance(site, (ast.For, ast.AsyncFor)) else None
    return isinstance(iterable, ast.Call) and getattr(iterable.func, "id", "") in ("range", "enumerate")
