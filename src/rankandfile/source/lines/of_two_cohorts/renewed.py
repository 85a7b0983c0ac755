"""An argument that is kept in an object, and made anew upon a test that differs between ranks.

A plan of who sends what to whom costs time to make, and is kept. Where only some ranks find that it has to be made
anew, the others go on with the old one. From the call: `dist.all_to_all_single(out, x, plan.takes, plan.sends)`, back
to `plan = self.plan`, and from there to `if moved: self.plan = Plan(...)`.
"""

from __future__ import annotations

import ast

from rankandfile.model.heuristics import heuristic
from rankandfile.source.dependence import why
from rankandfile.source.dependence.assignments import Definition
from rankandfile.source.dependence.frame import Frame
from rankandfile.source.dependence.syntax import ancestors, dotted
from rankandfile.source.lines.arguments import assigned, given
from rankandfile.source.lines.call_paths import CallPath
from rankandfile.source.lines.divergence import CodeDivergence
from rankandfile.source.lines.found_line import FoundLine, Search
from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import Class, method, resolve
from rankandfile.source.program.places import place_in

_ON_ITS_PLACE = ("", "rank_api")
_VALUES = (ast.Name, ast.Attribute, ast.Subscript, ast.Call)


@heuristic(
    "made anew by some", "of what is kept in an object, the test upon which it is made anew parts the ranks"
)
def renewed(search: Search, divergence: CodeDivergence, cause: str) -> FoundLine | None:
    """None, unless all arguments in question come from one object, and nothing of a rank's own data goes into it."""
    path = divergence.culprit.path
    holders = [
        _holder(search, path[depth].line, depth, value, path)
        for depth, value in given(search.places, path, cause)
    ]
    if not holders or holders[0] is None or len({dotted(each[1]) if each else None for each in holders}) > 1:
        return None
    function, held = holders[0]
    stored = [
        (where, d)
        for cls in search.objects.classes(held.value, Frame(function))
        for where, d in search.objects.stores(cls, held.attr)
        if d.how == "assign"
    ]
    for where, d in stored:
        test = _test_of(where, d) if len(stored) > 1 else None
        if test is None or d.value is None:
            continue
        reason = search.why(where, test.test)
        if reason.level == "varying" and _of_nothing_else(search, where, d.value):
            line = test.lineno
            at = place_in(where, line)
            story = f"`{dotted(held)}`, which the argument is taken from, is made anew by some ranks only."
            text = where.module.line_at(line)
            return FoundLine(at, line, text, reason, divergence, kind="renewed", story=story)
    return None


def _holder(
    search: Search, line: int, depth: int, value: ast.expr, path: CallPath
) -> tuple[Function, ast.Attribute] | None:
    """The attribute of an object in which lies what the argument is a part of."""
    place = search.places.find(path[depth])
    if place is None or not place.known:
        return None
    whole = value.value if isinstance(value, ast.Attribute) else value
    made = assigned(place.function, whole, line)
    whole = made.value if made is not None else whole
    return (place.function, whole) if isinstance(whole, ast.Attribute) else None


def _of_nothing_else(search: Search, function: Function, made: ast.expr) -> bool:
    """Whether nothing is known of its making that differs between ranks, but for their places in the job."""
    target = resolve(function, made.func) if isinstance(made, ast.Call) else None
    maker = method(target, "__init__") if isinstance(target, Class) else target
    bodies: list[tuple[Function, ast.AST]] = [(function, made)]
    if isinstance(maker, Function):
        bodies.append((maker, maker.node))
    return all(
        why(search.program, inside, node).source in _ON_ITS_PLACE
        for inside, body in bodies
        for node in ast.walk(body)
        if isinstance(node, _VALUES)
    )


def _test_of(function: Function, stored: Definition) -> ast.If | None:
    """The test that has to be met for it to be stored."""
    below = stored.site
    for outer in ancestors(function.module, below) if below is not None else ():
        if outer is function.node:
            return None
        if isinstance(outer, ast.If) and any(below is each for each in outer.body):
            return outer
        below = outer
    return None
