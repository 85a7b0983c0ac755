"""Decisions: how the outcome of one differs between ranks, and which of several assignments it lets a use see."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

from rankandfile.source.flow.condition import Condition
from rankandfile.source.flow.deciding import own_ends
from rankandfile.source.flow.graph import Node
from rankandfile.source.flow.how_often import between_nodes
from rankandfile.source.program.modules import Function, Module
from rankandfile.source.program.names import enclosing_class
from rankandfile.source.program.scopes import binding_scope

from . import builtin, counted, failures
from .assignments import Definition
from .frame import Frame
from .reaching_assignments import reaching
from .stored_items import matters
from .syntax import EACH, HOLDS, LEN, Path, ancestors, argument, dotted, loops_around
from .value import ORDERS, UNIFORM, UNKNOWN, Link, LinkKind, Value, join
from .written.matched import as_test

if TYPE_CHECKING:
    from .evaluate import Evaluator

_ROUNDS = ("for", "while", "comprehension")
MOST_GUARDS = 8
_MOST_DECISIONS = 24
_SETS_UP = ("__init__", "<module>", "setup", "__post_init__")


def of_condition(ev: Evaluator, condition: Condition, frame: Frame) -> Value:
    """How the outcome of the condition differs between ranks."""
    node = condition.node
    if isinstance(node, ast.ExceptHandler):
        return failures.handled(ev, condition, frame)
    if condition.kind == "with":
        return failures.swallowed(ev, condition, frame)
    if condition.kind == "call":
        return failures.raised(ev, node, frame)
    if isinstance(node, ast.match_case):
        test = as_test(frame.function.module, node)
        return failures.subject(ev, node, frame) if test is None else ev.truth(test, frame)
    if condition.kind == "for" or "no more items" in (condition.here, condition.there):
        return _rounds(ev, node, frame)
    return ev.truth(node, frame) if isinstance(node, ast.expr) else UNKNOWN


def _rounds(ev: Evaluator, iterable: ast.AST, frame: Frame) -> Value:
    """How often a loop goes round, and in which order."""
    if not isinstance(iterable, ast.expr):
        return UNKNOWN
    length = ev.value(iterable, frame, (LEN,))
    if length.differs and length.source != "rank_api":
        return length
    order = _ordered(ev, iterable, frame)
    # Who is a member of what is told by ranks' numbers, as it should be; in which order they go on is not.
    return length if length.differs and order.source in ("", "rank_api") else join([length, order])


def _ordered(ev: Evaluator, iterable: ast.expr, frame: Frame) -> Value:
    """Only what is about the order of the items counts, not the items."""
    key = argument(iterable, "key") if isinstance(iterable, ast.Call) and iterable.args else None
    by_key = UNIFORM
    if isinstance(iterable, ast.Call) and key is not None:
        by_key = builtin.key_of(ev, key, iterable.args[0], frame)
    if by_key.differs:
        return by_key
    items = ev.value(iterable, frame, (EACH,))
    return items if items.source in ORDERS or (key is not None and items.differs) else UNIFORM


def choice(ev: Evaluator, found: list[Definition], frame: Frame, uses: list[Node]) -> Value:
    """The decisions inside a function by which a use sees one definition or another."""
    if not uses:
        return UNIFORM
    behind = [follower for node in uses for follower in node.next()]
    values = []
    for d in found:
        if d.how in ("parameter", "outside", "called"):
            continue
        # In a loop it may be given once more, or not: the last time is the one that is seen.
        starts = [reaching(frame.function).graph.entry, *behind, *d.node.next()]
        conditions = between_nodes(frame.function, {d.node}, set(uses) - {d.node}, starts)
        values.extend(_guards(ev, conditions, d, frame))
    return join(values)


def left_behind(module: Module, d: Definition, uses: list[Node]) -> bool:
    """It is given in a loop, and asked for behind it: what it is there says how the loop ended."""
    loops = loops_around(module, d.site) if d.site is not None else []
    places = [node.what for node in uses if node.what is not None] if loops else []
    return any(loop not in (what, *ancestors(module, what)) for what in places for loop in loops)


def stored_anywhere(
    ev: Evaluator, found: list[tuple[Frame, Definition]], path: Path, *, before: bool = False
) -> Value:
    """A variable of long life: what every function stores in it, and what decides whether it does; `before`: it has a
    value besides."""
    found = [(frame, d) for frame, d in found if matters(d, path)]
    value = join(_own(ev, d, frame, path) for frame, d in found)
    if value.level == "varying" or len(found) + before < 2:
        return value
    guards: list[Value] = []
    for frame, d in found:
        # What a constructor gives its own object is there for good; what it puts elsewhere, each object does.
        own = d.how != "mutate" or d.name.startswith("self.") or frame.function.name == "<module>"
        if (frame.function.name in _SETS_UP and own) or d.how in ("parameter", "outside"):
            continue
        graph = reaching(frame.function).graph
        conditions = between_nodes(
            frame.function, {d.node}, own_ends(frame.function, ev.index.tried(frame.function)), [graph.entry]
        )
        # How often a loop goes round is no news to what is stored in it, but for how much there is of it.
        chosen = [c for c in conditions if c.kind != "call" and (path[:1] == (LEN,) or c.kind not in _ROUNDS)]
        guards.extend(_guards(ev, chosen, d, frame, lasting=True))
        # What is asked may be how much is in a container in the container: `if self.hooks[event]:`.
        asked = path[max(0, len(d.path) - 1) :] if path[:1] != (LEN,) else path
        amount = asked[:1] in ((), (LEN,))
        keys = (amount or path[:1] == (HOLDS,)) and d.how == "mutate"
        if d.how == "augment" or isinstance(d.value, ast.Constant) or keys:
            guards.extend(_counts(ev, d, frame, whole=amount))
    return join([value, *guards])


def _counts(ev: Evaluator, d: Definition, frame: Frame, *, whole: bool) -> Iterator[Value]:
    """Whether ranks come to where it is counted, or set, by what decides at the callers. `whole`: what is asked is
    whether there is anything in it, not for an item."""
    done = {"augment": "counted on", "mutate": "given an item"}.get(d.how, "set")
    file = frame.function.module.path
    ways = list(islice(counted.on_the_way(ev, frame), MOST_GUARDS))
    if whole and d.how == "mutate" and not any(of_condition(ev, *way).differs for way in ways):
        # How often a loop goes round decides how much there is, where no test in it does.
        ways = list(islice(counted.on_the_way(ev, frame, loops=True), MOST_GUARDS))
    for condition, outer in ways:
        value = of_condition(ev, condition, outer)
        if value.differs:
            if d.how == "mutate" and ev.in_depth:
                # Who has an item is no longer a question of who is a member of a group.
                value = value.of_data()
            where, shown = outer.function.module.path, condition.text
            words = f"is {done} at {file}:{d.line} or not, as `{shown}` decides ({where}:{condition.line})"
            # That some ranks have no use for an item may be meant: then the place is where that is asked.
            upon = (where, condition.line) if whole or d.how != "mutate" else None
            yield value.by(Link(where, condition.line, d.name, words, shown, upon, upon_kind(condition)))
    if d.name.startswith("self.") and not ev.in_depth:
        for site, _bound in islice(ev.objects.callers(frame.function), MOST_GUARDS):
            yield from (value for value in counted.which_one(ev, site, d.name) if value.differs)


def upon_kind(condition: Condition) -> LinkKind:
    """Of what was done or not, as the condition decides."""
    return "upon an exception" if condition.text.startswith("except ") else "upon a test"


def _own(ev: Evaluator, d: Definition, frame: Frame, path: Path) -> Value:
    """What a definition stores; a signal handler or a thread stores it when it happens to run."""
    started = ev.index.by_themselves.get(frame.function)
    if started is None:
        return ev.definition(d, frame, path)
    kind, _site = started
    file = frame.function.module.path
    what = {"signal": "a signal reaches this rank", "thread": "a thread of this rank gets there"}.get(
        kind, "it runs"
    )
    set_here = Link(file, d.line, d.name, f"is set at {file}:{d.line} when {what}")
    return Value("varying", source=kind, chain=(set_here,))


def _guards(
    ev: Evaluator, conditions: Iterable[Condition], d: Definition, frame: Frame, *, lasting: bool = False
) -> list[Value]:
    file = frame.function.module.path
    found = []
    for condition in list(conditions)[:MOST_GUARDS]:
        value = of_condition(ev, condition, frame)
        if value.differs:
            shown = condition.text
            done = "loses an item" if d.how == "remove" else "is set"
            words = f"{done} at {file}:{d.line} or not, as `{shown}` decides ({file}:{condition.line})"
            upon = (file, condition.line) if lasting else None
            found.append(value.by(Link(file, d.line, d.name, words, shown, upon, upon_kind(condition))))
        elif value.level == "unknown":
            # What is set under a test of which nothing is known may be another thing on every rank.
            found.append(value)
    return found


def held(ev: Evaluator, container: ast.expr, frame: Frame) -> Value:
    """Which keys a container of long life has: what is stored under, and what decides whether it is stored at all."""
    value = ev.value(container, frame, (HOLDS,))
    return value if value.differs else join([value, *_decided_upon(ev, container, frame)])


def _decided_upon(ev: Evaluator, container: ast.expr, frame: Frame) -> Iterator[Value]:
    for function, d in _stores_in(ev, container, frame.function):
        if function.name in _SETS_UP or d.how != "mutate" or d.key is None:
            continue
        inside = Frame(function)
        graph = reaching(function).graph
        own = between_nodes(function, {d.node}, own_ends(function, ev.index.tried(function)), [graph.entry])
        decisions = [(condition, inside) for condition in own if condition.kind != "call"]
        for condition, where in islice((*decisions, *counted.on_the_way(ev, inside)), _MOST_DECISIONS):
            value = of_condition(ev, condition, where)
            if value.differs:
                file, there = function.module.path, where.function.module.path
                words = (
                    f"is given an item under a key at {file}:{d.line} or not: `{condition.text}` decides "
                    f"({there}:{condition.line})"
                )
                yield value.by(Link(there, condition.line, d.name, words, condition.text, kind="under a key"))


def _stores_in(
    ev: Evaluator, container: ast.expr, function: Function
) -> Iterator[tuple[Function, Definition]]:
    name = dotted(container)
    if name is None:
        return
    owner = enclosing_class(function)
    if isinstance(container, ast.Attribute) and name == f"self.{container.attr}" and owner is not None:
        yield from ev.objects.stores(owner, container.attr)
    elif isinstance(container, ast.Name):
        scope = binding_scope(function, name)
        if scope is not None and isinstance(scope.node, ast.Module):
            for each in scope.module.functions:
                if binding_scope(each, name) is scope:
                    yield from ((each, d) for d in reaching(each).everywhere(name))
