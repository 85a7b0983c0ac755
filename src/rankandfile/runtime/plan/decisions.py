"""What comes of all ranks' wishes: each casts one vote, and waits for one answer without asking time and again."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, Literal

from rankandfile.runtime import watchers
from rankandfile.runtime.guards import survey
from rankandfile.runtime.guards.guard import Guard
from rankandfile.runtime.guards.meeting import LOOK_PER_RANK_S, LOOK_S, meet, vote_bits, wait_for
from rankandfile.runtime.plan.board import line
from rankandfile.runtime.plan.gate import Gate

How = Literal["any", "all", "min", "max", "lead"]

#: For the lookout to say so first.
_AFTER_S = 30.0

_RULES: dict[str, Callable[[tuple[Any, ...]], Any]] = {
    "any": any,
    "all": all,
    "min": min,
    "max": max,
    "lead": lambda column: column[0],
}
HOWS = tuple(_RULES)


class Decisions:
    """Those of one plan. `how` says of each decision how it is made."""

    def __init__(self, how: Mapping[str, str], gate: Gate | None) -> None:
        self._how, self._gate = dict(how), gate
        self._line: Any = None
        self._line_of: Any = None

    def make(self, guard: Guard, wishes: Mapping[str, Any]) -> dict[str, Any]:
        hows, values = list(self._how.values()), [wishes[name] for name in self._how]
        if _can_be_counted(hows, guard):
            told = meet(guard, _ballot(values, guard), lambda votes: _counted(votes, hows, guard), self._wait)
        else:
            guard.members.store.set(guard.key(f"wish/{guard.members.me}"), json.dumps(values))
            told = meet(guard, 0, lambda _: _ruled(hows, guard), self._wait)
        made = dict(zip(self._how, json.loads(told), strict=True))
        watchers.decided("plan", "step", str(made))
        return made

    def _wait(self, guard: Guard, awaited: tuple[int, ...], lookout: bool) -> str:
        """The outcome, from a connection that waits for it; meanwhile the watch looks whether it can still come."""
        waits, gate = self._line_to(guard), self._gate
        if waits is None or gate is None or gate.watch is None:
            return wait_for(guard, awaited, lookout)
        from torch.distributed import DistStoreError

        if lookout:
            gate.lookout = Lookout(guard, awaited)
        try:
            return str(waits.get(guard.key("outcome")).decode())
        except DistStoreError:
            return guard.settle_error(survey.too_late(guard, awaited, guard.patience + _AFTER_S))
        finally:
            gate.lookout = None

    def _line_to(self, guard: Guard) -> Any:
        if self._line_of is not guard.members:
            self._line_of, self._line = guard.members, line(guard.members.store)
            if self._line is not None:
                self._line.set_timeout(timedelta(seconds=guard.patience + _AFTER_S))
        return self._line


class Lookout:
    """Of a meeting that the main thread waits at: whether the others can still come, seen from another thread."""

    def __init__(self, guard: Guard, awaited: tuple[int, ...]) -> None:
        self._guard, self._awaited = guard, awaited
        self._between = max(LOOK_S, LOOK_PER_RANK_S * len(guard.members.ranks))
        self._began = time.monotonic()
        self._next = self._began + self._between
        self._seen: survey.Seen = {}

    def look(self) -> None:
        now = time.monotonic()
        if now - self._began > self._guard.patience:
            self._guard.settle_error(survey.too_late(self._guard, self._awaited, now - self._began))
        elif now > self._next:
            self._seen = survey.hopeless(self._guard, self._awaited, self._seen)[1]
            self._next = time.monotonic() + self._between


def _bits(guard: Guard) -> int:
    """That a count of ranks needs."""
    return len(guard.members.ranks).bit_length()


def _can_be_counted(hows: list[str], guard: Guard) -> bool:
    return all(how in ("any", "all") for how in hows) and len(hows) * _bits(guard) <= vote_bits(guard.members)


def _ballot(values: list[Any], guard: Guard) -> int:
    """One number for all wishes: its sum over the ranks has a count of each."""
    return sum(bool(value) << at * _bits(guard) for at, value in enumerate(values))


def _counted(votes: int, hows: list[str], guard: Guard) -> str:
    bits, ranks = _bits(guard), len(guard.members.ranks)
    counts = [votes >> at * bits & ((1 << bits) - 1) for at in range(len(hows))]
    return json.dumps([
        count == ranks if how == "all" else count > 0 for how, count in zip(hows, counts, strict=True)
    ])  # fmt: skip


def _ruled(hows: list[str], guard: Guard) -> str:
    store = guard.members.store
    keys = [guard.key(f"wish/{rank}") for rank in guard.members.ranks]
    told = [json.loads(text) for text in store.multi_get(keys)]
    for key in keys:
        store.delete_key(key)
    columns = zip(*told, strict=True)
    return json.dumps([_RULES[how](column) for how, column in zip(hows, columns, strict=True)])
