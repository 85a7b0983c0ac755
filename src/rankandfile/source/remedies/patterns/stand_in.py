"""Take part with nothing: a rank that has no input runs the module, or reduces the gradient, on zeros."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rankandfile.source.remedies.patch import Refusal
from rankandfile.source.remedies.pattern import PATHS, Draft, Pattern, spelling
from rankandfile.source.remedies.place_to_mend import PlaceToMend, present
from rankandfile.source.remedies.reach import UNKNOWN, collective
from rankandfile.source.remedies.words import quoted


def make(place: PlaceToMend, plain: bool) -> Draft | Refusal | None:
    node = place.node
    if not isinstance(node, ast.If) or node.orelse:
        return None
    held = present(node.test)
    if held is None:
        return None
    if isinstance(held, ast.Attribute) and held.attr == "grad":
        return _zero_gradient(place, plain, node, held)
    return _empty_input(place, plain, node, held)


def _zero_gradient(place: PlaceToMend, plain: bool, node: ast.If, held: ast.Attribute) -> Draft | None:
    if not any(collective(event) for event in place.events(node.body)):
        return None
    say = spelling(place, plain)
    gradient, parameter = place.module.source(held), place.module.source(held.value)
    say.edits.replace(
        node,
        f"if {gradient} is None:\n    {gradient} = {say.torch()}.zeros_like({parameter})\n",
        *(place.module.lines_of(statement) for statement in node.body),
    )
    return Draft(
        say.edits,
        "Reduce zeros for what was not used",
        "A parameter that this rank's input did not use has no gradient, and "
        f"{quoted(place.module, node.test)} leaves its reduction out, while the others wait. Zeros are what "
        "it contributes.",
        "The optimizer now also steps such parameters, with the gradient of the other ranks, as it should.",
    )


def _empty_input(place: PlaceToMend, plain: bool, node: ast.If, held: ast.expr) -> Draft | Refusal | None:
    if len(node.body) != 1 or not isinstance(node.body[0], ast.Assign) or len(node.body[0].targets) != 1:
        return _refusal(place, node, held)
    statement = node.body[0]
    target, call = statement.targets[0], statement.value
    given = [a for a in call.args if ast.dump(a) == ast.dump(held)] if isinstance(call, ast.Call) else []
    if not isinstance(target, (ast.Name, ast.Attribute)) or len(given) != 1 or not isinstance(call, ast.Call):
        return _refusal(place, node, held)
    beside = (a for a in (*call.args, *(k.value for k in call.keywords)) if a is not given[0])
    if not _bound_before(place, target) or any(_comes_with(place, held, other) for other in beside):
        return _refusal(place, node, held)
    group = place.group(node.body)
    if group == UNKNOWN:
        return _refusal(place, node, held)
    say = spelling(place, plain)
    name, value = place.module.source(held), place.module.source(target)
    own = f"has_{name.split('.')[-1]}"
    result = f"{value.split('.')[-1]}_of_all"
    arguments = ", ".join("stand_in" if a is given[0] else place.module.source(a) for a in call.args)
    named = "".join(f", {k.arg}={place.module.source(k.value)}" for k in call.keywords if k.arg)
    if {own, result, "stand_in"} & place.module.names:
        return _refusal(place, node, held)
    say.edits.replace(
        node,
        f"stand_in = {say.stand_in(name, group)}\n"
        f"if stand_in is not None:\n"
        f"    {result} = {place.module.source(call.func)}({arguments}{named})\n"
        f"    {value} = {result} if {name} is not None else {value} + 0.0 * {result}.sum()\n",
    )
    return Draft(
        say.edits,
        "Run the module on zeros where there is no input",
        f"A rank without {quoted(place.module, held)} leaves out {quoted(place.module, call)}, whose "
        "forward and backward the other ranks cannot run without it. It now runs it on zeros, and what "
        "comes out counts for nothing.",
        "The zeros have the shape of another rank's input. If the module keeps statistics of its input "
        "(batch norm), give it a real sample instead.",
    )


def _comes_with(place: PlaceToMend, held: ast.expr, other: ast.expr) -> bool:
    """Whether the two are parts of one thing, as a batch's images and the rows that they belong to: where the one is
    not there, the other is not, or is of another length."""
    if isinstance(held, (ast.Attribute, ast.Subscript)):
        whole = ast.dump(held.value)
        parts = (p for p in ast.walk(other) if isinstance(p, (ast.Attribute, ast.Subscript)))
        return any(ast.dump(part.value) == whole for part in parts)
    names = {node.id for node in ast.walk(other) if isinstance(node, ast.Name)}
    return any(
        isinstance(held, ast.Name) and held.id in together and names & (together - {held.id})
        for together in _unpacked(place.in_program.node)
    )


def _unpacked(function: ast.AST) -> Iterator[set[str]]:
    """Names that are given their values together: `images, owners = batch`, `for images, owners in loader`."""
    for node in ast.walk(function):
        if isinstance(node, (ast.Tuple, ast.List)) and isinstance(node.ctx, ast.Store):
            yield {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def _bound_before(place: PlaceToMend, target: ast.expr) -> bool:
    """The result has a value already where the branch is not taken."""
    said = ast.dump(target)
    block, at = place.siblings()
    return any(
        isinstance(statement, ast.Assign) and any(ast.dump(t) == said for t in statement.targets)
        for statement in block[:at]
    )


def _refusal(place: PlaceToMend, node: ast.If, held: ast.expr) -> Refusal | None:
    if not place.leads_to(node, place.problem.sites):
        return None
    return Refusal(
        "stand_in",
        f"ranks without {quoted(place.module, held)} must still make the calls under "
        f"{quoted(place.module, node.test)}: decide what empty input looks like there, run the code on it, "
        "and multiply what comes out by zero.",
    )


ORDER = 70
PATTERN = Pattern("stand_in", PATHS, make, meets=True)
