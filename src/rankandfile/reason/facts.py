"""Everything that was worked out on the way to the verdict, for whoever wants to look: the trail, `show`, `explain`.

It is made in stages, each a frozen dataclass that has what the one before it has, and adds to it:
calls -> ranks -> waits -> divergences. Nothing is changed later.
"""

from __future__ import annotations

from msgspec.structs import asdict

from rankandfile.model.case import Case
from rankandfile.model.code_read import NO_CODE, CodeRead

from .calls.facts import CallFacts, OnStep, call_facts
from .divergence.divergence_point import DivergencePoint
from .divergence.find import divergence_of
from .ranks.facts import RankFacts, rank_facts
from .ranks.from_logs.read_accounts import read_accounts
from .waits.facts import WaitFacts, wait_facts
from .waits.graph import WaitEnd

__all__ = ["MOST_WAIT_ENDS", "CallFacts", "Facts", "OnStep", "RankFacts", "WaitFacts", "gather"]

#: A verdict is made for so many ends of waits, and no more: the first are those that need no guessing.
MOST_WAIT_ENDS = 5


class Facts(WaitFacts, frozen=True, kw_only=True):
    divergences: dict[WaitEnd, DivergencePoint | None]
    """Per end of a wait that a verdict may be made for: where its ranks took different paths."""
    steps: tuple[str, ...]
    """The trail: one line per step, with its numbers."""
    hung: bool
    """The person says that the job hung: that files have lost their times proves nothing against it."""
    supposed_hung: bool = False
    """Nobody says so and nothing tells: it is taken for true, as the question was asked."""


def gather(case: Case, on_step: OnStep | None = None, hung: bool = False, code: CodeRead = NO_CODE) -> Facts:
    """A case -> all that follows from its tables. Each step is told to `on_step` as it is made, in one line.

    `code`: what the source says on the lines that stacks stand on, where there is source.
    """
    steps: list[str] = []

    def step(line: str) -> None:
        steps.append(line)
        if on_step is not None:
            on_step(line)

    waits = wait_facts(rank_facts(call_facts(case, read_accounts(case), step, code), code), step)
    divergences = {end: divergence_of(waits, end) for end in waits.wait_ends[:MOST_WAIT_ENDS]}
    return Facts(**asdict(waits), divergences=divergences, steps=tuple(steps), hung=hung)
