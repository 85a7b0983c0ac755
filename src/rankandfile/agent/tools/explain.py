"""Why one rank is stuck, and why it is blamed or not."""

from __future__ import annotations

from collections.abc import Iterator

from rankandfile.agent.bench import Bench
from rankandfile.agent.result import Line, line
from rankandfile.agent.tool import Arguments, Tool, ToolError
from rankandfile.reason.explain import explain as explain_rank


class Explain(Arguments, frozen=True):
    rank: int


def explain(bench: Bench, asked: Explain) -> Iterator[Line]:
    """Why one rank is stuck: the chain of waits from it to where it ends, link by link, and why it is blamed or
    not."""
    if not _is_known(bench, asked.rank):
        raise ToolError(f"this job has no rank {asked.rank}")
    found = explain_rank(bench.facts, asked.rank)
    if (found.role == "culprit") == (asked.rank in bench.culprits):
        yield line(f"Rank {asked.rank}: {found.role}.", *found.evidence)
        for words in found.lines:
            yield line(words, *found.evidence)
        return
    # Where dumps leave two sides open, the source has decided: the chain of waits stays true, the blame does not.
    for verdict in bench.diagnosis.verdicts:
        if asked.rank in {culprit.rank for culprit in verdict.culprits}:
            yield line(
                f"Rank {asked.rank} is blamed ({verdict.confidence}), as the source decides: {verdict.sentence}",
                *found.evidence,
            )
    if asked.rank not in bench.culprits:
        yield line(f"Rank {asked.rank} is not blamed, as the source decides.", *found.evidence)
    for words in found.lines:
        if words.startswith(f"Rank {asked.rank} waits"):
            yield line(words, *found.evidence)


def _is_known(bench: Bench, rank: int) -> bool:
    members = bench.facts.membership.members.values()
    seen = rank in bench.case.ranks_seen or rank in bench.culprits
    return seen or 0 <= rank < (bench.diagnosis.job.world_size or 0) or any(rank in one for one in members)


ORDER = 60
TOOL = Tool(explain, Explain)
