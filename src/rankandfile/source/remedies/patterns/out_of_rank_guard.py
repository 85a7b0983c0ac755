"""Out of the guard: a collective under a test of the rank is called by every rank; the rest stays under the test."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import TypeAlias

from rankandfile.source.remedies.patch import Refusal
from rankandfile.source.remedies.pattern import PATHS, Draft, Pattern, spelling
from rankandfile.source.remedies.place_to_mend import PlaceToMend, conjuncts, leaves
from rankandfile.source.remedies.rank_tests import is_rank_test
from rankandfile.source.remedies.reach import POINT_TO_POINT, collective, resolve
from rankandfile.source.remedies.taken_out.asked_always import may_be_left_out
from rankandfile.source.remedies.taken_out.other_parts import under_other_parts
from rankandfile.source.remedies.words import quoted

#: What is taken out of the branch, as it may stand outside of it; None where it may not.
Kept: TypeAlias = "Callable[..., list[str] | None]"


def make(place: PlaceToMend, plain: bool) -> Draft | Refusal | None:
    node = place.node
    if not isinstance(node, ast.If) or node.orelse or leaves(node.body):
        return None
    parts = conjuncts(node.test)
    asking = [part for part in parts if is_rank_test(place.code, place.module, part)]
    if not asking:
        return None
    involved = [s for s in node.body if place.leads_to(s, place.problem.culprit_sites())]
    # A transfer is between two ranks: made by all, it would be one with themselves, or with whoever does not wait.
    if not involved or any(event.name in POINT_TO_POINT for event in place.events(involved)):
        return None

    def kept(*moved: str) -> list[str] | None:
        return under_other_parts(place, node, asking, parts, list(moved))

    draft = (
        _last(place, plain, node, involved, kept)
        or _whole(place, plain, node, involved, asking, parts)
        or _first(place, plain, node, involved, kept)
        or (_leading(place, plain, node, involved) if asking == parts else None)
        or _value(place, plain, node, involved, kept)
    )
    if draft is None and kept("") is None:
        return Refusal(
            "out_of_rank_guard",
            f"{quoted(place.module, involved[0])} changes what it is given. Made whatever else "
            f"{quoted(place.module, node.test)} asks for, it would change other numbers: let all ranks ask for that, "
            "and only what writes ask for the rank.",
        )
    return draft or Refusal(
        "out_of_rank_guard",
        f"{quoted(place.module, involved[0])} involves all ranks, and only some come to it under "
        f"{quoted(place.module, node.test)}. What else is in it must stay with these ranks: split it into "
        "the part that all ranks do and the part that writes.",
    )


def _plain_call(statement: ast.stmt) -> bool:
    """The statement is nothing but a collective of torch."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)


def _last(
    place: PlaceToMend, plain: bool, node: ast.If, involved: list[ast.stmt], kept: Kept
) -> Draft | None:
    """A bare call at the end of the branch: it moves behind it."""
    (*_, last) = node.body
    if involved != [last] or len(node.body) < 2 or not (_is_bare(place, last) and _have_all(place, last)):
        return None
    moved = kept(place.module.lines_of(last))
    if moved is None:
        return None
    edits = spelling(place, plain).edits
    edits.remove(last)
    edits.after(node, *moved)
    return Draft(
        edits,
        "Call it outside of the branch",
        f"{quoted(place.module, last)} waits for all ranks of its group, and only those for which "
        f"{quoted(place.module, node.test)} holds come to it. It now stands after the branch.",
    )


def _whole(
    place: PlaceToMend,
    plain: bool,
    node: ast.If,
    involved: list[ast.stmt],
    asking: list[ast.expr],
    parts: list[ast.expr],
) -> Draft | None:
    """Every statement is a call of a function that looks after the rank itself: the test of the rank goes."""
    if involved != node.body or not all(_looks_after_itself(place, s) for s in node.body):
        return None
    edits = spelling(place, plain).edits
    left = [place.module.source(part) for part in parts if part not in asking]
    if left:
        edits.expression(node.test, left[0] if len(left) == 1 else " and ".join(f"({part})" for part in left))
    else:
        edits.replace(node, *(place.module.lines_of(s) for s in node.body))
    return Draft(
        edits,
        "Call it on every rank",
        f"{quoted(place.module, node.body[0])} involves all ranks, and itself lets only one of them write. "
        "The test of the rank around it kept the others out.",
    )


def _looks_after_itself(place: PlaceToMend, statement: ast.stmt) -> bool:
    """The function called has collectives outside of any branch, and a test of the rank of its own."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    found = resolve(place.code, place.module, call.func) if isinstance(call, ast.Call) else []
    return bool(found) and all(
        any(
            isinstance(part, ast.If) and is_rank_test(place.code, d.module, part.test) for part in d.node.body
        )
        for d in found
    )


def _first(
    place: PlaceToMend, plain: bool, node: ast.If, involved: list[ast.stmt], kept: Kept
) -> Draft | None:
    """The branch begins with what it gathers: that moves before it."""
    count = len(involved)
    if node.body[:count] != involved or not all(isinstance(s, (ast.Assign, ast.AnnAssign)) for s in involved):
        return None
    moved = kept(*(place.module.lines_of(s) for s in involved))
    if count == len(node.body) or not _only_values(involved) or moved is None:
        return None
    edits = spelling(place, plain).edits
    edits.before(node, *moved)
    for statement in involved:
        edits.remove(statement)
    return Draft(
        edits,
        "Gather on every rank, use it on one",
        f"{quoted(place.module, involved[0])} involves all ranks, and only those for which "
        f"{quoted(place.module, node.test)} holds come to it. It now comes before the test.",
        "Every rank now holds the result for a moment: mind the memory.",
    )


def _leading(place: PlaceToMend, plain: bool, node: ast.If, involved: list[ast.stmt]) -> Draft | None:
    """The branch begins with bare calls, of what every rank has: they move before it."""
    count = len(involved)
    own = all(_is_bare(place, s) and _have_all(place, s) for s in involved)
    if node.body[:count] != involved or not own:
        return None
    edits = spelling(place, plain).edits
    moved = [place.module.lines_of(s) for s in involved]
    if count == len(node.body):
        edits.replace(node, *moved)
    else:
        edits.before(node, *moved)
        for statement in involved:
            edits.remove(statement)
    return Draft(
        edits,
        "Call it outside of the branch",
        f"{quoted(place.module, involved[0])} waits for all ranks of its group, and only those for which "
        f"{quoted(place.module, node.test)} holds come to it. It now stands "
        + ("on its own." if count == len(node.body) else "before the branch."),
    )


def _is_bare(place: PlaceToMend, statement: ast.stmt) -> bool:
    """It is one collective, called here."""
    direct = [e for e in place.events([statement]) if collective(e)]
    here = len(direct) == 1 and direct[0].line == statement.lineno and direct[0].path == place.module.path
    return here and _plain_call(statement)


def _have_all(place: PlaceToMend, statement: ast.stmt) -> bool:
    """What it names is not made under tests of the rank only."""
    around = place.function.node if place.function is not None else place.module.tree
    made: dict[str, bool] = {}
    for part in ast.walk(around):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            under = any(
                isinstance(outer, ast.If) and is_rank_test(place.code, place.module, outer.test)
                for outer in place.module.enclosing(part)
            )
            made[part.id] = made.get(part.id, False) or not under
    given = around.args if isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef)) else None
    parameters = {a.arg for a in ast.walk(given) if isinstance(a, ast.arg)} if given is not None else set()
    names = {n.id for n in ast.walk(statement) if isinstance(n, ast.Name)}
    return all(made.get(name, True) or name in parameters for name in names)


def _only_values(involved: list[ast.stmt]) -> bool:
    """Nothing in it writes a file: it may run on every rank."""
    return not any(
        isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and part.func.id == "open"
        for s in involved
        for part in ast.walk(s)
    )


def _value(
    place: PlaceToMend, plain: bool, node: ast.If, involved: list[ast.stmt], kept: Kept
) -> Draft | None:
    """One expression in the branch involves all ranks: its value is fetched before the test."""
    if len(involved) != 1 or involved[0] is not node.body[0]:
        return None
    found = [
        part
        for part in ast.walk(involved[0])
        if isinstance(part, (ast.Call, ast.Attribute)) and _is_value(place, part, involved[0])
    ]
    inner = [part for part in found if not any(p is not part and _within(p, part) for p in found)]
    if len(inner) != 1 or may_be_left_out(place, inner[0], involved[0]):
        return None
    expression = inner[0]
    if _stored(node) & {n.id for n in ast.walk(expression) if isinstance(n, ast.Name)}:
        return None
    target = expression.func if isinstance(expression, ast.Call) else expression
    said = target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "value")
    name = re.sub(r"\W", "_", said)
    if isinstance(expression, ast.Call) or name in place.module.names:
        name = f"{name}_of_all"
    moved = kept(f"{name} = {place.module.source(expression)}")
    if moved is None:
        return None
    edits = spelling(place, plain).edits
    edits.expression(expression, name)
    edits.before(node, *moved)
    return Draft(
        edits,
        "Ask on every rank, use it on one",
        f"{quoted(place.module, expression)} involves all ranks, although it does not look like it, and "
        f"only those for which {quoted(place.module, node.test)} holds come to it. It is now asked for "
        "before the test.",
    )


def _is_value(place: PlaceToMend, part: ast.Call | ast.Attribute, statement: ast.stmt) -> bool:
    used = not (isinstance(statement, ast.Expr) and statement.value is part)
    inside_call = (
        isinstance(part, ast.Attribute)
        and isinstance(place.module.parents[part], ast.Call)
        and (
            place.module.parents[part].func is part  # type: ignore[attr-defined]
        )
    )
    return used and not inside_call and any(collective(e) for e in place.events([part]))


def _within(inner: ast.AST, outer: ast.AST) -> bool:
    return any(part is inner for part in ast.walk(outer))


def _stored(node: ast.If) -> set[str]:
    return {
        n.id
        for s in node.body
        for n in ast.walk(s)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }


ORDER = 100
PATTERN = Pattern("out_of_rank_guard", PATHS, make)
