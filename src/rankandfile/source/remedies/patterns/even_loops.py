"""Even loops: ranks that go round unequally often go round together, as often as the one with the least."""

from __future__ import annotations

import ast

from rankandfile.source.remedies.patch import Refusal
from rankandfile.source.remedies.pattern import PATHS, Draft, Pattern, spelling
from rankandfile.source.remedies.place_to_mend import PlaceToMend
from rankandfile.source.remedies.reach import UNKNOWN
from rankandfile.source.remedies.tried_again import tried_again
from rankandfile.source.remedies.words import quoted

_ORDERING = {"sorted", "set", "frozenset"}


#: What a dictionary or a module hands out: each item is somebody's own.
_NAMED = {
    *("items", "keys", "values", "parameters", "named_parameters", "buffers", "named_buffers", "modules"),
    *("named_modules", "children", "named_children", "state_dict"),
}


def make(place: PlaceToMend, plain: bool) -> Draft | Refusal | None:
    node = place.node
    if not isinstance(node, (ast.For, ast.comprehension)):
        return None
    items = node.iter
    if place.problem.cause == "order_inversion":
        return None
    name = items.func.id if isinstance(items, ast.Call) and isinstance(items.func, ast.Name) else ""
    if name in _ORDERING:
        return None  # as many items, in another order
    if _named(items) or _keyed(place, node):
        return Refusal(
            "even_loops",
            f"{quoted(place.module, items)} are things with a name, and not so many of a kind: to end the loop early "
            "would leave some out, and pair what belongs to others. Let all ranks hold the same ones, in one order.",
        )
    if (again := tried_again(place)) is not None:
        return Refusal(
            "even_loops",
            f"an exception can end the loop over {quoted(place.module, items)}, and {again[0]}:{again[1]} catches it "
            "and goes on: the ranks must agree there on whether to begin again.",
        )
    body: list[ast.AST] = [*node.body] if isinstance(node, ast.For) else [place.module.parents[node]]
    if isinstance(node, ast.comprehension) and not place.problem.sites and not place.events(body):
        # Nobody was seen to part here, and its rounds make no calls: cut short, it would only lose what it gathers.
        return None
    if isinstance(node, ast.For) and place.holds_all(node, place.problem.sites):
        return Refusal(
            "even_loops",
            f"all ranks were in a round of the loop over {quoted(place.module, items)} when they went different "
            "ways: it is not the number of rounds that differs, but what they do in one. Look for the decision "
            "inside.",
        )
    if isinstance(node, ast.comprehension) and isinstance(place.module.parents[node], ast.DictComp):
        return Refusal(
            "even_loops",
            f"the ranks have keys of their own in {quoted(place.module, items)}: cut to one length, values of "
            "different keys would be taken for one. Give every rank the same keys, with a value for those that it "
            "has not met.",
        )
    group = place.group(body)
    if group == UNKNOWN:
        return Refusal(
            "even_loops",
            f"the ranks that must go round {quoted(place.module, items)} equally often form a group without "
            "a name at this place: agree on the number of rounds over that group.",
        )
    say = spelling(place, plain)
    if name == "range" and isinstance(items, ast.Call) and len(items.args) == 1:
        count = items.args[0]
        say.edits.expression(count, say.fewest(place.module.source(count), group))
        return Draft(
            say.edits,
            "Agree on the number of rounds",
            f"{quoted(place.module, count)} is not the same number on every rank, and each round has calls "
            "that all must make. The ranks now agree on the smallest of their numbers before the first "
            "round.",
            "If the number comes from a setting, it should be one setting for the job: read it on one "
            "rank, and hand it to the others.",
        )
    say.edits.expression(items, say.in_step(place.module.source(items), group))
    return Draft(
        say.edits,
        "Stop all ranks with the one that has the least",
        f"{quoted(place.module, items)} does not hold equally many items on every rank, and each round has "
        "calls that all must make. The loop now ends on all ranks when the first has no item left.",
        "Items that other ranks still have are left over. Cut or pad the shards to one length where none "
        "may be lost; torch's Join goes on with the ranks that have some, for DDP alone.",
    )


def _named(items: ast.expr) -> bool:
    while isinstance(items, ast.Call) and isinstance(items.func, ast.Name) and items.args:
        items = items.args[0]  # enumerate(...), list(...)
    return isinstance(items, ast.Call) and isinstance(items.func, ast.Attribute) and items.func.attr in _NAMED


def _keyed(place: PlaceToMend, node: ast.For | ast.comprehension) -> bool:
    """The items are keys, of what the loop goes over or of something else."""
    whole, target = ast.unparse(node.iter), ast.unparse(node.target)
    counted = isinstance(node.iter, ast.Call) and ast.unparse(node.iter.func) == "range"
    inside = [part for body in node.body for part in ast.walk(body)] if isinstance(node, ast.For) else []
    if not counted and any(isinstance(n, ast.Subscript) and ast.unparse(n.slice) == target for n in inside):
        return True
    for part in ast.walk(place.module.tree):
        if (
            isinstance(part, ast.Subscript)
            and ast.unparse(part.value) == whole
            and ast.unparse(part.slice) == target
        ):
            return True
        if isinstance(part, ast.Attribute) and part.attr in _NAMED and ast.unparse(part.value) == whole:
            return True
    return False


ORDER = 50
PATTERN = Pattern("even_loops", PATHS, make, meets=True)
