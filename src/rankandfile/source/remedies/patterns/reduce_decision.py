"""Reduce the decision: what one rank finds out alone, all decide together before any of them acts on it."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from rankandfile.source.effects.event import event
from rankandfile.source.remedies.answer import OneAnswer
from rankandfile.source.remedies.each_its_own import calls_what_is_looked_up, keeps_for_itself, own_work
from rankandfile.source.remedies.framework_votes import framework_vote
from rankandfile.source.remedies.later_uses import flag_of, group_upon_answer, other_test_of_part, uses_of
from rankandfile.source.remedies.one_answer import Test, safe_answer
from rankandfile.source.remedies.patch import Refusal
from rankandfile.source.remedies.pattern import PATHS, Draft, Pattern, spelling
from rankandfile.source.remedies.place_to_mend import (
    PlaceToMend,
    conjuncts,
    leaves,
    present,
)
from rankandfile.source.remedies.rank_tests import is_rank_test
from rankandfile.source.remedies.reach import POINT_TO_POINT, UNKNOWN, collective
from rankandfile.source.remedies.words import quoted

from .keep_the_graph import made_from_nothing


def make(place: PlaceToMend, plain: bool) -> Draft | Refusal | None:
    node = place.node
    if not isinstance(node, (ast.If, ast.While, ast.IfExp)):
        return None
    if place.problem.cause == "raised" and not (isinstance(node, ast.If) and leaves(node.body) == "raise"):
        return None
    if place.problem.cause == "group_mismatch" and not group_upon_answer(place, node):
        return None
    said = quoted(place.module, node.test)
    if place.problem.changed and isinstance(node, ast.While):
        return Refusal(
            "reduce_decision",
            f"what {said} asks for goes back to what each rank decided at {place.problem.changed}, in the middle of a "
            "round: let the ranks agree there, before anything else looks at it.",
        )
    if _asks_for_rank(place, node):
        return Refusal(
            "reduce_decision",
            f"Take out of the branch what every rank must do. {said} asks which rank this is: reducing it would "
            "make all ranks do what is meant for some.",
        )
    nested = _under_rank_test(place)
    if nested is not None:
        return Refusal(
            "reduce_decision",
            f"{said} is itself under a test of the rank (line {nested.lineno}): the others never come to "
            "it, and would not answer a vote. Decide above that test.",
        )
    found = _cannot_do_without(node)
    if found is not None:
        return Refusal(
            "reduce_decision",
            f"a rank for which {quoted(place.module, found)} is false has nothing to take part with: decide what it "
            "brings instead.",
        )
    if _only_transfers(place, node):
        return Refusal(
            "reduce_decision",
            f"what {said} guards are transfers between two ranks, and a vote of all does not make their other side: "
            "decide where the sender and the receiver both know, or let one tell the other.",
        )
    if made_from_nothing(place) is not None:
        # It is each rank's own affair: all would go without what only some have not.
        return None
    own = keeps_for_itself(place, node)
    if own:
        return Refusal("reduce_decision", own)
    group = place.group(place.concerned())
    if group == UNKNOWN:
        if place.problem.kind == "cycle":
            # Whoever is in the circle must take one order, whatever the group of the call that each waits in.
            return None
        return Refusal(
            "reduce_decision",
            f"the ranks that must agree on {said} form a group that has no name at this place: hand the "
            "group in, and reduce the decision over it, not over all ranks.",
        )
    asked = _asked_before(place, node.test)
    if asked:
        return _agreed_before(place, plain, asked, isinstance(node.test, ast.BoolOp) and node.test.op)
    answer = safe_answer(place, node, said)
    if (
        isinstance(answer, OneAnswer)
        and answer.how == "all"
        and isinstance(node, ast.If)
        and own_work(place, node)
    ):
        unknown = calls_what_is_looked_up(place, node)
        where = "" if unknown else ", in which nobody waits"
        instead = (
            "Give the ranks that have nothing something empty to take part with, or make its calls in a group of those "
            "that have something."
            if unknown
            else "What it leaves behind decides later: agree there."
        )
        return Refusal(
            "reduce_decision",
            f"what {said} guards is each rank's own work{where}: to do it only where all can would leave some of it "
            f"out, and other numbers would come out. {instead}",
        )
    return (
        Refusal("reduce_decision", answer)
        if isinstance(answer, str)
        else _agreed(place, plain, node, answer, group)
    )


def _asked_before(place: PlaceToMend, test: ast.expr) -> list[ast.expr]:
    """The parts of a test that decide whether a later part of it is asked, where that part makes the calls: a vote on
    the whole test would come behind them."""
    if not isinstance(test, ast.BoolOp):
        return []
    known = [i for i, part in enumerate(test.values) if _is_known_to_call_all(place, part)]
    # A site tells no more than its line, on which other parts may stand as well: those that call nothing make nothing.
    calling = (
        i for i, part in enumerate(test.values) if any(isinstance(n, ast.Call) for n in ast.walk(part))
    )
    making = known or [i for i in calling if place.leads_to(test.values[i], place.problem.sites)]
    return test.values[: making[0] if making else 0]


def _is_known_to_call_all(place: PlaceToMend, part: ast.expr) -> bool:
    calls = (node for node in ast.walk(part) if isinstance(node, ast.Call))
    return place.leads_to(part) or any(event(call, place.in_program) is not None for call in calls)


def _agreed_before(place: PlaceToMend, plain: bool, asked: list[ast.expr], op: ast.boolop | bool) -> Draft:
    say = spelling(place, plain)
    how = "any" if isinstance(op, ast.And) else "all"
    group = place.group([place.statement()])
    for part in asked:
        code = place.module.source(part)
        say.edits.expression(
            part, ("" if group else framework_vote(place, say, code, how)) or say.agree(code, how, group)
        )
    last = quoted(place.module, asked[-1])
    return Draft(
        say.edits,
        "Decide together whether to ask the rest of the test",
        f"What follows {last} in the test makes calls that all ranks must come to. All of them now ask it as soon as "
        "one would.",
        "Where it asks for something that each rank counts or measures for itself, let it ask for what is the same on "
        "all: a vote is made each time.",
    )


def _agreed(place: PlaceToMend, plain: bool, node: Test, answer: OneAnswer, group: str) -> Draft | Refusal:
    """The answer is agreed on here, and wherever else in the function it decides."""
    say = spelling(place, plain)

    def put(e: ast.expr, how: str) -> None:
        code = place.module.source(e)
        if how == "first":
            say.edits.expression(e, say.of_rank_zero(code, group))
            return
        own = "" if group else framework_vote(place, say, code, how)
        say.edits.expression(e, own or say.agree(code, how, group))

    flag = flag_of(node.test)
    uses = uses_of(place, flag) if flag is not None else None
    if uses is not None and uses.elsewhere is not None:
        return _again(place, node, *uses.elsewhere)
    if flag is None or uses is None or not uses.here:
        again = other_test_of_part(place, node.test) if flag is None else None
        if again is not None:
            return _again(place, node, place.module.path, again[1])
        put(node.test, answer.how)
        return Draft(say.edits, answer.title, answer.text, answer.decide)
    how = {"any": "all", "all": "any"}.get(answer.how, answer.how) if flag.turned else answer.how
    for e in (uses.made,) if uses.made is not None else (flag.node, *uses.here):
        put(e, how)
    lines = " and ".join(str(e.lineno) for e in uses.here[:3])
    text = (
        f"{answer.text} The same answer decides again at line {lines}, and is the same everywhere there too."
    )
    return Draft(say.edits, answer.title, text, answer.decide)


def _again(place: PlaceToMend, node: Test, path: str, line: int) -> Refusal:
    return Refusal(
        "reduce_decision",
        f"what {quoted(place.module, node.test)} asks for decides again at {path.rpartition('/')[2]}:{line}, where "
        "the ranks would still differ: let them agree where it is set, so that every later use sees the same.",
    )


def _asks_for_rank(place: PlaceToMend, node: Test) -> bool:
    """The rank decides alone. Not so where one rank leaves by what it has found out: the others follow it then."""
    parts = conjuncts(node.test)
    asking = [
        part
        for part in parts
        if any(is_rank_test(place.code, place.module, p) for p in ast.walk(part) if isinstance(p, ast.expr))
        or place.answers.differs(part, place.in_program)
    ]
    follows = isinstance(node, ast.If) and leaves(node.body) != "" and len(asking) < len(parts)
    return bool(asking) and not follows


def _under_rank_test(place: PlaceToMend) -> ast.If | None:
    """A test of the rank around the decision."""
    for outer in place.module.enclosing(place.statement()):
        if isinstance(outer, ast.If) and is_rank_test(place.code, place.module, outer.test):
            return outer
    return None


def _only_transfers(place: PlaceToMend, node: Test) -> bool:
    """The branch posts sends and receives, and then goes on like the other; or it leaves what only does such."""
    concerned: Sequence[ast.AST] = place.concerned()
    if isinstance(node, ast.If) and leaves(node.body):
        around = place.module.parents.get(node)
        block = getattr(around, "body", [])
        if leaves(node.body) not in ("continue", "return") or node not in block:
            return False
        concerned = block[block.index(node) + 1 :]
    found = [event for event in place.events(concerned) if collective(event)]
    return bool(found) and all(event.name in POINT_TO_POINT for event in found)


def _cannot_do_without(node: Test) -> ast.expr | None:
    """The part of the test that asks whether something is there, where the branch uses it."""
    used = node.body if isinstance(node.body, list) else [node.body]
    inside = {ast.dump(part) for s in used for part in ast.walk(s)}
    return next((p for p in conjuncts(node.test) if (held := present(p)) and ast.dump(held) in inside), None)


ORDER = 160
PATTERN = Pattern("reduce_decision", PATHS | {"raised", "group_mismatch"}, make, meets=True)
