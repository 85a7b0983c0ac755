"""In which arm of a test each side's next call stands: the way that has a call more than the other, and goes on as it.

`if key not in self.kept: self.kept[key] = all_reduce(x)` has a call more where the test is met, and what follows is the
same on both ways; so has `self.bored or self.agreed()`, whose second part is not asked where the first one tells. Two
ways with a call of their own each are two ways; nothing more or less.
"""

from __future__ import annotations

import ast

from rankandfile.source.dependence.syntax import JUMPS, if_of, spans
from rankandfile.source.effects.wrapped import last_name
from rankandfile.source.lines.call_paths import Frame
from rankandfile.source.lines.decision import Decision
from rankandfile.source.lines.divergence import Side
from rankandfile.source.lines.found_line import FoundLine


def made_one_more(found: FoundLine) -> Side | None:
    """The side that made a call inside of an arm which goes on to where the other side already is."""
    decision, divergence = found.decision, found.divergence
    if decision is None or divergence is None:
        return None
    if decision.condition.kind == "boolop":
        return _asked_further(decision, (divergence.normal, divergence.culprit))
    test = if_of(decision.place.function.node, decision.condition.node)
    if test is None:
        return None
    arms = [(side, _arm(side, decision, test)) for side in (divergence.normal, divergence.culprit)]
    inside = [(side, arm) for side, arm in arms if arm]
    if len(inside) != 1 or isinstance(inside[0][1][-1], JUMPS):
        return None
    return inside[0][0]


def _asked_further(decision: Decision, sides: tuple[Side, Side]) -> Side | None:
    """The side that is inside of what a later part of an `and`, or an `or`, calls; the other has left the function."""
    function, part, depth = decision.place.function, decision.condition.node, decision.branching.depth
    whole = next((n for n in function.nodes if isinstance(n, ast.BoolOp) and part in n.values), None)
    in_it = [(side, frame) for side in sides if (frame := _in_function(side, decision)) is not None]
    if whole is None or len(in_it) != 1:
        return None
    ((side, frame),) = in_it
    later = whole.values[whole.values.index(part) + 1 :]  # type: ignore[arg-type]
    called = {last_name(n.func) for each in later for n in ast.walk(each) if isinstance(n, ast.Call)}
    asked = {last_name(n.func) for n in ast.walk(part) if isinstance(n, ast.Call)} - called
    further = side.path[depth + 1 : depth + 2]
    inside = any(spans(each, frame.line) for each in later) and any(
        _last_name(f) not in asked for f in further
    )
    return side if inside else None


def _arm(side: Side, decision: Decision, test: ast.If) -> list[ast.stmt]:
    """Empty where its next call is in neither."""
    frame = _in_function(side, decision)
    if frame is None:
        return []
    arms = (arm for arm in (test.body, test.orelse) if any(spans(s, frame.line) for s in arm))
    return next(arms, [])


def _in_function(side: Side, decision: Decision) -> Frame | None:
    """Where it is in the function of the decision; None: it has left it."""
    own, depth = decision.branching.frame, decision.branching.depth
    frame = side.path[depth] if depth < len(side.path) else None
    if frame is None or frame.file != own.file or _last_name(frame) != _last_name(own):
        return None
    return frame


def _last_name(frame: Frame) -> str:
    """Of the function: some recorders write it with what it stands in."""
    return frame.function.rpartition(".")[2]
