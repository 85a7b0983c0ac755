"""Where ranks can diverge: decisions after which different collectives follow, as far as that is not made good again.

In: a function that issues collectives. Out: its decisions of which one outcome issues what the other does not, with
the first collective that is missing, and the calls through which it is reached. Whether ranks can decide differently
is another question (`rankandfile.source.dependence`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from rankandfile.source.dependence import axes_of, why_raised
from rankandfile.source.flow.build import graph_of
from rankandfile.source.flow.condition import Condition, written
from rankandfile.source.flow.exceptions import Caught
from rankandfile.source.flow.graph import RAISED, Decision, Graph, Node
from rankandfile.source.flow.joins import common, joins
from rankandfile.source.program.modules import Function, Program

from .divergence import Leaving, PossibleDivergence
from .event import Event
from .handlers import handlers
from .join_context import is_joined
from .loud import Effects, Ends, Opaque, effects_of
from .raised_inside import caught_from_inside
from .roles import Answers, Roles
from .sequences import Open, Place, Sequences, Ways, same_answers

_WORDS: dict[type[ast.stmt], Leaving] = {
    ast.Return: "return",
    ast.Break: "break",
    ast.Continue: "continue",
    ast.Raise: "raise",
}
_ROUND = ("break", "continue", "loop")
_MOST_TRIED = 12


class PossibleDivergences:
    """The divergences of the functions of one program."""

    def __init__(self, program: Program, effects: Effects | None = None) -> None:
        self.program = program
        self.effects: Effects = effects or effects_of(program)
        self.roles = Roles(program)
        self._groups: dict[Event, str] = {}

    def of(self, function: Function) -> Iterator[PossibleDivergence]:
        """Those that stand in the function, in the order of its steps."""
        graph = graph_of(function)
        behind = joins(graph, self._ends)
        for node in graph.nodes:
            yes, no = _outcomes(node)
            if node.decision is not None and yes and no and node.decision.kind not in ("except", "with"):
                yield from self._decided(function, behind, node, node.decision)
        yield from self._caught(function, graph, behind)
        yield from caught_from_inside(self, function, graph, behind)

    def group_of(self, event: Event) -> str:
        """The group of a collective by its axes; empty for all ranks."""
        if event not in self._groups:
            axes = None if event.group is None else axes_of(self.program, event.function, event.group)
            self._groups[event] = "" if axes is None else "+".join(sorted(axes))
        return self._groups[event]

    def _ends(self, node: Node) -> bool:
        return (
            any(isinstance(each, Ends) for each in self.effects.of.get(node.what, ())) if node.what else False
        )

    def _decided(
        self, function: Function, behind: dict[Node, Node], node: Node, decision: Decision
    ) -> Iterator[PossibleDivergence]:
        yes, no = _outcomes(node)
        for group, event, calls, when, instead in self._differing(function, behind, node, yes, no):
            yield PossibleDivergence(
                function,
                _condition(function, node, decision),
                decision.owner,
                event,
                calls,
                when,
                self.leaving(decision, node, not when),
                group,
                instead,
                node,
            )

    def that_differ(self, function: Function) -> Iterator[PossibleDivergence]:
        """The divergences at which ranks are known to decide differently, and which nothing makes good again."""
        for divergence in self.of(function):
            if divergence.reason.level not in ("axes", "varying") or is_joined(divergence):
                continue
            made_good, certain = self._made_good(divergence)
            if not made_good:
                yield replace(divergence, certain=certain)

    def _differing(
        self, function: Function, behind: dict[Node, Node], node: Node, yes: list[Node], no: list[Node]
    ) -> Iterator[tuple[str, Event, Open, bool, Event | None]]:
        """Group -> what one outcome issues on it and the other does not."""
        end = common(behind, [*yes, *no])
        walls = frozenset({node} if end is None else {node, end})
        walk = Sequences(self.effects, function, walls, self.group_of)
        yield from self.unlike(walk, {True: walk.start(yes), False: walk.start(no)})

    def unlike(
        self, walk: Sequences, starts: dict[bool, frozenset[Place]]
    ) -> Iterator[tuple[str, Event, Open, bool, Event | None]]:
        """Group -> what can follow one start on it, and not the other."""
        found = {way: walk.all(places) for way, places in starts.items()}
        if not all(ends for _events, _opaque, ends in found.values()) or not walk.told:
            return
        groups = {self.group_of(e): None for events, _opaque, _ends in found.values() for e, _place in events}
        for group in groups:
            if walk.alike(starts[True], starts[False], group):
                continue
            of = {
                way: [(e, place) for e, place in events if self.group_of(e) == group]
                for way, (events, _opaque, _ends) in found.items()
            }
            opaque = {way: opaque for way, (_events, opaque, _ends) in found.items()}
            silent = {way: walk.silent(places, group) for way, places in starts.items()}
            missing = _missing(of, opaque, silent)
            if missing is not None:
                (event, place), when = missing
                other = next((e for e, _place in of[not when]), None)
                yield group, event, place[3], when, other

    def _made_good(self, divergence: PossibleDivergence) -> tuple[bool, bool]:
        """Whether, over the whole function, a rank that decides one way issues what one does that decides the other;
        and whether ranks certainly decide differently."""
        node, function, group = divergence.node, divergence.function, divergence.group
        test = node.what
        if node.decision is None or node.decision.kind in ("for", "comprehension", "match"):
            return False, False
        if not isinstance(test, ast.expr):
            return False, False
        answers = self.roles.answers(function, test)
        if len(frozenset().union(*answers.values())) == 1:
            return True, False  # Every rank of a job of several decides the same.
        certain = {rank: next(iter(ways)) for rank, ways in answers.items() if len(ways) == 1}
        yes = [rank for rank, way in certain.items() if way]
        no = [rank for rank, way in certain.items() if not way]
        if yes and no:
            # One is held against the first and the last of the others, which may have their own tests.
            pairs = dict.fromkeys(((yes[0], no[0]), (yes[0], no[-1]), (yes[-1], no[-1])))
            of = self.roles.of_rank
            return all(self._same(function, group, node, of(one), of(other)) for one, other in pairs), True
        if (
            self.leaving(node.decision, node, True) in _ROUND
            or self.leaving(node.decision, node, False) in _ROUND
        ):
            return False, False  # What decides in this round may decide otherwise in the next.
        assumed = self.roles.assumed
        return self._same(function, group, node, assumed(test, True), assumed(test, False)), False

    def _same(self, function: Function, group: str, node: Node, one: Ways, other: Ways) -> bool:
        """Whether two that answer the tests of a function so, and differently at this step, issue the same."""
        answers = Answers(one), Answers(other)
        walks = [Sequences(self.effects, function, frozenset(), self.group_of, each) for each in answers]
        entry = graph_of(function).entry
        good = same_answers(walks[0], walks[1], entry, group)
        if good and not answers[0].unlike(answers[1], node):
            # Nothing else is answered differently: what a loop of the one issues, another loop of the other does not.
            return same_answers(walks[0].by_loops(), walks[1].by_loops(), entry, group)
        return good

    def leaving(self, decision: Decision, node: Node, way: bool) -> Leaving:
        """How control gets past the collective on this outcome."""
        owner = decision.owner
        if isinstance(owner, (ast.While, ast.For, ast.AsyncFor, ast.comprehension)):
            return "loop"
        if not isinstance(owner, ast.If):
            return ""
        yes, no = _outcomes(node)
        taken, others = (yes, no) if way else (no, yes)
        inside = decision.then in taken or (decision.other not in taken and decision.other in others)
        return self.last(owner.body if inside else owner.orelse)

    def last(self, body: Sequence[ast.stmt]) -> Leaving:
        if not body:
            return ""
        last = body[-1]
        if isinstance(last, ast.Expr) and any(
            isinstance(each, Ends) for each in self.effects.of.get(last.value, ())
        ):
            return "exit"
        return _WORDS.get(type(last), "")

    def _caught(
        self, function: Function, graph: Graph, behind: dict[Node, Node]
    ) -> Iterator[PossibleDivergence]:
        """Exceptions that are swallowed: who raised goes past the collectives that follow in the `try`."""
        tried: dict[ast.AST, int] = {}
        for node in graph.nodes:
            if not isinstance(node.what, (ast.Call, ast.For)) or node.what in self.effects.of:
                continue
            calm = [f for outcome, f in node.edges if outcome != RAISED]
            for handler in handlers(node):
                tried[handler.owner] = tried.get(handler.owner, 0) + 1
                if tried[handler.owner] > _MOST_TRIED:
                    continue
                differing = self._differing(function, behind, node, calm, [handler.entry])
                for group, event, calls, when, instead in differing:
                    if when:
                        yield PossibleDivergence(
                            function,
                            handler.condition(function, node.what),
                            handler.owner,
                            event,
                            calls,
                            True,
                            self.last(handler.body) or "caught",
                            group,
                            instead,
                            node,
                            known=why_raised(
                                self.program, function, node.what, Caught(function, handler.caught)
                            ),
                        )


def _missing(
    of: dict[bool, list[tuple[Event, Place]]], opaque: dict[bool, list[Opaque]], silent: dict[bool, bool]
) -> tuple[tuple[Event, Place], bool] | None:
    """The first collective of one side that the other lacks, or can do without; and of which side it is. None where
    that is not known: what is opaque may issue it as well."""
    for way in (True, False):
        lacks = not of[not way] or (silent[not way] and not silent[way])
        if of[way] and lacks:
            return None if opaque[not way] else (_nearest(of[way]), way)
    if opaque[True] or opaque[False]:
        return None
    for way in (True, False):
        others = {e.op for e, _place in of[not way]}
        extra = [(e, place) for e, place in of[way] if e.op not in others]
        if extra:
            return _nearest(extra), way
    way = len(of[True]) >= len(of[False])
    return _nearest(of[way]), way


def _nearest(found: list[tuple[Event, Place]]) -> tuple[Event, Place]:
    return next(((e, place) for e, place in found if e.sure), found[0])


def _outcomes(node: Node) -> tuple[list[Node], list[Node]]:
    return (
        [f for outcome, f in node.edges if outcome == "true"],
        [f for outcome, f in node.edges if outcome == "false"],
    )


def _condition(function: Function, node: Node, decision: Decision) -> Condition:
    text = written(function.module.lines, decision.owner, decision.line)
    test = node.what if isinstance(node.what, ast.expr) else decision.test
    return Condition(decision.line, text, decision.kind, *decision.words, test)
