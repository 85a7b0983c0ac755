"""The one decision that stands between two ways, though nothing shows that it can differ: better than none."""

from __future__ import annotations

import ast

from msgspec.structs import replace

from rankandfile.model.heuristics import heuristic
from rankandfile.source.dependence.written.changed import changed_inside
from rankandfile.source.lines.decision import Decision, decisions
from rankandfile.source.lines.divergence import CodeDivergence
from rankandfile.source.lines.exception_origin import catcher
from rankandfile.source.lines.found_line import FoundLine, Search
from rankandfile.source.lines.from_logs.told_by_log import kept_by_manager
from rankandfile.source.program.called import called_name
from rankandfile.source.program.places import in_loop

from .decided import decided
from .filled_collection import attributes, filling_methods
from .two_ways import begins_anew, branchings_of, sides_of


@heuristic(
    "in plain sight", "the only test between two ways decided, though nothing shows that it can differ"
)
def in_plain_sight(search: Search, found: list[CodeDivergence]) -> FoundLine | None:
    """The one decision that stands between the two ways, though nothing shows that it can differ: better than none."""
    for divergence in found:
        seen = divergence.normal.call is None or divergence.culprit.call is None
        if not divergence.exact or (seen and not divergence.left_out):
            # Where somebody was only seen, other ways may have led there than its like went.
            continue
        if (kept := kept_by_manager(search, divergence)) is not None:
            return kept
        ways, sides = branchings_of(search, divergence), sides_of(search, divergence)
        unknown = [d for d in decisions(search.places, ways, sides) if d.reason.level == "unknown"]
        unknown = _without_the_loop(search, divergence, unknown)
        every = [d for d in unknown if not d.branching.guessed]
        if every and every[0].condition.kind == "for" and unknown[0].weight[0] < every[0].weight[0]:
            # That the other side came by is less to suppose than that a loop did not end for all at once. Where a test
            # stands in the function that both were in, nobody is said to have come into one that it was not seen in.
            every = [d for d in unknown if d.weight[0] == unknown[0].weight[0]]
        if not every and len({(d.branching.frame.file, d.condition.line) for d in unknown}) == 1:
            every = unknown
        if not every:
            # Nothing is written there that decides: a call may have raised, if its own code shows upon what.
            thrown = decisions(search.places, ways, sides, raising=True)
            every = [d for d in thrown if d.reason.level == "varying" and _goes_on(search, divergence, d)]
        if not every and divergence.settled:
            # They parted all the same: what an object was asked for was changed on some ranks where nobody looked.
            maybe = _without_the_loop(
                search, divergence, decisions(search.places, ways, sides, seeming_equal=True)
            )
            alike = [d for d in maybe if d.condition.kind == "except" or _asks_an_object(d)]
            every = alike if len({(d.branching.frame.file, d.condition.line) for d in alike}) == 1 else []
        if not every:
            continue
        nearest = [d for d in every if d.weight[:3] == every[0].weight[:3]]
        if len({d.condition.line for d in nearest}) == 1:
            return decided(search, nearest[0], divergence)
        if _kept_by_one(search, every):
            # Which of them raised, nothing shows.
            return replace(decided(search, nearest[0], divergence), decision=None)
    return None


def _without_the_loop(search: Search, divergence: CodeDivergence, every: list[Decision]) -> list[Decision]:
    """Without that the innermost loop went on for the others: where they came to it once more, as the sizes of their
    calls tell, it was over for them too."""
    if not begins_anew(search, divergence):
        return every
    before = divergence.before
    looped = (
        depth
        for depth in range(len(before) - 1, -1, -1)
        if (place := search.places.find(before[depth])) is not None and in_loop(place)
    )
    innermost = next(looped, None)
    return [d for d in every if d.branching.depth != innermost or d.outcomes[0] != "another round"]


def _kept_by_one(search: Search, raising: list[Decision]) -> bool:
    """Whether one handler keeps what they raise to itself: then it was that one, whichever of them raised."""
    keepers = set()
    for each in raising:
        left = each.condition.kind == "call" and each.branching.culprit == "end"
        kept = catcher(search.places, each.branching.outer, None) if left else None
        keepers.add(None if kept is None else (kept[0].path, kept[1].lineno))
    return len(keepers) == 1 and None not in keepers


def _asks_an_object(decision: Decision) -> bool:
    """Whether the test, or what its names were set to in the function, is the answer of a method, or asks what is in a
    collection that functions of the module fill."""
    test = decision.condition.node
    if not isinstance(test, ast.expr):
        return False
    if _asks_what_was_put_in(decision):
        return True
    names = {node.id for node in ast.walk(test) if isinstance(node, ast.Name)}
    set_to = [
        node.value
        for node in decision.place.function.nodes
        if isinstance(node, ast.Assign)
        and any(isinstance(target, ast.Name) and target.id in names for target in node.targets)
    ]
    calls = (node for value in (test, *set_to) for node in ast.walk(value) if isinstance(node, ast.Call))
    return any(isinstance(call.func, ast.Attribute) for call in calls)


def _asks_what_was_put_in(decision: Decision) -> bool:
    """Whether the test is for something in a collection, or for anything in it: a module's, or the object's, that other
    functions fill."""
    test = decision.condition.node
    held: list[ast.AST] = [n.comparators[-1] for n in ast.walk(test) if isinstance(n, ast.Compare)]
    bare = test.operand if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) else test
    held.append(
        bare.args[0] if isinstance(bare, ast.Call) and called_name(bare) == "len" and bare.args else bare
    )
    filled = changed_inside(decision.place.module)
    return any(
        (isinstance(each, ast.Name) and each.id in filled)
        or any(True for attribute in _attributes_of(each) for _ in filling_methods(decision.place, attribute))
        for each in held
    )


def _attributes_of(held: ast.AST) -> set[str]:
    return attributes(held) if isinstance(held, ast.Attribute) else set()


@heuristic(
    "put in elsewhere", "of two tests that nothing shows to differ, what other code put in is likelier to"
)
def filled_elsewhere(search: Search, divergence: CodeDivergence) -> Decision | None:
    """The one test for what functions of the module put into a collection: of two that nothing shows to differ, what
    other code put in is likelier to."""
    ways, sides = branchings_of(search, divergence), sides_of(search, divergence)
    found = [
        d
        for d in decisions(search.places, ways, sides, seeming_equal=True)
        if d.condition.kind == "if" and _asks_what_was_put_in(d)
    ]
    return found[0] if len(found) == 1 and divergence.settled else None


def _goes_on(search: Search, divergence: CodeDivergence, decision: Decision) -> bool:
    """Whether a rank that raised there can have come to where it was seen: somebody must have caught it, if it left the
    function; a `with` is left in it."""
    if "end" not in (decision.branching.normal, decision.branching.culprit):
        return True
    left = divergence.culprit if decision.branching.culprit == "end" else divergence.normal
    if not left.path:
        return True
    return catcher(search.places, decision.branching.outer, None) is not None
