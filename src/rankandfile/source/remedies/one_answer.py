"""How the ranks' answers to a test become one: as soon as one says yes, only where all do, or as the first says."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from .answer import OneAnswer
from .ends_of_loops.left_loop import grown_out, of_way_out, of_while
from .left_out_data import asks_whether_number, hands_over
from .needs import Need, established, used
from .place_to_mend import PlaceToMend, leaves, trains
from .reach import POINT_TO_POINT, collective
from .spelled_out import spelled_out
from .told_by_return import told_by_return
from .words import flat

_RANDOM = {"random", "rand", "randint", "uniform", "choice", "randrange", "bernoulli", "betavariate", "gauss"}


Test = ast.If | ast.While | ast.IfExp


def safe_answer(place: PlaceToMend, node: Test, said: str) -> OneAnswer | str:
    """The usual answer, if no rank is sent by it into code that needs what it has not; else one that is safe for all;
    else why there is none."""
    usual = kept_out(place, node, said) or usual_answer(place, node, said)
    if isinstance(node, ast.If) and _ends_loop(place, leaves(node.body)):
        unclear = grown_out(place, node, said)
        if unclear:
            return unclear
    if isinstance(node, ast.While) and _works_off(place, node):
        return (
            f"{said} asks what is left on this rank. The first rank that is done would end the loop for all, with the "
            "others' work left over: let all go round as often as the one with the most, and take part with nothing."
        )
    if usual.how == "all" and isinstance(node, ast.If) and told_by_return(place, node):
        return (
            f"a rank for which {said} is true returns None, and a caller asks for that: made to take part, it would "
            "return something else, and its caller work on what is not there. Give it something empty, and return None."
        )
    lacking = _lacking(place, node, usual.how)
    if lacking is None:
        return usual
    if usual.how == "any" and isinstance(node, ast.If) and _lacking(place, node, "all") is None:
        return OneAnswer(
            "all",
            "Take the branch only where all ranks can",
            f"A rank for which {said} is false cannot run `{lacking}`, which is in the branch. All ranks now take it "
            "only where it is true on every one (MIN of the ranks' answers).",
            "Ranks that could have gone on alone do without it too: see to it that all have what it needs, where that "
            "is not what is wanted.",
        )
    truth = "false" if usual.how == "any" else "true"
    return (
        f"a rank for which {said} is {truth} has nothing for `{lacking}`, to which the others' way leads: give it "
        "something empty of the right form to take part with, or make the decision where all have what it needs."
    )


def _ends_loop(place: PlaceToMend, way: str) -> bool:
    return way == "break" or (way == "return" and place.loop() is not None)


def _works_off(place: PlaceToMend, node: ast.While) -> bool:
    """The loop takes from what its test asks for, and is no training that may end early."""
    needs = list(established(node.test, True))
    taken = any(_first_use(place, [need], node.body) for need in needs if need.kind == "items")
    return taken and not trains(place.events(node.body))


def _lacking(place: PlaceToMend, node: Test, how: str) -> str | None:
    """What a rank would be sent into and cannot run: written as in the program."""
    test = spelled_out(place, node.test)
    ways = [(True, _true_way(node))] if how in ("any", "first") else []
    ways += [(False, _false_way(place, node))] if how in ("all", "first") else []
    for truth, nodes in ways:
        found = _first_use(place, established(test, truth), nodes)
        if found is not None:
            return found
    return None


def _first_use(place: PlaceToMend, needs: Iterable[Need], nodes: Iterable[ast.AST]) -> str | None:
    nodes = list(nodes)
    for need in needs:
        found = used(need, nodes, lambda e: place.answers.classes(e, place.in_program))
        if found is not None:
            return flat(place.module, found)
    return None


def _true_way(node: Test) -> list[ast.AST]:
    return [*node.body] if isinstance(node.body, list) else [node.body]


def _false_way(place: PlaceToMend, node: Test) -> list[ast.AST]:
    if isinstance(node, ast.IfExp):
        return [node.orelse]
    if isinstance(node, ast.While):
        return [*node.orelse, *place.rest()]
    way = leaves(node.body)
    return [*node.orelse, *(_left_out(place, way) if way in ("return", "continue", "break") else [])]


def kept_out(place: PlaceToMend, node: Test, said: str) -> OneAnswer | None:
    """The test keeps this rank's data out of what the ranks work out together: no patch puts in what it kept out."""
    if not isinstance(node, ast.If):
        return None
    way = leaves(node.body)
    skips = way in ("return", "continue") and not node.orelse and not _inside(place, node)
    if skips and (
        asks_whether_number(place, node.test) or hands_over(place, node.test, _left_out(place, way))
    ):
        return OneAnswer(
            "any",
            "Leave it out on all ranks as soon as one has to",
            f"A rank for which {said} is true keeps what it has out of the calls that the others make. All ranks now "
            "leave them out as soon as one does (MAX of the ranks' answers): nothing that a rank keeps out comes in.",
            "The others' part of that round is left out too.",
        )
    if not way and not _involves(place, node.orelse) and hands_over(place, node.test, node.body):
        return OneAnswer(
            "all",
            "Take part only where all ranks can",
            f"A rank for which {said} is false keeps what it has out of the calls that the others make. All ranks now "
            "make them only where it is true on every one (MIN of the ranks' answers): nothing that a rank keeps out "
            "comes in.",
            "The others' part of that round is left out too.",
        )
    return None


def usual_answer(place: PlaceToMend, node: Test, said: str) -> OneAnswer:
    """By what the decision does: it leaves a loop, leaves something out, raises, draws, counts."""
    if _is_drawn(node.test):
        return OneAnswer(
            "first",
            "Let the first rank draw for all",
            f"{said} draws a random number, and each rank draws its own. The first rank's draw now counts "
            "for all; how often the branch is taken stays the same.",
            "Seeding the generators alike fixes it without a message, if nothing else ever draws from them.",
        )
    if _is_counted(node.test):
        return OneAnswer(
            "first",
            "Let the first rank's count decide",
            f"{said} counts on this rank's own count. The first rank's answer now counts for all, so that "
            "the period stays what it was.",
            "A count that all ranks share, such as the loop's own step, needs no message.",
        )
    if isinstance(node, ast.While):
        return of_while(place, node, said)
    way = leaves(node.body) if isinstance(node, ast.If) else ""
    ends_loop = _ends_loop(place, way)
    if isinstance(node, ast.If) and ends_loop and (last := of_way_out(place, node, said)) is not None:
        return last
    if (
        isinstance(node, ast.If)
        and way
        and _involves(place, node.body)
        and _involves(place, _other_way(place, node))
    ):
        return OneAnswer(
            "any",
            "Choose one way for all ranks",
            f"Both ways at {said} make calls that involve the other ranks, but not the same ones. All ranks "
            "now take the first as soon as it is true on one (MAX of the ranks' answers).",
            "A test of something that is the same everywhere, such as a shape, needs no message.",
        )
    if (
        way in ("return", "continue")
        and not ends_loop
        and not _inside(place, node)
        and _only_skips(place, way)
    ):
        return OneAnswer(
            "all",
            "Leave it out only if all ranks leave it out",
            f"A rank for which {said} is true leaves out calls that the others make. Whether they are "
            "needed, no rank knows alone: they are now left out only where every rank would.",
            "What follows must work on a rank that used to skip it, with nothing in its hands: try it with "
            "such input.",
        )
    if way == "raise":
        return OneAnswer(
            "any",
            "Raise on all ranks, or on none",
            f"A rank for which {said} is true raises, and the others wait in a call that it never makes. "
            "All ranks now raise as soon as one has to, and the job ends with the reason instead of a "
            "timeout.",
            "If such a case is to be survived, let all ranks leave it out instead of raising.",
        )
    if way:
        return OneAnswer(
            "any",
            "Decide together",
            f"A rank for which {said} is true goes another way than the others. Now all of them do as soon "
            "as it is true on one (MAX of the ranks' answers).",
            "If one rank's answer must not move the others, reduce what the decision is made of instead.",
        )
    if isinstance(node, ast.If) and trains(place.events(node.body)) and not _involves(place, node.orelse):
        return OneAnswer(
            "all",
            "Train on it only where all ranks do",
            f"A rank for which {said} is false leaves out calls that the others make, and has a reason not to train on "
            "what it has. All ranks now leave the step out as soon as one does.",
        )
    return OneAnswer(
        "any",
        "Decide together",
        f"What {said} guards involves the other ranks. All of them now come to it as soon as it is true on "
        "one (MAX of the ranks' answers); a rank without anything to bring takes part with what it has.",
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


def _involves(place: PlaceToMend, nodes: Iterable[ast.AST]) -> bool:
    return any(collective(event) for event in place.events(nodes))


def _inside(place: PlaceToMend, node: Test) -> bool:
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
