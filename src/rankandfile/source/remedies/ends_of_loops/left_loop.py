"""When all ranks leave a loop that each would leave by what it finds itself: with the first of them, or the last."""

from __future__ import annotations

import ast

from rankandfile.source.remedies.answer import OneAnswer
from rankandfile.source.remedies.place_to_mend import PlaceToMend, trains

from .tried_again import goes_on_for_its_answer
from .until_close import ends_by_its_work


def of_while(place: PlaceToMend, node: ast.While, said: str) -> OneAnswer:
    if goes_on_for_its_answer(place, node) or ends_by_its_work(place, node, node):
        return OneAnswer(
            "any",
            "Go on until the last rank is done",
            f"Whoever finds {said} false leaves the loop with what it is for, and the others are still at it. All "
            "ranks now go on while it is true on one (MAX of the ranks' answers), so that none leaves without.",
            "A rank that is done goes round with what it has: what a round more does to it must be harmless.",
        )
    return OneAnswer(
        "all",
        "Go on only while all ranks go on",
        f"Whoever finds {said} false leaves the loop. All ranks now leave it in the same round.",
        "What is left on the others is not worked on: pad the work, if none may be lost.",
    )


def of_way_out(place: PlaceToMend, node: ast.If, said: str) -> OneAnswer | None:
    """Of a `break` or `return` that ends the loop; none where it is one that may end for all with the first."""
    if ends_by_its_work(place, node, place.loop()) == "near":
        return OneAnswer(
            "all",
            "Leave the loop when the last rank is done",
            f"A rank for which {said} is true is near enough to what the loop is for, and the others are still at it. "
            "All ranks now leave it once it is true on every one (MIN of the ranks' answers).",
            "A rank that is done goes round with what it has: what a round more does to it must be harmless.",
        )
    if _decodes(place):
        return OneAnswer(
            "all",
            "Leave the loop when the last rank is done",
            f"A rank for which {said} is true stops calling the model, and the calls inside it need every "
            "rank. A rank that is done now keeps the others company until all are.",
            "What a finished rank makes in the meantime must be cut off afterwards.",
        )
    return None


def grown_out(place: PlaceToMend, node: ast.If, said: str) -> str:
    """Why nobody but its author can say whether a loop that ends above a bound ends for all with the first."""
    if ends_by_its_work(place, node, place.loop()) != "grown":
        return ""
    return (
        f"{said} ends the loop once what this rank works out has grown above a bound. The code does not show whether "
        "that is what the loop is for, and the last rank must come to it, or a reason for all to give up: let all "
        "ranks reduce the value before they ask, with MIN or with MAX."
    )


def _decodes(place: PlaceToMend) -> bool:
    """The loop runs a model without training it: to generate, or to evaluate."""
    loop, function = place.loop(), place.function
    if loop is None or trains(place.events(loop.body)):
        return False
    without = {"no_grad", "inference_mode"}
    around = {
        part.attr if isinstance(part, ast.Attribute) else getattr(part, "id", "")
        for outer in place.module.enclosing(loop)
        if isinstance(outer, ast.With)
        for item in outer.items
        for part in ast.walk(item.context_expr)
    }
    return bool(without & (around | (function.decorators() if function else set())))
