"""Where evidence and code agree on a more exact cause than the evidence alone had.

A call was skipped or added, or another one made, or a rank left early, so the evidence says. The code can show why:

| the code shows | then it is |
| --- | --- |
| a handler swallowed what was raised in between | swallowed_exception |
| what was looked up was not there, and the handler made a call for it | extra_collective, skipped_collective |
| a handler in a loop had the same tried once more, and who caught it is in that | extra_collective |
| a `with` swallowed what was raised inside of it | swallowed_exception |
| a generator caught an exception, and its loop came to fewer items | swallowed_exception |
| the decision is on the rank itself (not for a rank that left) | rank_conditional |
| the loop over the rank's own share of the data, or what is left of it, ended, and no more varies | uneven_inputs |
| a loop over what is no count was over for them, where the others went on; why is not shown | uneven_inputs |
| it is about how much a loop around it has gathered, over a rank's own things | uneven_inputs |
| a rank that left a loop, they say, is in the same round of it | rank_conditional, extra_collective |
| a rank that left a loop, they say, is behind a test that keeps all others out | rank_conditional |
| a rank that left a loop, they say, had fewer values to reduce in it | skipped_collective |
| a rank of a circle left a loop that the others are in | early_exit |
| a rank of a circle left, by a guard, the function that the others wait in, and is behind that | skipped_collective |
| they are out of a framework's loop that the others are in | early_exit |
| of two ways, the one is behind a loop that the others are in, and no share of the data ended it | early_exit |
| of two ways, the one goes round a loop again that the others have left, by no share of the data | extra_collective |
| one loop over a dictionary or a set came to another item first | order_inversion |
| ranks wait in a circle, and the order of their calls is each rank's own | order_inversion |
| sizes, types or splits did not match in a call whose order among others is each rank's own | order_inversion |
| a decorator ran the function once more | extra_collective |
| a function that keeps its answers ran for what was new to it alone | extra_collective |
| it made a call in an arm that goes on to where the others are, by its own data | extra_collective |
| the others made a call in such an arm, or a guard clause turned it back | skipped_collective |
| a loop over things under keys, or over what the object keeps so, had one more, or less | extra_, skipped_collective |
| in a framework, or a backward pass, the one side made a call more | extra_collective, skipped_collective |

Nothing else is changed: a cause that the evidence established by itself stays, but for what did not match in a call.
That ranks took two branches is said by the evidence, too, where it shows a `try` and its `finally`.
"""

from __future__ import annotations

import ast

from rankandfile.model.heuristics import Heuristic
from rankandfile.source.dependence.syntax import ancestors, dotted, is_range, spans
from rankandfile.source.lines.call_paths import Stop, first_unlike
from rankandfile.source.lines.divergence import Side
from rankandfile.source.lines.found_line import FoundLine
from rankandfile.source.lines.of_two_cohorts.filled_collection import kept_under_keys
from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import Class, resolve
from rankandfile.source.program.places import SourcePlaces, in_loop

from .arms import made_one_more
from .own_items import gone_round_more_often, over_own_items
from .own_order import own_order
from .ways import over_for, turned_back, way_of_each

#: A decision on the rank itself is not far from where the rank is asked for.
DIRECT = 3
_CAUGHT = Heuristic("swallowed in the code", "a handler around what a rank left out swallowed an exception")
_SHARE = Heuristic("uneven in the code", "a loop over a rank's own share of the data ended early")
_LEFT = Heuristic("loop left in the code", "a circle of waits with a rank behind a loop is no other order")
_PAST = Heuristic(
    "guard gone past", "a circle of waits with a rank behind a guard's return is no other order"
)
_STAYED = Heuristic("loop not left in the code", "a rank in the same loop as the others has not left it")
_FIRST = Heuristic(
    "another item first", "a loop over a dictionary or a set takes its items in the order they came in"
)
_AGAIN = Heuristic("run again by a decorator", "a decorator that tries again ran the function once more")
_ARMS = Heuristic(
    "a call more in an arm",
    "who made a call inside an arm that goes on to where the others are made one more",
)
_OF_THE_JOB = ("rank_api", "signal", "environment")
"""What a rank is, or comes to it: its way was meant for some, or it was told to."""
_THINGS = Heuristic(
    "one thing more in the code", "a loop over things with a name went to one that the others do not have"
)
_OWN_RANK = Heuristic("rank-conditional in the code", "a decision on the rank itself made it")
_OF_TENSORS = ("size_mismatch", "dtype_mismatch", "split_mismatch")
_WITHIN = ("inside", "logged", "put_off")
_MISSED = ("KeyError", "IndexError", "LookupError")
_PATHS = {"skipped_collective", "extra_collective", "different_collective"}


def exact_cause(cause: str, found: FoundLine, places: SourcePlaces) -> str | None:
    """The cause that evidence and code agree on; None where it is the given one, or the code shows none."""
    if cause == "different_collective" and found.kind == "told":
        # One call of a library on one way: it is made of what the object holds.
        return "size_mismatch"
    if found.kind == "raised" and found.divergence is not None and cause in _PATHS | {"rank_conditional"}:
        # In what a framework calls upon an exception alone.
        return "raised"
    shown = _of_a_circle(found, places) if cause == "order_inversion" else _shown(cause, found)
    if shown is None and cause == "early_exit" and found.reason is not None and _in_the_loop(found, places):
        shown = "rank_conditional" if found.reason.source == "rank_api" else "extra_collective"
    if shown is None and cause == "early_exit":
        # Who is let in alone, or had one value less to reduce, has left that loop as it is meant.
        fewer = dict.fromkeys(("logged", "anew"), "skipped_collective")
        shown = {"barred": "rank_conditional", **fewer}.get(found.kind)
    return shown if shown != cause else None


def _in_the_loop(found: FoundLine, places: SourcePlaces) -> bool:
    """Both sides are in one loop still, and where the others are there is no other one that could have been left."""
    divergence = found.divergence
    if found.kind != "decision" or divergence is None or not divergence.settled or _STAYED.off:
        return False
    normal, culprit = divergence.normal.path, divergence.culprit.path
    depth = first_unlike(normal, culprit)
    if depth is None or normal[depth][:2] != culprit[depth][:2] or normal[depth].line >= culprit[depth].line:
        return False
    here, there, *deeper = (places.find(f) for f in (normal[depth], culprit[depth], *normal[depth + 1 :]))
    if here is None or there is None or any(p is None or not p.known or in_loop(p) for p in deeper):
        return False
    around = [
        node
        for node in here.function.nodes
        if isinstance(node, (ast.For, ast.While)) and spans(node, here.line)
    ]
    if around:
        return all(spans(node, there.line) for node in around)
    # A step, or what is wrapped around it: the loop over steps is further out, where both are on one line.
    outer = (places.find(frame) for frame in normal[:depth])
    return any(place is not None and place.known and in_loop(place) for place in outer)


def _of_a_circle(found: FoundLine, places: SourcePlaces) -> str | None:
    if _left(found):
        return "early_exit"
    return "skipped_collective" if _went_past(found, places) else None


def _went_past(found: FoundLine, places: SourcePlaces) -> bool:
    """A guard had a rank out of the function in which the others wait for it, and it waits in what comes after that:
    nobody comes to the call later, and it has no other order."""
    decision, divergence = found.decision, found.divergence
    if decision is None or divergence is None or not divergence.settled or _PAST.off:
        return False
    normal, culprit = divergence.normal.path, divergence.culprit.path
    depth = first_unlike(normal, culprit)
    if depth is None or normal[depth][:2] != culprit[depth][:2] or normal[depth].line >= culprit[depth].line:
        return False
    inside = [place.function for f in normal[depth + 1 :] if (place := places.find(f)) is not None]
    return decision.condition.kind == "if" and decision.place.function in inside


def _left(found: FoundLine) -> bool:
    """A rank left a loop, and waits for the others behind it: nobody has two calls in another order."""
    decision, divergence = found.decision, found.divergence
    if decision is None or divergence is None or not divergence.settled or _LEFT.off:
        return False
    normal, culprit = decision.outcomes
    return normal == "another round" and culprit in ("loop left", "exhausted")


def _had_fewer(found: FoundLine) -> bool:
    """The loop came to its end on the ranks that diverged, and to another round on the others."""
    assert found.decision is not None
    condition, (normal, culprit) = found.decision.condition, found.decision.outcomes
    is_over = condition.kind == "for" and normal == "another round" and culprit == "exhausted"
    return is_over and not is_range(condition.node)


def _swallowed(found: FoundLine) -> bool:
    """On the ranks that diverged."""
    assert found.decision is not None
    return found.decision.outcomes[1] == "swallowed"


def _by_its_data(cause: str, found: FoundLine) -> str | None:
    """What a decision made the rank do: a call more than the others, or less."""
    assert found.divergence is not None
    if cause == "early_exit" or _ARMS.off:
        return None
    more = made_one_more(found)
    if more is not None:
        return "extra_collective" if more is found.divergence.culprit else "skipped_collective"
    return turned_back(found) if cause in ("rank_conditional", "skipped_collective") else None


def _of_things(found: FoundLine) -> str | None:
    """One thing more than the others have to go over is a call more; one less is a call less."""
    return _over(over_for(found), found)


def _over(side: Side | None, found: FoundLine) -> str | None:
    """`side`: for which the loop was over."""
    if side is None or found.divergence is None or _THINGS.off:
        return None
    return "skipped_collective" if side is found.divergence.culprit else "extra_collective"


def _of_keys(found: FoundLine) -> str | None:
    """The same of what its object keeps under keys: that it has not met one of them is no end of its data."""
    decision, divergence = found.decision, found.divergence
    if decision is None or divergence is None or decision.condition.kind not in ("for", "comprehension"):
        return None
    node = decision.condition.node
    items = node.iter if isinstance(node, ast.comprehension) else node
    if not isinstance(items, ast.expr) or not kept_under_keys(decision.place, items):
        return None
    ways = way_of_each(decision, divergence)
    return _over(ways.get("exhausted") or ways.get("no more items"), found)


def _made_within(cause: str, found: FoundLine) -> str | None:
    """A framework, or a backward pass, made a call on one side only; not by what a rank is, as far as it shows."""
    of_the_job = found.reason is not None and found.reason.source in _OF_THE_JOB
    if cause not in ("rank_conditional", "different_collective") or of_the_job or _ARMS.off:
        return None
    if found.divergence is None or not found.singled:
        return None
    return "extra_collective" if found.singled == found.divergence.culprit.members else "skipped_collective"


def _looks_up(function: Function, handler: ast.ExceptHandler) -> bool:
    """Whether all that is tried is to look something up, in one statement that calls nothing of the program."""
    types = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    tried = next(iter(ancestors(function.module, handler)), None)
    body = getattr(tried, "body", [])
    calls = [n for one in body for n in ast.walk(one) if isinstance(n, ast.Call)]
    own = any(isinstance(resolve(function, call.func), Function | Class) for call in calls)
    return len(body) == 1 and not own and all(dotted(one) in _MISSED for one in types)


def _on_a_miss(found: FoundLine) -> str | None:
    """Who did not find something where it looked made a call for it, in the handler: that is no failure it kept."""
    if found.decision is None:
        return None
    handler, ways = found.decision.condition.node, found.decision.branching
    if not isinstance(handler, ast.ExceptHandler) or not _looks_up(found.decision.place.function, handler):
        return None
    for way, cause in ((ways.culprit, "extra_collective"), (ways.normal, "skipped_collective")):
        if isinstance(way, Stop) and spans(handler, way.line):
            return cause
    return None


def _shown(cause: str, found: FoundLine) -> str | None:
    if cause == "undetermined" or cause in _OF_TENSORS:
        # Calls in another order meet with other arguments, too.
        return "order_inversion" if own_order(found) else None
    if (
        cause not in _PATHS | {"early_exit", "rank_conditional"}
        or found.divergence is None
        or not found.divergence.settled
    ):
        return None
    if found.kind == "caught":
        if _CAUGHT.off:
            return None
        if not found.tried_again:
            return _on_a_miss(found) or "swallowed_exception"
        return "extra_collective" if found.singled == found.divergence.culprit.members else None
    if found.kind == "dropped":
        return "swallowed_exception" if cause != "early_exit" and not _CAUGHT.off else None
    if found.kind == "ended":
        # That they are out of a loop which the others are in shows, whatever ended it.
        return "early_exit" if found.singled == found.divergence.culprit.members else None
    if found.kind == "share":
        return None if _SHARE.off else "uneven_inputs"
    if found.kind == "items" and found.unordered:
        return None if _FIRST.off else "order_inversion"
    if found.kind == "again":
        return None if _AGAIN.off else "extra_collective"
    if found.kind == "kept":
        return "extra_collective" if found.singled == found.divergence.culprit.members else None
    if found.kind == "keyed":
        return _of_things(found)
    if found.kind in _WITHIN:
        return _made_within(cause, found)
    if found.kind not in ("decision", "changed") or found.decision is None or found.reason is None:
        return None
    if (keys := _of_keys(found)) is not None:
        return keys
    structural = None if found.reason.source in _OF_THE_JOB else _by_its_data(cause, found)
    if found.decision.condition.kind == "with" and _swallowed(found) and cause in _PATHS and not _CAUGHT.off:
        return "swallowed_exception"
    if found.reason.level != "varying":
        had_fewer = cause == "rank_conditional" and found.reason.level == "unknown" and _had_fewer(found)
        return "uneven_inputs" if had_fewer and not _SHARE.off else structural
    if found.decision.condition.kind == "for" and over_own_items(found):
        return None if _SHARE.off else "uneven_inputs"
    if structural is not None:
        return structural
    if cause == "rank_conditional":
        over = over_for(found) if found.reason.source != "rank_api" and not _LEFT.off else None
        if over is None:
            return None
        return "early_exit" if over is found.divergence.culprit else "extra_collective"
    if cause in _PATHS and gone_round_more_often(found):
        return None if _SHARE.off else "uneven_inputs"
    if cause in _PATHS and found.reason.source == "rank_api" and len(found.reason.chain) <= DIRECT:
        return None if _OWN_RANK.off else "rank_conditional"
    return None
