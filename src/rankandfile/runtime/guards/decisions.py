"""Guards around a decision: make it together, or check that all ranks made the same one."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Literal, TypeVar

from rankandfile.runtime import watchers
from rankandfile.runtime.guards import differing, values
from rankandfile.runtime.guards.guard import next_use
from rankandfile.runtime.guards.meeting import hear, meet, publish, vote_bits
from rankandfile.runtime.guards.place import Step
from rankandfile.runtime.switch import guards_on

T = TypeVar("T")


def agree(
    flag: object,
    how: Literal["any", "all", "same"] = "any",
    group: Any = None,
    *,
    name: str | None = None,
    timeout: float | None = None,
) -> bool:
    """Make one decision of the ranks' local ones, and return it on all of them.

    `any`: true if it is true on any rank (a stop flag). `all`: true if it is true on all (a batch is usable).
    `same`: it must be the same already; raises `Disagreement` with the odd ranks if it is not.

        if guard.agree(patience_exhausted, how="any"):
            break

    Every rank of `group` must come here: it is a collective, but one with errors of its own. Calls belong together by
    `name`, which is the calling line unless given; give one where ranks call from different lines.

    Off, or without a group: returns the local flag.
    """
    wanted = bool(flag)
    if (guard := next_use(f"agree {how}", name, group, timeout)) is None:
        return wanted
    ranks = len(guard.members.ranks)
    if how == "same":
        outcome = meet(guard, int(wanted), lambda votes: "0" if votes in (0, ranks) else differing.DIFFER)
        if outcome == differing.DIFFER:
            differing.explain(guard, str(wanted))
        together = wanted
    elif how in ("any", "all"):
        votes = int(meet(guard, int(wanted)))
        together = votes > 0 if how == "any" else votes == ranks
    else:
        raise ValueError(f"how must be 'any', 'all' or 'same', not {how!r}")
    watchers.decided(guard.at.kind, guard.at.name, str(together))
    return together


def same(value: T, name: str | None = None, group: Any = None, *, timeout: float | None = None) -> T:
    """Check that all ranks have the same value, and return it; raises `Disagreement` with the odd ranks and values.

    Values are compared by hash: numbers, text, containers (lists and dicts in their order), tensors and arrays by
    type, shape and content, anything else by its `repr` without addresses. Use it at a branching point:

        if guard.same(should_stop, "should_stop"):

    Off, or without a group: returns the value unseen.
    """
    if (guard := next_use("same", name, group, timeout)) is None:
        return value
    mine = values.digest(value, vote_bits(guard.members))
    whole = mine * len(guard.members.ranks)
    if meet(guard, mine, lambda votes: "0" if votes == whole else differing.DIFFER) == differing.DIFFER:
        watchers.decided("same", guard.at.name, "Disagreement")
        differing.explain(guard, values.text(value))
    watchers.decided("same", guard.at.name, values.text(value) if watchers.on_decision else "")
    return value


def share(
    value: T | Callable[[], T],
    src: int = 0,
    name: str | None = None,
    group: Any = None,
    *,
    timeout: float | None = None,
) -> T:
    """Let every rank go on with the value of one: a decision that rank `src` (a global rank) owns.

    A function is called on `src` only, and what it raises there is told to the others. The value travels as JSON: None,
    booleans, numbers, text, lists and dicts of them (tuples arrive as lists).

        resume = guard.share(lambda: os.path.exists("last.pt"))

    `src` does not wait for the others. Off, or without a group: the local value, the function called.
    """
    if (guard := next_use("share", name, group, timeout)) is None:
        return _local(value)
    if guard.members.me != src:
        found: T = json.loads(hear(guard, src))
    else:
        try:
            found = _local(value)
            text = json.dumps(found)
        except BaseException as error:
            guard.fail(error)
            raise
        publish(guard, text)
    watchers.decided("share", guard.at.name, values.text(found) if watchers.on_decision else "")
    return found


def _local(value: T | Callable[[], T]) -> T:
    return value() if callable(value) else value


def step(n: object) -> AbstractContextManager[object]:
    """Say that the job is at step `n`: guards, their errors and the recorder name it.

    As a statement it holds until the next one; as a context, to the end of the block, and steps nest:

        for epoch in range(epochs):
            with guard.step(epoch):
                for i, batch in enumerate(loader):
                    guard.step(i)

    Ranks that meet at a guard must be at the same step: a rank that skipped one is found at the next guard.

    Off: does nothing.
    """
    return Step(n) if guards_on() else nullcontext()
