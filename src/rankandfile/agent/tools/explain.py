"""Why one rank is stuck, and why it is blamed or not."""

from __future__ import annotations

from collections.abc import Iterator

from rankandfile.agent.bench import Bench
from rankandfile.agent.result import Line, line
from rankandfile.agent.tool import Arguments, Tool
from rankandfile.reason.explain import explain as explain_rank


class Explain(Arguments, frozen=True):
    rank: int


def explain(bench: Bench, asked: Explain) -> Iterator[Line]:
    found = explain_rank(bench.facts, asked.rank)
    yield line(f"Rank {asked.rank}: {found.role}.", *found.evidence)
    for words in found.lines:
        yield line(words, *found.evidence)


TOOL = Tool(
    "explain",
    "Why one rank is stuck: the chain of waits from it to where it ends, link by link, and why it is blamed or not.",
    Explain,
    explain,
)
