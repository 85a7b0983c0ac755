"""What a plan raises, in the rank that left it and in all others."""

from __future__ import annotations

from rankandfile.runtime.guards.errors import Facts, GuardError


class OutOfPlan(GuardError):
    """A rank was about to make a call that is not of the plan, or ended without one that is.

    `odd` are the ranks that left the plan; empty where nothing tells who is right. `values` has each rank's call.
    """


def rebuilt(message: str, odd: list[int], values: dict[str, str], group: str) -> OutOfPlan:
    """The same error in another rank."""
    told = {int(rank): words for rank, words in values.items()}
    return OutOfPlan(message, Facts(name="plan", group=group, odd=tuple(odd), values=told))
