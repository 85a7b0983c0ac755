"""A rule of the linter: one file in `source/rules/`, whose docstring is its page.

A rule either claims divergences, which are shown to the rules in their order until one takes it, or finds by itself.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property

from msgspec import Struct, field

from rankandfile.model.known.group_makers import GROUP_MAKERS
from rankandfile.model.lint import Severity
from rankandfile.source.dependence import Reason, ask_in_depth
from rankandfile.source.effects.divergence import PossibleDivergence
from rankandfile.source.effects.divergences import PossibleDivergences
from rankandfile.source.effects.event import Event
from rankandfile.source.effects.loud import Effects, Runs, effects_of
from rankandfile.source.effects.sequences import Open, Sequences
from rankandfile.source.flow.build import graph_of
from rankandfile.source.program.modules import Function, Program

RANK = frozenset({"rank_api", "environment", "process", "host", "device"})
"""Sources that are a rank's place in the job, or on its machine."""
SETS_UP_GROUPS = GROUP_MAKERS | {"init_process_group"}


class Found(Struct, frozen=True, kw_only=True):
    """What a rule finds by itself."""

    severity: Severity
    function: Function
    node: ast.AST
    message: str
    story: tuple[tuple[Function, int, str], ...] = ()
    steps: tuple[tuple[str, int, str], ...] = ()
    """File, line and words of how it comes to differ."""
    fix: str = ""


def can_differ(function: Function, line: int, reason: Reason) -> tuple[Function, int, str]:
    """The line of a story that says why the ranks need not agree there."""
    return function, line, f"this can differ between ranks: {reason.sentence}"


def on_the_way(calls: Open) -> Iterator[tuple[Function, int, str]]:
    """The lines of a story that lead to what a function issues through others."""
    return ((call[0], call[3].lineno, "calls on the way to it") for call in calls)


def steps_of(reason: Reason) -> tuple[tuple[str, int, str], ...]:
    """File, line and words of how it comes to differ, as `Found.steps` has them."""
    return tuple((step.file, step.line, step.words) for step in reason.chain)


class View(Struct, eq=False, dict=True):
    """A program as the rules see it."""

    program: Program
    skip: Callable[[Function], bool] = field(default=lambda _function: False)
    """Functions that nobody asks about."""

    def __post_init__(self) -> None:
        ask_in_depth(self.program)

    @cached_property
    def effects(self) -> Effects:
        return effects_of(self.program)

    @cached_property
    def functions(self) -> list[Function]:
        """Those that issue collectives."""
        return [function for function in self.effects.loud if not self.skip(function)]

    @cached_property
    def all_divergences(self) -> PossibleDivergences:
        return PossibleDivergences(self.program)

    @cached_property
    def divergences(self) -> list[PossibleDivergence]:
        found = self.all_divergences
        return [divergence for function in self.functions for divergence in found.that_differ(function)]

    @cached_property
    def asked(self) -> list[Function]:
        """All functions, with and without collectives."""
        return [f for module in self.effects.index.modules for f in module.functions if not self.skip(f)]

    def events(self, node: ast.AST) -> list[Event]:
        """Collectives that stand in a piece of syntax itself, outside functions that are defined there."""
        found: list[Event] = []
        stack = [node]
        while stack:
            current = stack.pop()
            found.extend(e for e in self.effects.of.get(current, ()) if isinstance(e, Event))
            stack.extend(
                child
                for child in ast.iter_child_nodes(current)
                if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef))
            )
        return sorted(found, key=lambda event: event.line)

    def reached(self, node: ast.AST, group_of: Callable[[Event], str]) -> tuple[Event, Open] | None:
        """The first sure collective in a piece of syntax, or in what it calls, and the calls through which it is."""
        direct = next((event for event in self.events(node) if event.sure), None)
        if direct is not None:
            return direct, ()
        for part in ast.walk(node):
            for effect in self.effects.of.get(part, ()):
                if isinstance(effect, Runs):
                    walk = Sequences(self.effects, effect.target, frozenset(), group_of)
                    found, _opaque, _ends = walk.all(walk.start([graph_of(effect.target).entry]))
                    sure = next(((e, place[3]) for e, place in found if e.sure), None)
                    if sure is not None:
                        return sure
        return None


class Rule(Struct, frozen=True, kw_only=True):
    claims: Callable[[PossibleDivergence], bool] | None = None
    find: Callable[[View], Iterable[Found]] | None = None
    fix: str = ""
    """What to do, where the rule claims divergences."""
    cause: str = "rank_conditional"
    """The cause of the hang that comes of it: patterns that mend that mend this."""
