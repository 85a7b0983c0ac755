"""What else a test of the rank asks for, `rank == 0 and step % 4 == 3`: a call that is taken out of it is made in no
more rounds than before, where a round more of it would change the numbers."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from rankandfile.source.dependence import why
from rankandfile.source.dependence.reaching_assignments import reaching
from rankandfile.source.program.called import called_name
from rankandfile.source.remedies.indentation import indented
from rankandfile.source.remedies.place_to_mend import PlaceToMend
from rankandfile.source.remedies.reach import TRAINS, Event, called, collective

_WRITES_ITS_ARGUMENT = TRAINS | {
    *("all_reduce", "all_reduce_coalesced", "reduce", "broadcast", "broadcast_object_list"),
    *("scatter", "clip_grad_norm_", "recv", "irecv"),
}
_MAKES = {"tensor", "zeros", "ones", "full", "empty", "clone", "stack", "cat", "new_tensor", "zeros_like"}
_ASKS = {"len", "bool", "int", "min", "max", "abs"}


def under_other_parts(
    place: PlaceToMend, node: ast.If, asking: Sequence[ast.expr], parts: Sequence[ast.expr], moved: list[str]
) -> list[str] | None:
    """The statements that are taken out, under what else the test asks for; as they are, where they may be run in any
    round. None: they would change the numbers of rounds that had none of them."""
    rest = [part for part in parts if part not in asking]
    if not rest:
        return moved
    if all(_same_on_all(place, part) for part in rest) and not _changed(place, node, rest):
        test = " and ".join(
            f"({code})" if isinstance(part, ast.BoolOp) else code
            for part in rest
            if (code := place.module.source(part))
        )
        return [f"if {test}:\n" + "\n".join(indented(code, "    ", "    ") for code in moved)]
    return None if _write_what_lives_on(place, node) else moved


def _same_on_all(place: PlaceToMend, part: ast.expr) -> bool:
    """It comes out alike on all ranks, and may be asked twice."""
    alone = all(
        not isinstance(one, (ast.NamedExpr, ast.Await, ast.Yield))
        and (not isinstance(one, ast.Call) or getattr(one.func, "id", "") in _ASKS)
        for one in ast.walk(part)
    )
    return alone and why(place.code.program, place.in_program, part).level == "uniform"


def _changed(place: PlaceToMend, node: ast.If, parts: Iterable[ast.expr]) -> bool:
    """What the branch does may change what is asked for."""
    asked = {n.attr if isinstance(n, ast.Attribute) else n.id for part in parts for n in _named(part)}
    inside: list[ast.AST] = [
        *node.body,
        *(d.node for s in node.body for d in called(place.code, place.module, s)),
    ]
    return any(
        not isinstance(n.ctx, ast.Load) and (n.attr if isinstance(n, ast.Attribute) else n.id) in asked
        for one in inside
        for n in _named(one)
    )


def _named(node: ast.AST) -> Iterable[ast.Name | ast.Attribute]:
    return (n for n in ast.walk(node) if isinstance(n, (ast.Name, ast.Attribute)))


def _write_what_lives_on(place: PlaceToMend, node: ast.If) -> bool:
    """A collective in the branch leaves its result in a tensor that is there afterwards, and not in a copy of it."""
    return any(
        event.name in _WRITES_ITS_ARGUMENT and not _writes_its_own(place, event)
        for event in place.events(node.body)
        if collective(event) or event.name in TRAINS
    )


def _writes_its_own(place: PlaceToMend, event: Event) -> bool:
    """It is in a function that is called, and is given what that function itself has made."""
    module = place.code.program.module(event.path)
    function = module.function_at(event.line) if module is not None else None
    if function is None or function is place.in_program:
        return False
    calls = [n for n in function.nodes if isinstance(n, ast.Call) and _is(n, event)]
    given = calls[0].args[0] if len(calls) == 1 and calls[0].args else None
    if not isinstance(given, ast.Name):
        return False
    made = [
        d.value
        for d in reaching(function).everywhere(given.id)
        if d.how not in ("mutate", "augment", "agreed")
    ]
    return bool(made) and all(value is not None and _is_new(value) for value in made)


def _is(call: ast.Call, event: Event) -> bool:
    return call.lineno == event.line and called_name(call) == event.name


def _is_new(value: ast.expr) -> bool:
    if isinstance(value, ast.Call):
        return called_name(value) in _MAKES
    return isinstance(value, ast.BinOp)
