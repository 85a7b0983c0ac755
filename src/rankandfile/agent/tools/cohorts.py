"""Cohorts: ranks of one group that made the same calls."""

from __future__ import annotations

from collections.abc import Iterator

from rankandfile.agent.bench import Bench
from rankandfile.agent.choose import groups_of
from rankandfile.agent.result import Line, line, who
from rankandfile.agent.tool import Arguments, Tool
from rankandfile.reason import lookup as look
from rankandfile.reason.divergence.cohorts import tracks
from rankandfile.reason.views import groups_that_diverged


class Cohorts(Arguments, frozen=True):
    group: str | None = None
    """Only this group; default: all groups whose ranks did not all make the same calls."""


def cohorts(bench: Bench, asked: Cohorts) -> Iterator[Line]:
    """Ranks that made the same calls, per group, the largest cohort first. A job of thousands of ranks has a
    handful."""
    facts = bench.facts
    groups = groups_that_diverged(facts) if asked.group is None else groups_of(bench.case, asked.group)
    if not groups:
        yield line("The ranks of every group made the same calls, as far as their rings go back.")
    for group in groups:
        for number, track in enumerate(tracks(facts.call_table, group), 1):
            last = look.last_call(facts, track.ranks[0], group)
            words = (
                f"its last call is #{last['seq']} {look.call_words(facts, last)}" if last else "no call kept"
            )
            yield line(
                f"group {look.group_words(facts, group)}, cohort {number}: {who(track.ranks)}: {words}",
                *([look.evidence_of(last)] if last else []),
            )


ORDER = 30
TOOL = Tool(cohorts, Cohorts)
