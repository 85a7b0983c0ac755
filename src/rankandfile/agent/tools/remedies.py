"""The smallest fix, what not to do, and the probes that would confirm the verdict."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple, TypeAlias

from rankandfile.agent.bench import Bench
from rankandfile.agent.result import Line, line
from rankandfile.agent.tool import Arguments, Tool
from rankandfile.model.diagnosis import Verdict

Kind: TypeAlias = Literal["Fix", "Not", "Probe"]


class Advice(NamedTuple):
    kind: Kind
    words: str
    diff: str | None
    evidence: tuple[str, ...]

    @property
    def lines(self) -> list[Line]:
        shown = [line(f"    {text}") for text in (self.diff or "").splitlines()]
        return [line(f"{self.kind}: {self.words}", *self.evidence), *shown]

    @property
    def height(self) -> int:
        """How many lines it takes."""
        return len(self.lines)


def advised(verdicts: Iterable[Verdict]) -> Iterator[Advice]:
    """All of it, in the order in which it is told."""
    for verdict in verdicts:
        ids = tuple(verdict.evidence)
        yield from (Advice("Fix", f"{one.title}: {one.text}", one.diff, ids) for one in verdict.remedies)
        yield from (Advice("Not", words, None, ids) for words in verdict.anti_advice)
        yield from (Advice("Probe", f"{one.title}: {one.text}", one.diff, ids) for one in verdict.probes)


def remedies(bench: Bench, _: Arguments) -> Iterator[Line]:
    """The smallest change that fixes what the rules found, as a diff where the source is at hand; what not to do; and
    two or three probes that would confirm it."""
    every = list(advised(bench.diagnosis.verdicts))
    for advice in every:
        yield from advice.lines
    if not every:
        yield line("The rules know no fix for this.")


ORDER = 210
TOOL = Tool(remedies, Arguments)
