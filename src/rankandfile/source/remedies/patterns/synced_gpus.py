"""`synced_gpus`: generation with a sharded model goes on everywhere until the last rank is done."""

from __future__ import annotations

import ast

from rankandfile.source.remedies.edit import Edits
from rankandfile.source.remedies.patch import Refusal
from rankandfile.source.remedies.pattern import PATHS, Draft, Pattern
from rankandfile.source.remedies.place_to_mend import PlaceToMend
from rankandfile.source.remedies.words import quoted


def make(place: PlaceToMend, _plain: bool) -> Draft | Refusal | None:
    statement = place.statement()
    calls = [
        part
        for part in ast.walk(statement)
        if isinstance(part, ast.Call)
        and isinstance(part.func, ast.Attribute)
        and part.func.attr == "generate"
    ]
    if len(calls) != 1 or any(k.arg in ("synced_gpus", None) for k in calls[0].keywords):
        return None
    if place.code.module(place.module.path) is None or not _of_transformers(place):
        return None
    call = calls[0]
    edits = Edits(place.module)
    whole = place.module.source(call)
    given = whole[: whole.rindex(")")].rstrip()
    comma = "" if given.endswith(("(", ",")) else ","
    edits.expression(call, f"{given}{comma} synced_gpus=True)".replace("( ", "("))
    return Draft(
        edits,
        "Generate in step",
        f"{quoted(place.module, call)} stops on each rank at that rank's own last token, and every step of "
        "it gathers parameters from all. With synced_gpus the ranks that are done go on until all are.",
    )


def _of_transformers(place: PlaceToMend) -> bool:
    return any(
        dotted.split(".")[0] in ("transformers", "trl", "peft")
        for module in place.code.around(place.module)
        for dotted in module.imports.values()
    )


ORDER = 10
PATTERN = Pattern("synced_gpus", PATHS, make)
