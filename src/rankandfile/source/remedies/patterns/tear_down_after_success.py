"""Tear down after success only: a collective in `finally` waits for ranks that have failed, and hides why they did."""

from __future__ import annotations

import ast

from rankandfile.source.remedies.code import Module
from rankandfile.source.remedies.edit import Edits
from rankandfile.source.remedies.pattern import Draft, Pattern
from rankandfile.source.remedies.place_to_mend import PlaceToMend
from rankandfile.source.remedies.reach import called, collective, events
from rankandfile.source.remedies.words import quoted


def make(place: PlaceToMend, _plain: bool) -> Draft | None:
    found = around(place)
    if found is None:
        return None
    module, attempt = found
    edits = Edits(module)
    edits.replace(attempt, *(module.lines_of(s) for s in (*attempt.body, *attempt.finalbody)))
    return Draft(
        edits,
        "Tear down after success only",
        f"When one rank fails, {quoted(module, attempt.finalbody[0])} still runs on it, and waits for ranks "
        "that are in another call. Without `finally` the exception ends the process at once, is printed, "
        "and the launcher ends the others.",
        "Files and threads of this rank alone may be closed in `finally`; nothing that others take part in.",
    )


def around(place: PlaceToMend) -> tuple[Module, ast.Try] | None:
    """The one `try` whose `finally` tears the job down, and which the place is called from."""
    inner = place.function
    found = [
        (module, attempt)
        for module in place.code.around(place.module)
        for attempt in module.nodes
        if isinstance(attempt, ast.Try) and not attempt.handlers and _tears_down(place, module, attempt)
    ]
    callers = [
        (module, attempt)
        for module, attempt in found
        if inner is not None
        and any(d.node is inner.node for s in attempt.body for d in called(place.code, module, s))
    ]
    return callers[0] if len(callers) == 1 else None


def _tears_down(place: PlaceToMend, module: Module, attempt: ast.Try) -> bool:
    if any(collective(event) for event in events(place.code, module, attempt.finalbody)):
        return True
    nodes: list[ast.AST] = [*attempt.finalbody]
    nodes += [d.node for s in attempt.finalbody for d in called(place.code, module, s)]
    return any(
        isinstance(part, ast.Attribute) and part.attr == "destroy_process_group"
        for node in nodes
        for part in ast.walk(node)
    )


ORDER = 170
PATTERN = Pattern("tear_down_after_success", frozenset({"raised", "teardown_only", "exited"}), make)
