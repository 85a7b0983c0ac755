"""`rankandfile.control.Plan`: decisions made once, and calls held to what was decided."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

from rankandfile.runtime.guards import place
from rankandfile.runtime.guards.guard import next_use
from rankandfile.runtime.plan.decisions import HOWS, Decisions, How
from rankandfile.runtime.plan.gate import Gate
from rankandfile.runtime.plan.start import start
from rankandfile.runtime.plan.steps import Steps


class Plan:
    """The calls of a training loop, decided once for all ranks.

        plan = Plan(stop="any", batches="min", save="lead")
        for n in range(steps):
            with plan.step(n, stop=out_of_patience(), batches=len(mine), save=n % 100 == 0) as now:
                if now.stop:
                    break
                for batch in mine[: now.batches]:
                    train(batch)
                if now.save:
                    with plan.variant("save"):
                        save()

    Each decision says how it is made of what the ranks wish: `any` or `all` of them, the `min` or `max`, or what the
    lead says, the lowest rank. Every rank gets the same.

    The calls of the first `learn` steps of a kind (same loop, same decisions, same variants) are compared between the
    ranks, and are the plan; a call of a later one that is not in it raises `OutOfPlan` before it is issued, on this
    rank and on the others. Calls outside of steps are compared with the other ranks' where they are new. A decision
    that is a float, such as a loss, makes no kind of its own; any other value does.
    """

    def __init__(self, /, *, learn: int = 2, timeout: float | None = None, **decisions: How) -> None:
        for name, value in (("learn", learn), ("timeout", timeout)):
            if isinstance(value, str):
                raise ValueError(f"no decision can be called {name}: that is an option of the plan")
        for name, how in decisions.items():
            if how not in HOWS:
                raise ValueError(f"{name} must be decided by one of {', '.join(HOWS)}, not {how!r}")
        self._how = decisions
        self._timeout = timeout
        self._steps = Steps(max(1, learn))
        self._gate = start()
        self._decisions = Decisions(decisions, self._gate)
        if self._gate is not None:
            self._gate.steps = self._steps

    def dynamic(self, *what: str) -> None:
        """Sizes that differ from step to step: of these operations or lines (`"all_reduce"`, `"train.py:88"`), or of
        all. Nobody compares such sizes between the ranks any more, and they must be the same all the same."""
        names = frozenset(what) | {one.replace("_", "") for one in what}
        self._steps.dynamic |= names or {"*"}

    @contextmanager
    def step(self, n: object, /, **wishes: Any) -> Iterator[SimpleNamespace]:
        """One step: the decisions that all ranks have made of their wishes, and the calls that belong to them."""
        place.Step(n)
        if set(wishes) != set(self._how):
            raise TypeError(
                f"decided are {', '.join(self._how) or 'no wishes'}, not {', '.join(wishes) or 'none'}"
            )
        made = self._decide(wishes)
        self._steps.begin(f"step {place.current_step()}", (place.site(), _kind(made)))
        try:
            yield SimpleNamespace(**made)
        except BaseException:
            self._steps.end()
            raise
        self._hold(self._steps.missing())
        self._steps.end()

    @contextmanager
    def variant(self, name: str) -> Iterator[None]:
        """A legal detour: its calls are a plan of their own. All ranks must take it, which the first call asks."""
        outer = self._steps.vary(name)
        yield
        self._hold(self._steps.back(outer))

    def _hold(self, missing: Any) -> None:
        gate: Gate | None = self._gate
        if missing is not None and gate is not None and gate.board is not None:
            world = gate.board.world
            gate.leave(world.label, missing(world.me))

    def _decide(self, wishes: Mapping[str, Any]) -> dict[str, Any]:
        if not wishes or (guard := next_use("plan", "step", None, self._timeout)) is None:
            return dict(wishes)
        return self._decisions.make(guard, wishes)


def _kind(made: Mapping[str, Any]) -> str:
    """What decides which calls a step makes. A measured number is hardly ever met again, and would leave every step
    one of a kind, held to nothing."""
    told = {name: value for name, value in made.items() if not isinstance(value, float)}
    return json.dumps(told, sort_keys=True, default=repr)
