"""Groups by all: every rank makes every group, members or not, in one order."""

from __future__ import annotations

import ast

from rankandfile.source.dependence.syntax import asked_first
from rankandfile.source.remedies.later_uses import group_upon_answer, makes_groups
from rankandfile.source.remedies.patch import Refusal
from rankandfile.source.remedies.pattern import Draft, Pattern, spelling
from rankandfile.source.remedies.place_to_mend import PlaceToMend
from rankandfile.source.remedies.words import quoted


def make(place: PlaceToMend, plain: bool) -> Draft | Refusal | None:
    node = place.node
    if not isinstance(node, ast.If):
        return None
    other = place.otherwise(node)
    calls = [call for statement in (*node.body, *other) for call in makes_groups(statement)]
    if not calls or group_upon_answer(place, node):
        # What each rank makes of the answer besides would still differ: the answer is what they have to agree on.
        return None
    # That all ranks come by would not help: who asks for which group, and when, differs.
    if asked_first(node):
        return Refusal(
            "groups_by_all",
            f"{quoted(place.module, calls[0])} is made when it is first asked for, and not all ranks ask for the same: "
            "make all groups on all ranks at the start, in one order, and only look them up from then on.",
        )
    stored = {
        part.id
        for statement in (*node.body, *other)
        for part in ast.walk(statement)
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
    }
    for call in calls:
        local = {part.id for part in ast.walk(call) if isinstance(part, ast.Name)} & stored
        if local or any(k.arg == "use_local_synchronization" for k in call.keywords):
            return Refusal(
                "groups_by_all",
                f"{quoted(place.module, call)} is made by some ranks only, from what is worked out on the "
                "way: work the members of every group out on every rank, and make all groups in one order "
                "before the branch.",
            )
    edits = spelling(place, plain).edits
    names = [_name(place, number) for number in range(1, len(calls) + 1)]
    edits.before(node, *(f"{name} = {place.module.source(c)}" for name, c in zip(names, calls, strict=True)))
    for name, call in zip(names, calls, strict=True):
        edits.expression(call, name)
    return Draft(
        edits,
        "Make every group on every rank",
        f"new_group involves all ranks, also those that are no members, and ranks that take other ways at "
        f"{quoted(place.module, node.test)} make other groups. All are made before it now, in one order.",
    )


def _name(place: PlaceToMend, number: int) -> str:
    name = f"group_{number}"
    while name in place.module.names:
        name += "_"
    return name


ORDER = 130
PATTERN = Pattern("groups_by_all", frozenset({"group_mismatch", "init_stuck"}), make)
