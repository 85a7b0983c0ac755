"""Agree on exceptions: what one rank catches, the others never hear of."""

from __future__ import annotations

import ast

from rankandfile.source.dependence.syntax import dotted
from rankandfile.source.remedies.code import Module
from rankandfile.source.remedies.patch import Refusal
from rankandfile.source.remedies.pattern import PATHS, Draft, Pattern, spelling
from rankandfile.source.remedies.place_to_mend import PlaceToMend, leaves
from rankandfile.source.remedies.reach import UNKNOWN, called, collective
from rankandfile.source.remedies.words import quoted


def make(place: PlaceToMend, plain: bool) -> Draft | Refusal | None:
    handler = place.node
    if not isinstance(handler, ast.ExceptHandler):
        return None
    attempt = place.module.parents[handler]
    assert isinstance(attempt, ast.Try)
    if any(
        isinstance(n, (ast.Yield, ast.YieldFrom)) for statement in attempt.body for n in ast.walk(statement)
    ):
        if _makes_a_manager(place):
            return Refusal(
                "agree_on_exceptions",
                f"line {handler.lineno} catches what any block under this context manager raises. Behind each such "
                "block let all ranks hear who failed: reduce that flag (MAX), and act on it together; or let the "
                "exception through, so that the job ends.",
            )
        return Refusal(
            "agree_on_exceptions",
            f"line {handler.lineno} catches in a generator, which is asked as often as each rank needs: hand on "
            "something for what could not be read, or raise for all ranks where its items are used.",
        )
    return _decide_to_raise(place, plain, handler, attempt) or _take_out(place, plain, handler, attempt)


def _makes_a_manager(place: PlaceToMend) -> bool:
    decorators = place.function.node.decorator_list if place.function is not None else []
    return any((dotted(each) or "").endswith("contextmanager") for each in decorators)


def _decide_to_raise(
    place: PlaceToMend, plain: bool, handler: ast.ExceptHandler, attempt: ast.Try
) -> Draft | None:
    """The exception is raised by a test in the program: all ranks decide there, and raise together."""
    guard = raising(place, handler, attempt)
    if guard is None:
        return None
    group = place.group([guard, *place.rest(guard)])
    if group == UNKNOWN:
        return None
    say = spelling(place, plain)
    say.edits.expression(guard.test, say.agree(place.module.source(guard.test), "any", group))
    return Draft(
        say.edits,
        "Raise on all ranks, or on none",
        f"A rank for which {quoted(place.module, guard.test)} is true raises, catches it at line "
        f"{handler.lineno} and goes on without the calls that the others make. All ranks now raise as soon "
        "as one has to.",
        "Exceptions that other code raises there (out of memory, a bad file) still send ranks different ways.",
    )


def raising(place: PlaceToMend, handler: ast.ExceptHandler, attempt: ast.Try) -> ast.If | None:
    """The one test of the program, in the same file, that raises what the handler catches."""
    guards: list[tuple[ast.If, Module]] = []
    for statement in attempt.body:
        for definition in called(place.code, place.module, statement):
            guards += [
                (node, definition.module)
                for node in ast.walk(definition.node)
                if isinstance(node, ast.If) and _raises(node, handler)
            ]
        guards += [
            (node, place.module)
            for node in ast.walk(statement)
            if isinstance(node, ast.If) and _raises(node, handler)
        ]
    return guards[0][0] if len(guards) == 1 and guards[0][1] is place.module else None


def _raises(node: ast.If, handler: ast.ExceptHandler) -> bool:
    if leaves(node.body) != "raise" or not isinstance(node.body[-1], ast.Raise) or node.orelse:
        return False
    raised = node.body[-1].exc
    name = getattr(raised.func if isinstance(raised, ast.Call) else raised, "id", "")
    caught = handler.type
    names = {getattr(n, "id", "") for n in (caught.elts if isinstance(caught, ast.Tuple) else [caught])}
    return caught is None or name in names or bool(names & {"Exception", "BaseException"})


def _take_out(
    place: PlaceToMend, plain: bool, handler: ast.ExceptHandler, attempt: ast.Try
) -> Draft | Refusal:
    """The calls that the others make come last in the block: they move behind it, where nothing skips them."""

    def involves(statement: ast.stmt) -> bool:
        return any(collective(event) for event in place.events([statement]))

    tail = [statement for statement in attempt.body if involves(statement)]
    kept = attempt.body[: len(attempt.body) - len(tail)]
    whole = (
        bool(tail)
        and bool(kept)
        and attempt.body[len(kept) :] == tail
        and not attempt.orelse
        and not attempt.finalbody
        and not any(leaves(h.body) for h in attempt.handlers)
    )
    made = {
        n.id for s in kept for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }
    used = {
        n.id for s in tail for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)
    }
    if not whole or made & used:
        return Refusal(
            "agree_on_exceptions",
            f"let each rank put down whether it failed at `except`, line {handler.lineno}, reduce that flag "
            "after the block (MAX), and act on the result, or let the exception end the job. What is caught on "
            "one rank, the others never hear of: decide what all ranks do when one fails there.",
        )
    edits = spelling(place, plain).edits
    for statement in tail:
        edits.remove(statement)
    edits.after(attempt, *(place.module.lines_of(statement) for statement in tail))
    return Draft(
        edits,
        "Keep calls that others wait for out of the try block",
        f"When a statement before it fails on one rank, {quoted(place.module, tail[0])} is skipped there, "
        "and the others wait in it. It now comes after the block, on every rank.",
        "A rank that failed goes on with what it has. If that is not good enough, let all ranks decide "
        "together.",
    )


ORDER = 60
PATTERN = Pattern("agree_on_exceptions", PATHS | {"raised"}, make, meets=True)
