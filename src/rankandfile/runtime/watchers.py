"""Who hears of steps and of decisions that guards make: the recorder, where it runs. Nobody else by default."""

from __future__ import annotations

from collections.abc import Callable

Stepped = Callable[[tuple[str, ...]], None]
Decided = Callable[[str, str, str], None]

on_step: list[Stepped] = []
on_decision: list[Decided] = []


def stepped(steps: tuple[str, ...]) -> None:
    """The job began a step; outermost first."""
    for tell in on_step:
        tell(steps)


def decided(kind: str, name: str, outcome: str) -> None:
    """A guard came to an end: what it is, what it is called, and what came of it."""
    for tell in on_decision:
        tell(kind, name, outcome)
