"""Reduce the decision: what one rank finds out alone, all decide together before any of them acts on it."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from rankandfile.source.remedies.patch import Refusal
from rankandfile.source.remedies.pattern import PATHS, Draft, Pattern, spelling
from rankandfile.source.remedies.place_to_mend import (
    PlaceToMend,
    conjuncts,
    leaves,
    present,
    trains,
)
from rankandfile.source.remedies.rank_tests import is_rank_test
from rankandfile.source.remedies.reach import POINT_TO_POINT, UNKNOWN, collective
from rankandfile.source.remedies.words import quoted

_RANDOM = {"random", "rand", "randint", "uniform", "choice", "randrange", "bernoulli", "betavariate", "gauss"}


def make(place: PlaceToMend, plain: bool) -> Draft | Refusal | None:
    node = place.node
    if not isinstance(node, (ast.If, ast.While, ast.IfExp)):
        return None
    if place.problem.cause == "raised" and not (isinstance(node, ast.If) and leaves(node.body) == "raise"):
        return None
    said = quoted(place.module, node.test)
    if _asks_for_rank(place, node):
        return Refusal(
            "reduce_decision",
            f"{said} asks which rank this is. Reducing it would make all ranks do what is meant for some: "
            "decide which part of it every rank must do, and take that part out of the branch.",
        )
    nested = _under_rank_test(place)
    if nested is not None:
        return Refusal(
            "reduce_decision",
            f"{said} is itself under a test of the rank (line {nested.lineno}): the others never come to "
            "it, and would not answer a vote. Decide above that test.",
        )
    if _cannot_do_without(node):
        return Refusal(
            "reduce_decision",
            f"a rank for which {said} is false has nothing to take part with: decide what it brings instead.",
        )
    if _only_transfers(place, node):
        return Refusal(
            "reduce_decision",
            f"what {said} guards are transfers between two ranks, and a vote of all does not make their other side: "
            "decide where the sender and the receiver both know, or let one tell the other.",
        )
    group = place.group(place.concerned())
    if group == UNKNOWN:
        return Refusal(
            "reduce_decision",
            f"the ranks that must agree on {said} form a group that has no name at this place: hand the "
            "group in, and reduce the decision over it, not over all ranks.",
        )
    say = spelling(place, plain)
    how, title, text, decide = _choice(place, node, said)
    test = place.module.source(node.test)
    code = say.of_rank_zero(test, group) if how == "first" else say.agree(test, how, group)
    say.edits.expression(node.test, code)
    return Draft(say.edits, title, text, decide)


def _asks_for_rank(place: PlaceToMend, node: ast.If | ast.While | ast.IfExp) -> bool:
    """The rank decides alone. Not so where one rank leaves by what it has found out: the others follow it then."""
    parts = conjuncts(node.test)
    asking = [
        part
        for part in parts
        if any(is_rank_test(place.code, place.module, p) for p in ast.walk(part) if isinstance(p, ast.expr))
    ]
    follows = isinstance(node, ast.If) and leaves(node.body) != "" and len(asking) < len(parts)
    return bool(asking) and not follows


def _under_rank_test(place: PlaceToMend) -> ast.If | None:
    """A test of the rank around the decision."""
    for outer in place.module.enclosing(place.statement()):
        if isinstance(outer, ast.If) and is_rank_test(place.code, place.module, outer.test):
            return outer
    return None


def _only_transfers(place: PlaceToMend, node: ast.If | ast.While | ast.IfExp) -> bool:
    """The branch posts sends and receives, and then goes on like the other."""
    if isinstance(node, ast.If) and leaves(node.body):
        return False
    found = [event for event in place.events(place.concerned()) if collective(event)]
    return bool(found) and all(event.name in POINT_TO_POINT for event in found)


def _cannot_do_without(node: ast.If | ast.While | ast.IfExp) -> bool:
    """The branch uses what the test has found to be there."""
    held = present(node.test)
    used = node.body if isinstance(node.body, list) else [node.body]
    return held is not None and any(ast.dump(part) == ast.dump(held) for s in used for part in ast.walk(s))


def _choice(place: PlaceToMend, node: ast.If | ast.While | ast.IfExp, said: str) -> tuple[str, str, str, str]:
    """How the ranks' answers become one: "any", "all" or the first rank's; title, reason, and what to decide."""
    if _is_drawn(node.test):
        return (
            "first",
            "Let the first rank draw for all",
            f"{said} draws a random number, and each rank draws its own. The first rank's draw now counts "
            "for all; how often the branch is taken stays the same.",
            "Seeding the generators alike mends it without a message, if nothing else ever draws from them.",
        )
    if _is_counted(node.test):
        return (
            "first",
            "Let the first rank's count decide",
            f"{said} counts on this rank's own count. The first rank's answer now counts for all, so that "
            "the period stays what it was.",
            "A count that all ranks share, such as the loop's own step, needs no message.",
        )
    if isinstance(node, ast.While):
        return (
            "all",
            "Go on only while all ranks go on",
            f"Whoever finds {said} false leaves the loop. All ranks now leave it in the same round.",
            "What is left on the others is not worked on: pad the work, if none may be lost.",
        )
    way = leaves(node.body) if isinstance(node, ast.If) else ""
    if (
        isinstance(node, ast.If)
        and way
        and _involves(place, node.body)
        and _involves(place, _other_way(place, node))
    ):
        return (
            "any",
            "Choose one way for all ranks",
            f"Both ways at {said} make calls that involve the other ranks, but not the same ones. All ranks "
            "now take the first as soon as it is true on one (MAX of the ranks' answers).",
            "A test of something that is the same everywhere, such as a shape, needs no message.",
        )
    if way == "break" and _decodes(place):
        return (
            "all",
            "Leave the loop when the last rank is done",
            f"A rank for which {said} is true stops calling the model, and the calls inside it need every "
            "rank. A rank that is done now keeps the others company until all are.",
            "What a finished rank makes in the meantime must be cut off afterwards.",
        )
    if way in ("return", "continue") and not _inside(place, node) and _only_skips(place, way):
        return (
            "all",
            "Leave it out only if all ranks leave it out",
            f"A rank for which {said} is true leaves out calls that the others make. Whether they are "
            "needed, no rank knows alone: they are now left out only where every rank would.",
            "What follows must work on a rank that used to skip it, with nothing in its hands: try it with "
            "such input.",
        )
    if way == "raise":
        return (
            "any",
            "Raise on all ranks, or on none",
            f"A rank for which {said} is true raises, and the others wait in a call that it never makes. "
            "All ranks now raise as soon as one has to, and the job ends with the reason instead of a "
            "timeout.",
            "If such a case is to be survived, let all ranks leave it out instead of raising.",
        )
    if way:
        return (
            "any",
            "Decide together",
            f"A rank for which {said} is true goes another way than the others. Now all of them do as soon "
            "as it is true on one (MAX of the ranks' answers).",
            "If one rank's answer must not move the others, reduce what the decision is made of instead.",
        )
    return (
        "any",
        "Decide together",
        f"What {said} guards involves the other ranks. All of them now come to it as soon as it is true on "
        "one (MAX of the ranks' answers); a rank without anything to bring takes part with what it has.",
        "",
    )


def _is_drawn(test: ast.expr) -> bool:
    return any(
        isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and part.func.attr in _RANDOM
        for part in ast.walk(test)
    )


def _is_counted(test: ast.expr) -> bool:
    """`count % every == 0`."""
    return (
        isinstance(test, ast.Compare)
        and isinstance(test.left, ast.BinOp)
        and isinstance(test.left.op, ast.Mod)
        and isinstance(test.comparators[0], ast.Constant)
    )


def _decodes(place: PlaceToMend) -> bool:
    """The loop runs a model without training it: to generate, or to evaluate."""
    loop, function = place.loop(), place.function
    if loop is None or trains(place.events(loop.body)):
        return False
    without = {"no_grad", "inference_mode"}
    around = {
        part.attr if isinstance(part, ast.Attribute) else getattr(part, "id", "")
        for outer in place.module.enclosing(loop)
        if isinstance(outer, ast.With)
        for item in outer.items
        for part in ast.walk(item.context_expr)
    }
    return bool(without & (around | (function.decorators() if function else set())))


def _involves(place: PlaceToMend, nodes: Iterable[ast.AST]) -> bool:
    return any(collective(event) for event in place.events(nodes))


def _inside(place: PlaceToMend, node: ast.If | ast.While | ast.IfExp) -> bool:
    return _involves(place, node.body if isinstance(node.body, list) else [node.body])


def _other_way(place: PlaceToMend, node: ast.If) -> list[ast.AST]:
    return [*(node.orelse or place.rest())]


def _only_skips(place: PlaceToMend, way: str) -> bool:
    """What is left out neither trains nor sends: the ranks that leave it out can as well take part with nothing.

    A step of training without input makes gradients that are no numbers, and of a transfer the other side must know.
    """
    found = place.events(_left_out(place, way))
    return not trains(found) and not any(event.name in POINT_TO_POINT for event in found)


def _left_out(place: PlaceToMend, way: str) -> list[ast.AST]:
    skipped: list[ast.AST] = list(place.rest())
    for outer in place.module.enclosing(place.statement()):
        if isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef)):
            break
        if way == "continue" and isinstance(outer, (ast.For, ast.AsyncFor, ast.While)):
            break
        if isinstance(outer, ast.stmt):
            skipped += place.rest(outer)
    return skipped


ORDER = 160
PATTERN = Pattern("reduce_decision", PATHS | {"raised"}, make)
