"""One order of iteration: items that all ranks hold are taken in an order that all ranks have."""

from __future__ import annotations

import ast

from rankandfile.source.dependence.syntax import of_a_dictionary
from rankandfile.source.program.called import called_name
from rankandfile.source.remedies.patch import Refusal
from rankandfile.source.remedies.pattern import ORDERS, Draft, Pattern, spelling
from rankandfile.source.remedies.place_to_mend import PlaceToMend, names
from rankandfile.source.remedies.words import quoted


def make(place: PlaceToMend, plain: bool) -> Draft | Refusal | None:
    node = _loop(place)
    if node is None:
        return None
    items = node.iter
    if (asked := _as_done(items)) is not None:
        return _in_order_asked(place, plain, items, asked)
    if place.problem.cause == "order_inversion" and of_a_dictionary(items):
        return Refusal(
            "same_order",
            f"{quoted(place.module, items)} come in the order in which each rank put them in: take them in the order "
            "of their keys, and see that all ranks hold the same ones, as a key that one lacks hangs all the same.",
        )
    if not (isinstance(items, ast.Call) and isinstance(items.func, ast.Name)):
        return None
    if items.func.id in ("set", "frozenset") and items.args:
        return _sorted(place, plain, items, place.module.source(items))
    ordered = next((k.value for k in items.keywords if k.arg == "key"), None)
    if items.func.id != "sorted" or ordered is None or not items.args:
        return None
    held = items.args[0]
    if _keeps_order(place, held):
        edits = spelling(place, plain).edits
        edits.expression(items, place.module.source(held))
        return Draft(
            edits,
            "Take the items in the order they are kept in",
            f"{quoted(place.module, items)} orders by a value that each rank computes for itself, and a "
            "collective is called for each item: different items meet. The order in which they are kept is "
            "the same everywhere.",
            f"If the order matters, the first rank must choose it for all. {quoted(place.module, ordered)} "
            "may have no other use left.",
        )
    if _holds_names(place, node, held):
        return _sorted(place, plain, items, place.module.source(held))
    return Refusal(
        "same_order",
        f"{quoted(place.module, items)} orders by a value of this rank alone, and the code does not show "
        f"what else all ranks could order {quoted(place.module, held)} by: choose a key that is the same "
        "everywhere.",
    )


def _as_done(items: ast.expr) -> str | None:
    """The name of a call that gives things in the order in which they are done."""
    if not isinstance(items, ast.Call) or not items.args:
        return None
    name = called_name(items)
    return name if name in ("as_completed", "imap_unordered") else None


def _in_order_asked(place: PlaceToMend, plain: bool, items: ast.expr, name: str) -> Draft | Refusal:
    assert isinstance(items, ast.Call)
    edits = spelling(place, plain).edits
    if name == "imap_unordered" and isinstance(items.func, ast.Attribute):
        edits.expression(items.func, f"{place.module.source(items.func.value)}.imap")
    elif len(items.args) == 1 and not items.keywords and _keeps_order(place, items.args[0]):
        edits.expression(items, place.module.source(items.args[0]))
    else:
        return Refusal(
            "same_order",
            f"{quoted(place.module, items)} gives what is done first, which is another thing on each rank: wait for "
            "all of them, and take them in one order.",
        )
    return Draft(
        edits,
        "Take the items in the order in which they were asked for",
        f"{quoted(place.module, items)} gives what is done first, and a collective is called for each item: "
        "different items meet. They are all asked for before the first is waited for, as now.",
    )


def _loop(place: PlaceToMend) -> ast.For | ast.comprehension | None:
    """The loop that decides; the one around, where the decision is about its item."""
    node = place.node
    if isinstance(node, (ast.For, ast.comprehension)):
        return node
    loop = place.loop() if isinstance(node, ast.If) else None
    about = isinstance(node, ast.If) and isinstance(loop, ast.For) and names(loop.target) & names(node.test)
    return loop if about and isinstance(loop, ast.For) else None


def _sorted(place: PlaceToMend, plain: bool, items: ast.Call, held: str) -> Draft:
    edits = spelling(place, plain).edits
    edits.expression(items, f"sorted({held})")
    return Draft(
        edits,
        "Take the items in the order of their names",
        f"The order of {quoted(place.module, items)} is this rank's own, and a collective is called for "
        "each item: different items meet. Their names order them alike everywhere.",
        "The ranks must hold the same items; where they may not, gather the names first.",
    )


def _keeps_order(place: PlaceToMend, held: ast.expr) -> bool:
    """The items come as a list or tuple, which each rank builds by the same code."""
    if isinstance(held, (ast.List, ast.Tuple, ast.ListComp)):
        return True
    if isinstance(held, ast.Call):
        name = called_name(held)
        if name in (
            "list",
            "tuple",
            "parameters",
            "named_parameters",
            "modules",
            "children",
            "enumerate",
            "zip",
        ):
            return True
        from rankandfile.source.remedies.reach import resolve

        found = resolve(place.code, place.module, held.func)
        returned = [
            part.value
            for d in found
            for part in ast.walk(d.node)
            if isinstance(part, ast.Return) and part.value
        ]
        return bool(returned) and all(isinstance(v, (ast.List, ast.Tuple, ast.ListComp)) for v in returned)
    if isinstance(held, ast.Name) and place.function is not None:
        values = [
            part.value
            for part in ast.walk(place.function.node)
            if isinstance(part, ast.Assign)
            and any(isinstance(t, ast.Name) and t.id == held.id for t in part.targets)
        ]
        return bool(values) and all(_keeps_order(place, v) for v in values if not _is(v, held))
    return False


def _is(value: ast.expr, name: ast.Name) -> bool:
    return isinstance(value, ast.Name) and value.id == name.id


def _holds_names(place: PlaceToMend, node: ast.For | ast.comprehension, held: ast.expr) -> bool:
    """A mapping that is looked up by the items: they are its keys."""
    if not isinstance(node.target, ast.Name) or not isinstance(held, (ast.Name, ast.Attribute)):
        return (
            isinstance(held, ast.Call) and isinstance(held.func, ast.Attribute) and held.func.attr == "keys"
        )
    body = place.module.parents[node] if isinstance(node, ast.comprehension) else node
    said = ast.dump(held)
    return any(
        isinstance(part, ast.Subscript)
        and ast.dump(part.value) == said
        and isinstance(part.slice, ast.Name)
        and part.slice.id == node.target.id
        for part in ast.walk(body)
    )


ORDER = 40
PATTERN = Pattern("same_order", ORDERS, make, meets=True)
