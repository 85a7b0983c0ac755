"""From the decisions that matter to the conditions that a person reads."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TypeAlias
from weakref import WeakKeyDictionary

from msgspec import Struct, field

from rankandfile.source.program.kept import kept
from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import resolve

from .build import graph_of
from .condition import Condition, Exit, Kind, Point, written
from .generators import runs_as_asked
from .graph import RAISED, Decision, Graph, Node
from .reach import HERE, THERE, Signatures, between, differ, normal, signatures

Question: TypeAlias = "tuple[frozenset[Node], frozenset[Node], frozenset[Node]]"
_Key: TypeAlias = "tuple[Kind, ast.AST, ast.AST]"


class _Found(Struct):
    """One condition as the nodes show it; a `finally` block may hold it several times."""

    kind: Kind
    owner: ast.AST
    line: int
    node: ast.AST
    words: tuple[str, str]
    then: int = 0
    other: int = 0
    distance: int = 1_000_000
    leaves: int = 1
    deciding: dict[ast.AST, tuple[int, int]] = field(default_factory=dict)


def deciding(
    function: Function, here: int | Point, there: int | Point | Exit, after: int | Point | None = None
) -> list[Condition]:
    """The decisions, nearest first, by which control reaches `here` first on one side and `there` on the other.

    Control comes from line `after`, or from the start of the function. `"return"` is any normal end of the function,
    `"raise"` an exception that leaves it, `"end"` either; `"own"` an end in its own words, not by a call that raises.
    """
    graph = graph_of(function)
    if isinstance(here, Point) and here.call and not _calls(function, graph, here):
        # A property, an operator, or a framework's own frames: the line names no such call.
        here = here.line
    far = own_ends(function, tried=True) if there == "own" else _places(function, graph, there)
    found = _conditions(function, graph, _places(function, graph, here), far, after)
    if found or isinstance(here, Point):
        return found
    # Everybody reaches the line: the decision is on it, in front of one of its calls (`stop and reduce(x)`).
    for call in sorted(graph.on(here), key=lambda node: getattr(node.what, "end_col_offset", 0)):
        if isinstance(call.what, ast.Call):
            found.extend(
                c for c in _conditions(function, graph, {call}, far - {call}, after) if c not in found
            )
    return [c for c in found if c.line <= here <= (getattr(c.node, "end_lineno", None) or c.line)]


def _places(function: Function, graph: Graph, place: int | Point | Exit) -> set[Node]:
    if isinstance(place, Point):
        return _calls(function, graph, place) or graph.on(place.line)
    if isinstance(place, int):
        return graph.on(place)
    exits = {"return": {graph.returns}, "raise": {graph.raises}, "end": {graph.returns, graph.raises}}
    return exits[place]


#: What runs where an object is called; of a module of torch's, whose own frames are left out, it is `forward`.
_OF_AN_OBJECT = ("__call__", "forward")


def _calls(function: Function, graph: Graph, place: Point) -> set[Node]:
    """The calls at a line of something with this name; an object that is called has none, and is named by no function
    or class."""
    named = graph.calls(place.line, place.call) if place.call else set()
    if named and all(runs_as_asked(function, node.what) for node in named):
        # What it makes runs whenever the loop asks for an item: the loop's own step.
        return set()
    if named or place.call not in _OF_AN_OBJECT:
        return named
    calls = [(node, node.what.func) for node in graph.on(place.line) if isinstance(node.what, ast.Call)]
    targets = [resolve(function, called) for _, called in calls]
    if any(isinstance(target, Function) and _is_wrapped(target) for target in targets):
        return set()
    # A method has a name of its own; what stands in a variable, or in one of the object's own, may be an object.
    found = {
        node
        for (node, called), target in zip(calls, targets, strict=True)
        if target is None and (isinstance(called, ast.Name) or ast.unparse(called).startswith("self."))
    }
    return found if len(found) == 1 else set()


def _is_wrapped(function: Function) -> bool:
    """A decorator may have made an object of it."""
    return bool(getattr(function.node, "decorator_list", ()))


def _starts(function: Function, graph: Graph, after: int | Point | None) -> list[Node]:
    if after is None:
        return [graph.entry]
    nodes = _places(function, graph, after)
    exact = isinstance(after, Point) and after.call is not None
    steps = [(o, follower) for node in nodes for o, follower in node.edges if exact or follower not in nodes]
    # A call that everybody got through raised nothing: that way is open only where there is no other.
    went_on = [follower for outcome, follower in steps if outcome != RAISED]
    return went_on or [follower for _outcome, follower in steps]


def _conditions(
    function: Function, graph: Graph, here: set[Node], there: set[Node], after: int | Point | None
) -> list[Condition]:
    return list(answer(function, here, there, frozenset(_starts(function, graph, after))).conditions)


_ANSWERS: WeakKeyDictionary[Function, dict[Question, Answer]] = WeakKeyDictionary()


class Answer(Struct):
    """What decides by which of two sets of steps control comes first."""

    conditions: list[Condition]
    nodes: list[Node]
    """The steps that decide."""


def answer(function: Function, here: set[Node], there: set[Node], starts: frozenset[Node]) -> Answer:
    """The decisions by which, coming from `starts`, one set of steps is reached first and not the other."""
    known = _ANSWERS.setdefault(function, {})
    question = (frozenset(here), frozenset(there), starts)
    if question not in known:
        known[question] = _worked_out(function, here, there, starts)
    return known[question]


def own_ends(function: Function, tried: bool) -> set[Node]:
    """Where the function returns; if its calls are `tried`, also where it raises past itself in its own words. That a
    call on the way may raise as well says nothing, whatever is decided; nor what raises while it handles something."""
    returns = graph_of(function).returns
    return {returns, *_raising(function)} if tried else {returns}


@kept
def _raising(function: Function) -> list[Node]:
    graph = graph_of(function)
    found = [node for node in graph.nodes if isinstance(node.what, ast.Raise)]
    handling = {s for n in function.nodes if isinstance(n, ast.ExceptHandler) for s in ast.walk(n)}
    return [n for n in found if n.what not in handling and not _landings(n.next(), {graph.raises})]


def _worked_out(function: Function, here: set[Node], there: set[Node], starts: Iterable[Node]) -> Answer:
    there = there - here
    if not here or not there:
        return Answer([], [])
    ways = signatures(graph_of(function), here, there)
    found: dict[_Key, _Found] = {}
    nodes: list[Node] = []
    for node in between(starts, here | there):
        decides = node.decision is not None and _decided(node, node.decision, ways, found)
        raises = any(outcome == RAISED for outcome, _ in node.edges) and _raised(node, ways, found)
        nodes += [node] if decides or raises else []
    ordered = sorted(found.values(), key=lambda f: (f.distance, -f.line))
    return Answer([condition for each in ordered for condition in _reported(function, each)], nodes)


def _decided(node: Node, decision: Decision, ways: Signatures, found: dict[_Key, _Found]) -> bool:
    outcomes = ways.outcomes(node)
    if not differ(outcomes.get("true", 0), outcomes.get("false", 0)):
        return False
    key = (decision.kind, decision.owner, decision.test)
    each = found.setdefault(
        key,
        _Found(
            decision.kind,
            decision.owner,
            decision.line,
            decision.test,
            decision.words,
            leaves=decision.leaves,
        ),
    )
    each.then |= ways.of.get(decision.then, 0) if decision.then else 0
    each.other |= ways.of.get(decision.other, 0) if decision.other else 0
    each.distance = min(each.distance, ways.distance.get(node, each.distance))
    if node.what is not None:
        each.deciding[node.what] = (outcomes.get("true", 0), outcomes.get("false", 0))
    return True


def _raised(node: Node, ways: Signatures, found: dict[_Key, _Found]) -> bool:
    """An exception out of this step: the handler that takes it is what a person calls the condition."""
    outcomes = ways.outcomes(node)
    calm = normal(outcomes)
    landed: list[_Found] = []
    ways_out = [follower for outcome, follower in node.edges if outcome == RAISED]
    for landing in _landings(ways_out, ways.here | ways.there):
        if isinstance(landing.what, ast.ExceptHandler):
            handler, signature = landing.what, ways.of.get(landing, 0)
            new = _Found(
                "except", handler, handler.lineno, handler, ("raised", "not raised"), signature, calm
            )
        else:
            with_ = landing.decision
            assert with_ is not None
            signature = ways.of.get(with_.then, 0) if with_.then else 0
            words = ("swallowed", "not raised")
            new = _Found("with", with_.owner, with_.line, with_.test, words, signature, calm)
        if differ(signature, calm):
            landed.append(new)
    if not landed and differ(outcomes.get(RAISED, 0), calm) and isinstance(node.what, (ast.expr, ast.stmt)):
        call = node.what
        signature = outcomes.get(RAISED, 0)
        landed.append(_Found("call", call, call.lineno, call, ("raised", "returned"), signature, calm))
    for new in landed:
        each = found.setdefault((new.kind, new.owner, new.node), new)
        each.then, each.other = each.then | new.then, each.other | new.other
        each.distance = min(each.distance, ways.distance.get(node, each.distance))
    return bool(landed)


def _landings(starts: Iterable[Node], walls: set[Node]) -> list[Node]:
    """Where an exception on its way out can be caught: handlers, and context managers that swallow it."""
    stack = [node for node in starts if node not in walls]
    seen = set(stack)
    found: list[Node] = []
    while stack:
        node = stack.pop()
        if isinstance(node.what, ast.ExceptHandler) and node.binds:
            found.append(node)
            continue
        swallowing = node.decision is not None and node.decision.kind == "with"
        if swallowing:
            found.append(node)
        for outcome, follower in node.edges:
            if outcome != RAISED and not (swallowing and outcome == "true") and follower not in seen | walls:
                seen.add(follower)
                stack.append(follower)
    return found


def _reported(function: Function, each: _Found) -> list[Condition]:
    """The whole test where all its parts decide; else those of its parts that do."""
    module = function.module
    text = written(module.lines, each.owner, each.line)
    if not each.deciding or len(each.deciding) >= each.leaves:
        here, there = _words(each.words, each.then, each.other)
        return [Condition(each.line, text, each.kind, here, there, each.node)]
    parts = []
    for part, (then, other) in each.deciding.items():
        here, there = _words(("true", "false"), then, other)
        line = part.lineno if isinstance(part, ast.expr) else each.line
        parts.append(Condition(line, text, "boolop", here, there, part))
    return sorted(parts, key=lambda condition: -getattr(condition.node, "col_offset", 0))


def _words(words: tuple[str, str], then: int, other: int) -> tuple[str, str]:
    """Which outcome belongs to which side."""
    straight = bool(then & HERE) and bool(other & THERE)
    crossed = bool(other & HERE) and bool(then & THERE)
    if straight and crossed:
        # One outcome leaves both open; the other one says which is which.
        crossed = then == THERE or other == HERE
        straight = not crossed
    return words if straight or not crossed else (words[1], words[0])


def conditions_at(function: Function, line: int) -> list[Condition]:
    """Every decision that is written at a line, whatever it leads to."""
    found: dict[tuple[ast.AST, ast.AST], Condition] = {}
    lines = function.module.lines
    for node in graph_of(function).nodes:
        decision = node.decision
        if decision is not None and decision.line == line:
            text = written(lines, decision.owner, line)
            condition = Condition(line, text, decision.kind, *decision.words, decision.test)
            found.setdefault((decision.owner, decision.test), condition)
        handler = node.what
        if isinstance(handler, ast.ExceptHandler) and handler.lineno == line:
            text = written(lines, handler, line)
            found.setdefault(
                (handler, handler), Condition(line, text, "except", "raised", "not raised", handler)
            )
    return list(found.values())
