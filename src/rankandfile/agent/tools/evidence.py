"""The facts behind evidence ids."""

from __future__ import annotations

from collections.abc import Iterator

from rankandfile.agent.bench import Bench
from rankandfile.agent.result import Line, line
from rankandfile.agent.tool import Arguments, Tool


class Ids(Arguments, frozen=True):
    ids: list[str]


def evidence(bench: Bench, asked: Ids) -> Iterator[Line]:
    """The facts behind evidence ids such as D0#84 or L2:88: the file, the place in it, and what stands there."""
    for one in asked.ids:
        fact = bench.case.evidence(one)
        if fact is None:
            yield line(f"{one}: there is no such evidence in this case", answer="no such evidence")
        else:
            yield line(f"{fact.source}, {fact.where}: {fact.quote}", one)


ORDER = 100
TOOL = Tool(evidence, Ids)
