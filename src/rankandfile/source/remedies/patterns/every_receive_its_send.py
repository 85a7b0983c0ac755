"""Every receive its send: one side of a transfer leaves it out by a test that the other side cannot make."""

from __future__ import annotations

import ast

from rankandfile.source.remedies.patch import Refusal
from rankandfile.source.remedies.pattern import PATHS, Draft, Pattern, spelling
from rankandfile.source.remedies.place_to_mend import PlaceToMend
from rankandfile.source.remedies.reach import POINT_TO_POINT
from rankandfile.source.remedies.words import quoted

_SENDS = {"send", "isend"}
_RECEIVES = {"recv", "irecv"}


def make(place: PlaceToMend, plain: bool) -> Draft | Refusal | None:
    node = place.node
    if not isinstance(node, ast.If) or node.orelse or len(node.body) != 1:
        return None
    mine = _kinds(node.body[0])
    if not mine or mine >= _SENDS | _RECEIVES:
        return None
    block, _ = place.siblings()
    other = _RECEIVES if mine & _SENDS else _SENDS
    if not any(_kinds(statement) & other for statement in block if statement is not node):
        return Refusal(
            "every_receive_its_send",
            f"{quoted(place.module, node.test)} leaves a transfer out on one side, and the other side of it "
            "is elsewhere: decide it where both sides know, or send the answer along.",
        )
    edits = spelling(place, plain).edits
    edits.replace(node, place.module.lines_of(node.body[0]))
    return Draft(
        edits,
        "Make every transfer that the other side waits for",
        f"{quoted(place.module, node.test)} leaves this side of a transfer out, while the other side of it, "
        "which cannot know, is made in any case.",
        "If the filter saves something, let the sender tell the receiver first.",
    )


def _kinds(statement: ast.stmt) -> set[str]:
    """The directions of the transfers in a statement."""
    found: set[str] = set()
    for part in ast.walk(statement):
        if isinstance(part, ast.Call):
            target = part.func
            name = target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")
            if name == "P2POp" and part.args:
                kind = part.args[0]
                found.add(kind.attr if isinstance(kind, ast.Attribute) else getattr(kind, "id", ""))
            elif name in POINT_TO_POINT:
                found.add(name)
    return found & (_SENDS | _RECEIVES)


ORDER = 80
PATTERN = Pattern("every_receive_its_send", PATHS, make)
