"""The plan of a step: learned from the first steps of its kind, then what every later one is held to."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field

from rankandfile.runtime.plan.calls import Call
from rankandfile.runtime.plan.judge import Post, Ruling, ruling
from rankandfile.runtime.plan.memory import Novelty


@dataclass(frozen=True)
class Planned:
    """What a plan says of a call."""

    sure: bool
    """It is of the plan: nobody need be asked."""
    wrong: Callable[[int, str], Ruling] | None = None
    """For a rank and a group's words: why it is not."""


@dataclass
class Kind:
    """Steps of one kind: same decisions, same variants."""

    learned: int = 0
    groups: dict[str, list[dict[int, Call]]] = field(default_factory=lambda: defaultdict(list))
    """Per group and position, what was called there."""
    lengths: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))


class Steps:
    """Of one rank: which calls a step makes, by what was decided for it."""

    def __init__(self, learn: int, dynamic: frozenset[str] = frozenset()) -> None:
        self.learn = learn
        self.dynamic = dynamic
        self.words = ""
        """The step that this rank is in; empty outside of any."""
        self._kinds: dict[tuple[object, ...], Kind] = {}
        self._name: tuple[object, ...] = ()
        self._kind: Kind | None = None
        self._made: dict[str, list[Call]] = {}
        self._fresh = False

    def is_dynamic(self, op: str, site: str) -> bool:
        return bool(self.dynamic) and (
            "*" in self.dynamic or op.replace("_", "") in self.dynamic or site in self.dynamic
        )

    def begin(self, words: str, kind: tuple[object, ...]) -> None:
        self.words, self._name = words, kind
        self._kind = self._kinds.setdefault(kind, Kind())
        self._made = defaultdict(list)

    def vary(self, name: str) -> tuple[object, ...]:
        """From here on the step is of another kind, for as long as every rank says so: the next call asks them."""
        before = self._name
        self._finish()
        self._name = (*before, name)
        self._kind = self._kinds.setdefault(self._name, Kind())
        self._made, self._fresh = defaultdict(list), True
        return before

    def back(self, kind: tuple[object, ...]) -> Callable[[int], Ruling] | None:
        """The variant is over; what it left out. What follows it is a part of its own."""
        missing = self.missing()
        self._finish()
        self._name = (*kind, "after", *self._name[len(kind) :])
        self._kind = self._kinds.setdefault(self._name, Kind())
        self._made, self._fresh = defaultdict(list), True
        return missing

    def check(self, call: Call) -> Planned | None:
        """None where there is no plan yet: outside of steps, and while it is learned."""
        kind = self._kind
        if kind is None:
            return None
        at = len(self._made[call.group])
        self._made[call.group].append(call)
        if kind.learned < self.learn:
            return None
        plan = kind.groups.get(call.group, [])
        if at < len(plan) and call.identity in plan[at]:
            sure, self._fresh = not self._fresh, False
            return Planned(sure)
        instead = next(iter(plan[at].values())).words if at < len(plan) else "no more call on this group"
        return Planned(
            False, lambda me, label: self._wrong(me, f"call {at + 1} on {label}", call.words, instead)
        )

    def missing(self) -> Callable[[int], Ruling] | None:
        """What a step that ends now leaves out; None where it is whole."""
        kind = self._kind
        if kind is None or kind.learned < self.learn:
            return None
        for group, plan in kind.groups.items():
            made = len(self._made.get(group, ()))
            if made not in kind.lengths[group]:
                instead = next(iter(plan[made].values())).words
                return lambda me: self._wrong(me, "a call that it did not make", "the step ended", instead)
        return None

    def end(self) -> None:
        self._finish()
        self._kind, self.words, self._name = None, "", ()

    def _finish(self) -> None:
        kind = self._kind
        if kind is None or kind.learned >= self.learn:
            return
        for group in {*self._made, *kind.groups}:
            made, plan = self._made.get(group, []), kind.groups[group]
            for at, call in enumerate(made):
                if at == len(plan):
                    plan.append({})
                plan[at][call.identity] = call
            if kind.learned and not kind.lengths[group]:
                kind.lengths[group].add(0)  # the steps before did without this group
            kind.lengths[group].add(len(made))
        kind.learned += 1

    def _wrong(self, me: int, what: str, done: str, planned: str) -> Ruling:
        post = Post(me, done, 0, 0, Novelty.NEW.value, at=time.time())
        told = ruling({me: post}, f"{self.words}: {what} is out of plan", (me,))
        head, mine, left = told.message.split("\n", 2)
        return Ruling((me,), "\n".join([head, mine, f"  planned: {planned}", left]), told.values)
