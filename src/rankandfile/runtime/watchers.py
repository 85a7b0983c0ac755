"""Who hears of steps and of decisions that guards make: the recorder, where it runs. Nobody else by default."""

from __future__ import annotations

from collections.abc import Callable

Stepped = Callable[[tuple[str, ...]], None]
Decided = Callable[[str, str, str], None]

Phased = Callable[[str], None]

on_step: list[Stepped] = []
on_phase: list[Phased] = []
on_decision: list[Decided] = []


def stepped(steps: tuple[str, ...]) -> None:
    """The job began a step; outermost first."""
    for tell in on_step:
        tell(steps)


def phased(phase: str) -> None:
    """The job came to a part of a step: data, forward, backward, optimizer, save or evaluate."""
    for tell in on_phase:
        tell(phase)


def decided(kind: str, name: str, outcome: str) -> None:
    """A guard came to an end: what it is, what it is called, and what came of it."""
    for tell in on_decision:
        tell(kind, name, outcome)
