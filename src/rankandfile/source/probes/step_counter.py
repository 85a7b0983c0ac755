"""Each rank counts its steps: whoever is behind, or ahead, has left a round out or gone one more."""

from __future__ import annotations

import ast

from rankandfile.source.remedies.patch import Refusal
from rankandfile.source.remedies.pattern import ORDERS, Draft, Pattern, spelling
from rankandfile.source.remedies.place_to_mend import PlaceToMend
from rankandfile.source.remedies.spelling import literal

_COUNT = '''
def {name}(what, counts={{}}):
    """A line for each round of a loop, with this rank's count of it."""
    counts[what] = counts.get(what, 0) + 1
    print(f"rank {{{dist}.get_rank()}}: round {{counts[what]}} of {{what}}", flush=True)
'''


def make(place: PlaceToMend, plain: bool) -> Draft | Refusal | None:
    node = place.node
    loop = node if isinstance(node, (ast.For, ast.While)) else place.loop()
    if loop is None or not loop.body or isinstance(loop, ast.AsyncFor):
        return None
    say = spelling(place, plain)
    where = f"the loop at {place.module.path}:{loop.lineno}"
    counted = _counter(loop)
    if not plain and counted:
        say.edits.before(loop.body[0], f"{say.guard()}.step({counted})")
        how = "Every guard, and what the recorder keeps, then names the step that the rank is at"
    else:
        name = say.helper("count_round", _COUNT)
        say.edits.before(loop.body[0], f"{name}({literal(where)})")
        how = "Each rank prints its own count of the rounds"
    return Draft(
        say.edits,
        "Which round is each rank in?",
        f"{how} of {where}. A rank whose count stands apart has left a round out, or gone one more, long "
        "before anybody waits.",
    )


def _counter(loop: ast.For | ast.While) -> str:
    """The variable that numbers the rounds, if the loop has one."""
    if not isinstance(loop, ast.For) or not isinstance(loop.iter, ast.Call):
        return ""
    name = getattr(loop.iter.func, "id", "")
    target = loop.target
    if name == "enumerate" and isinstance(target, ast.Tuple):
        target = target.elts[0]
    return (
        target.id
        if name in ("range", "enumerate") and isinstance(target, ast.Name) and target.id != "_"
        else ""
    )


ORDER = 30
PROBE = Pattern("step_counter", ORDERS, make)
