"""The sequences of collectives that control can issue on its way: an automaton over the flow graphs of functions.

Its places are steps of the graphs, with the calls that are open; it goes into the functions that are called. Two sets
of places are held against each other group by group: if every sequence that can follow one can follow the other as
well, it does not matter to that group's other members which of them a rank takes. What is too large to be told counts
as alike: it accuses nobody.
"""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from rankandfile.source.dependence.syntax import COMPREHENSIONS, ancestors
from rankandfile.source.flow.build import graph_of
from rankandfile.source.flow.graph import RAISED, Node
from rankandfile.source.flow.several import taken
from rankandfile.source.program.modules import Function

from .event import Event
from .loud import Effects, Ends, Opaque, Runs

Open: TypeAlias = "tuple[tuple[Function, Node, int, ast.expr], ...]"
"""The calls that are open, outermost first: the caller, its step, which effect of that, the call."""
Place: TypeAlias = "tuple[Function, Node | None, int, Open]"
"""Where control is; at no node: at the end of what is looked at."""
Ways: TypeAlias = "Callable[[Function, Node, Open], frozenset[str]]"
"""Which outcomes of a decision are open, where control comes to it through these calls."""

MOST_PLACES = 2000
MOST_SETS = 60
_DEEPEST = 6


class Sequences:
    """Walks of control from steps of a function to walls, or to its end."""

    def __init__(
        self,
        effects: Effects,
        function: Function,
        walls: frozenset[Node],
        group_of: Callable[[Event], str],
        ways: Ways | None = None,
    ) -> None:
        self.effects = effects
        self.function = function
        self.walls = walls
        self.group_of = group_of
        self.ways = ways
        self.diverging_loops = False
        """What one loop issues is another word than what another loop does."""
        self.left = MOST_PLACES
        self._returns: dict[Function, Node] = {}
        self._next: dict[Place, list[tuple[Event | str | None, Place]]] = {}

    @property
    def told(self) -> bool:
        return self.left > 0

    def by_loops(self) -> Sequences:
        """The same walk, with the words of each loop told apart."""
        walk = Sequences(self.effects, self.function, self.walls, self.group_of, self.ways)
        walk.diverging_loops = True
        return walk

    def start(self, nodes: Iterable[Node]) -> frozenset[Place]:
        return frozenset(self.at(self.function, node, ()) for node in nodes)

    def at(self, function: Function, node: Node, calls: Open) -> Place:
        if not calls and node in self.walls:
            return (function, None, 0, ())
        returns = self._returns.get(function)
        if returns is None:
            returns = self._returns[function] = graph_of(function).returns
        if node is returns:
            if not calls:
                return (function, None, 0, ())
            caller, step, number, _call = calls[-1]
            return (caller, step, number + 1, calls[:-1])
        return (function, node, 0, calls)

    def steps(self, place: Place) -> list[tuple[Event | str | None, Place]]:
        """What control can do next: issue a collective, or go on silently. A call that calls itself is a word."""
        found = self._next.get(place)
        if found is None:
            self.left -= 1
            found = self._next[place] = list(self._steps(place)) if self.left > 0 else []
        return found

    def _steps(self, place: Place) -> Iterator[tuple[Event | str | None, Place]]:
        function, node, number, calls = place
        if node is None:
            return
        doing = self.doing(node, calls)
        if number >= len(doing):
            yield from ((None, self.at(function, follower, calls)) for follower in self._followers(place))
            return
        effect, on = doing[number], (function, node, number + 1, calls)
        if isinstance(effect, Ends):
            yield None, (self.function, None, 0, ())
        elif isinstance(effect, Opaque):
            yield None, on
        elif isinstance(effect, Event):
            yield effect, on
        elif len(calls) >= _DEEPEST or effect.target in {function, *(c[0] for c in calls)}:
            yield f"{effect.target.qualname}()", on
        else:
            inside = (*calls, (function, node, number, effect.call))
            yield None, self.at(effect.target, graph_of(effect.target).entry, inside)

    def doing(self, node: Node, calls: Open = ()) -> list[Event | Runs | Opaque | Ends]:
        """What a step does, in the order of its evaluation; what was handed over, if this call has handed it."""
        found = self._doing(node)
        if not any(isinstance(each, Runs) and each.handed_by is not None for each in found):
            return found
        open_ = {id(call[3]) for call in calls}
        of_these = [e for e in found if isinstance(e, Runs) and id(e.handed_by) in open_]
        of_any = [e for e in found if isinstance(e, Runs) and e.handed_by is not None][:1]
        kept = of_these if calls else of_any
        return [e for e in found if not isinstance(e, Runs) or e.handed_by is None or e in kept]

    def _doing(self, node: Node) -> list[Event | Runs | Opaque | Ends]:
        found = self.effects.by_step.get(node)
        if found is None:
            found = self.effects.by_step[node] = self._of_step(node)
        return found

    def _of_step(self, node: Node) -> list[Event | Runs | Opaque | Ends]:
        if node.what is None:
            return []
        if isinstance(node.what, ast.Call):
            found = [effect for part in _read_in(node.what) for effect in self.effects.of.get(part, ())]
            return [*found, *self.effects.of.get(node.what, ())]
        if isinstance(node.what, (ast.With, ast.AsyncWith)):
            return self.effects.of.get(node.what, [])
        if not isinstance(node.what, (ast.stmt, ast.expr)) or not self.effects.of:
            return []
        if node.decision is None and not node.binds and not isinstance(node.what, ast.Return):
            return []
        return [effect for part in _read_in(node.what) for effect in self.effects.of.get(part, ())]

    def _followers(self, place: Place) -> Iterator[Node]:
        function, node, _number, calls = place
        assert node is not None
        only = taken(node, function)
        open_ = None
        if node.decision is not None and self.ways is not None:
            open_ = self.ways(function, node, calls)
        for outcome, follower in node.edges:
            if outcome == RAISED and not isinstance(node.what, ast.Raise):
                continue
            if only is not None and outcome != only:
                continue
            if open_ is None or outcome in open_ or outcome not in ("true", "false"):
                yield follower

    def closed(self, places: Iterable[Place], group: str) -> frozenset[Place]:
        """All places that are reached from these without a word to the group."""
        stack = list(places)
        seen = set(stack)
        while stack:
            for doing, after in self.steps(stack.pop()):
                if self._word(doing, group) is None and after not in seen:
                    seen.add(after)
                    stack.append(after)
        return frozenset(seen)

    def _word(self, doing: Event | str | None, group: str) -> str | None:
        if doing is None or isinstance(doing, str):
            return doing
        return doing.op if self.group_of(doing) == group else None

    def silent(self, places: Iterable[Place], group: str) -> bool:
        """Whether an end can be reached without a word to the group."""
        return _ends(self.closed(places, group))

    def alike(self, one: frozenset[Place], other: frozenset[Place], group: str) -> bool:
        """Whether the same sequences can follow; True where that cannot be told."""
        return _in_step((self, one), (self, other), group) is not False

    def by_word(self, places: frozenset[Place], group: str) -> dict[str, set[Place]]:
        found: dict[str, set[Place]] = {}
        for place in places:
            for doing, after in self.steps(place):
                word = self._word(doing, group)
                if word is not None and self.diverging_loops and isinstance(doing, Event):
                    word = f"{word} {_loop(doing, place[3])}"
                if word is not None:
                    found.setdefault(word, set()).add(after)
        return found

    def all(self, start: frozenset[Place]) -> tuple[list[tuple[Event, Place]], list[Opaque], bool]:
        """Every collective that can follow, nearest first; what is opaque on the way; whether an end can be reached."""
        queue, seen = deque(start), set(start)
        events: list[tuple[Event, Place]] = []
        opaque: list[Opaque] = []
        ends = False
        while queue:
            place = queue.popleft()
            ends = ends or place[1] is None
            if place[1] is not None:
                doing = self.doing(place[1], place[3])
                if place[2] < len(doing) and isinstance(doing[place[2]], Opaque):
                    opaque.append(doing[place[2]])  # type: ignore[arg-type]
            for effect, after in self.steps(place):
                if isinstance(effect, Event):
                    events.append((effect, place))
                if after not in seen:
                    seen.add(after)
                    queue.append(after)
        return events, opaque, ends


def _loop(event: Event, calls: Open) -> int:
    """Which loop it is issued in: the innermost around it, or around the calls that lead to it."""
    for function, e in ((event.function, event.site), *((call[0], call[3]) for call in reversed(calls))):
        for node in ancestors(function.module, e):
            if node is function.node:
                break
            if isinstance(node, (ast.For, ast.AsyncFor, ast.While, *COMPREHENSIONS)):
                return id(node)
    return 0


def _ends(places: frozenset[Place]) -> bool:
    return any(place[1] is None for place in places)


def _read_in(what: ast.AST) -> Iterator[ast.AST]:
    """Attributes that are read in a step, outside the calls in it, which are steps themselves."""
    stack = list(ast.iter_child_nodes(what))
    if isinstance(what, ast.stmt) and hasattr(what, "body"):
        stack = []
    while stack:
        node = stack.pop()
        if isinstance(node, (ast.Call, ast.Lambda, ast.stmt)):
            continue
        if isinstance(node, ast.Attribute):
            yield node
        stack.extend(ast.iter_child_nodes(node))


def same_answers(one: Sequences, other: Sequences, entry: Node, group: str) -> bool:
    """Whether two walks through a function, each with its own answers to the tests, issue the same on the group; False
    where that cannot be told."""
    left, right = (frozenset(walk.start([entry])) for walk in (one, other))
    return _in_step((one, left), (other, right), group) is True


def _in_step(
    one: tuple[Sequences, frozenset[Place]], other: tuple[Sequences, frozenset[Place]], group: str
) -> bool | None:
    """Whether the same words to the group can follow these places of two walks; None where that cannot be told."""
    (mine, here), (theirs, there) = one, other
    pair = (mine.closed(here, group), theirs.closed(there, group))
    queue, seen = deque([pair]), {pair}
    while queue:
        left, right = queue.popleft()
        if mine is theirs and left == right:
            continue
        if len(seen) > MOST_SETS or not (mine.told and theirs.told):
            return None
        if _ends(left) != _ends(right):
            return False
        before, after = mine.by_word(left, group), theirs.by_word(right, group)
        if before.keys() != after.keys():
            return False if mine.told and theirs.told else None
        for word, places in before.items():
            pair = (mine.closed(places, group), theirs.closed(after[word], group))
            if pair not in seen:
                seen.add(pair)
                queue.append(pair)
    return True
