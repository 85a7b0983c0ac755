"""Send and receive together: both sides of an exchange receive first, and nobody sends."""

from __future__ import annotations

import ast

from rankandfile.source.program.called import called_name
from rankandfile.source.remedies.patch import Refusal
from rankandfile.source.remedies.pattern import PATHS, Draft, Pattern, spelling
from rankandfile.source.remedies.place_to_mend import PlaceToMend
from rankandfile.source.remedies.words import quoted


def make(place: PlaceToMend, plain: bool) -> Draft | Refusal | None:
    first = place.node
    if not isinstance(first, ast.Expr):
        return None
    following = place.rest()[:1]
    pair = {_kind(first): first, **({_kind(following[0]): following[0]} if following else {})}
    if "recv" not in pair or "send" not in pair:
        if _kind(first) == "recv":
            return Refusal(
                "send_and_receive_together",
                f"{quoted(place.module, first)} waits for a rank that waits too, and its own send is not "
                "the next statement: post both with batch_isend_irecv, or let one side of each pair send "
                "first.",
            )
        return None
    around = place.module.parents.get(first)
    if isinstance(around, ast.If):
        other = around.orelse if first in around.body else around.body
        if {"send", "recv"} <= {_kind(statement) for statement in other}:
            return Refusal(
                "send_and_receive_together",
                f"{quoted(place.module, around.test)} gives each side of an exchange an order of its own, and both "
                "sides took one: let it tell neighbours apart by their places in the group, or post both in one batch "
                "in either way.",
            )
    say = spelling(place, plain)
    calls = {kind: statement.value for kind, statement in pair.items() if isinstance(statement, ast.Expr)}
    dist = _prefix(place, calls["recv"]) or f"{say.dist()}."
    operations = []
    for kind in ("send", "recv"):
        call = calls[kind]
        assert isinstance(call, ast.Call)
        given = ", ".join(place.module.source(a) for a in call.args)
        named = "".join(
            f", {'peer' if k.arg in ('src', 'dst') else k.arg}={place.module.source(k.value)}"
            for k in call.keywords
        )
        operations.append(f"{dist}P2POp({dist}i{kind}, {given}{named})")
    say.edits.replace(
        first,
        f"for work in {dist}batch_isend_irecv([\n    {operations[0]},\n    {operations[1]},\n]):\n    "
        "work.wait()",
    )
    say.edits.remove(following[0])
    return Draft(
        say.edits,
        "Post send and receive together",
        f"{quoted(place.module, first)} comes before the send on both sides: each waits for what the other "
        "has not sent yet. In one batch neither waits for the other.",
        "In a chain of many ranks, the batches of different neighbours must still come in an order that "
        "fits.",
    )


def _kind(statement: ast.stmt) -> str:
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call):
        return ""
    name = called_name(call)
    return name if name in ("send", "recv") else ""


def _prefix(place: PlaceToMend, call: ast.expr) -> str:
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
        return f"{place.module.source(call.func.value)}."
    return ""


ORDER = 20
PATTERN = Pattern("send_and_receive_together", PATHS, make)
