"""The plan of a step: learned from the first steps of its kind, then what every later one is held to."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field

from rankandfile.runtime.plan.calls import Call
from rankandfile.runtime.plan.judge import Post, Ruling, ruling
from rankandfile.runtime.plan.memory import Novelty

#: Kinds of steps that are kept; of more, those that have not come for longest are learned anew.
MOST_KINDS = 256


@dataclass(frozen=True)
class Planned:
    """What a plan says of a call."""

    sure: bool
    """It is of the plan: nobody need be asked."""
    wrong: Callable[[int, str], Ruling] | None = None
    """For a rank and the title of its calls: why it is not."""


_OF_THE_PLAN, _IF_ALL_AGREE = Planned(True), Planned(False)


@dataclass
class Kind:
    """Steps of one kind: same decisions, same variants."""

    learned: int = 0
    series: dict[str, list[dict[int, str]]] = field(default_factory=lambda: defaultdict(list))
    """Per series and position, what was called there, in words by its identity."""
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
        self._counts: dict[str, int] = {}
        """Calls since the step began, by series."""
        self._made: list[tuple[str, int, Call]] = []
        """These calls, with their series and position, while they are learned."""
        self._fresh = False

    def is_dynamic(self, op: str, site: str) -> bool:
        return bool(self.dynamic) and (
            "*" in self.dynamic or op.replace("_", "") in self.dynamic or site in self.dynamic
        )

    def begin(self, words: str, kind: tuple[object, ...]) -> None:
        self.words = words
        self._take_up(kind)

    def vary(self, name: str) -> tuple[object, ...]:
        """From here on the step is of another kind, for as long as every rank says so: the next call asks them."""
        before = self._name
        self._finish()
        self._take_up((*before, name))
        self._fresh = True
        return before

    def back(self, kind: tuple[object, ...]) -> Callable[[int], Ruling] | None:
        """The variant is over; what it left out. What follows it is a part of its own."""
        missing = self.missing()
        self._finish()
        self._take_up((*kind, "after", *self._name[len(kind) :]))
        self._fresh = True
        return missing

    def _take_up(self, name: tuple[object, ...]) -> None:
        """All ranks decide alike, and so forget alike."""
        self._name = name
        self._kind = self._kinds[name] = self._kinds.pop(name, Kind())
        self._counts, self._made = {}, []
        if len(self._kinds) > MOST_KINDS:
            del self._kinds[next(iter(self._kinds))]

    def check(self, call: Call) -> Planned | None:
        """None where there is no plan yet: outside of steps, and while it is learned."""
        kind = self._kind
        if kind is None:
            return None
        series = call.request.series
        at = self._counts.get(series, 0)
        self._counts[series] = at + 1
        if kind.learned < self.learn:
            self._made.append((series, at, call))
            return None
        plan = kind.series.get(series, ())
        if at < len(plan) and call.identity in plan[at]:
            if call.request.message >= 0:
                return _OF_THE_PLAN  # of two ranks' agreement nothing follows for the others
            sure, self._fresh = not self._fresh, False
            return _OF_THE_PLAN if sure else _IF_ALL_AGREE
        if self._is_free(call.request.op):
            return None
        instead = next(iter(plan[at].values())) if at < len(plan) else "no more of this kind"
        words = call.request.words
        return Planned(False, lambda me, title: self._wrong(me, title.format(at + 1), words, instead))

    def _is_free(self, op: str) -> bool:
        """Messages that are declared to be dynamic may also be more or less than they were."""
        return op in ("send", "recv", "recv_any_source") and self.is_dynamic(op, "")

    def missing(self) -> Callable[[int], Ruling] | None:
        """What a step that ends now leaves out; None where it is whole."""
        kind = self._kind
        if kind is None or kind.learned < self.learn:
            return None
        for series, plan in kind.series.items():
            made = self._counts.get(series, 0)
            instead = next(iter(plan[min(made, len(plan) - 1)].values()), "")
            if made not in kind.lengths[series] and not self._is_free(instead.partition(" ")[0]):
                return lambda me: self._wrong(me, "a call that it did not make", "the step ended", instead)
        return None

    def end(self) -> None:
        self._finish()
        self._kind, self.words, self._name = None, "", ()

    def _finish(self) -> None:
        kind = self._kind
        if kind is None or kind.learned >= self.learn:
            return
        for series, at, call in self._made:
            plan = kind.series[series]
            if at == len(plan):
                plan.append({})
            plan[at][call.identity] = call.request.words
        for series in kind.series:
            if kind.learned and not kind.lengths[series]:
                kind.lengths[series].add(0)  # the steps before did without
            kind.lengths[series].add(self._counts.get(series, 0))
        kind.learned += 1

    def _wrong(self, me: int, what: str, done: str, planned: str) -> Ruling:
        post = Post(me, done, 0, 0, Novelty.NEW.value, at=time.time())
        told = ruling({me: post}, f"{self.words}: {what} is out of plan", (me,))
        head, mine, left = told.message.split("\n", 2)
        return Ruling((me,), "\n".join([head, mine, f"  planned: {planned}", left]), told.values)
