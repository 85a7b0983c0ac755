"""The smallest fix, what not to do, and the probes that would confirm the verdict."""

from __future__ import annotations

from collections.abc import Iterator

from rankandfile.agent.bench import Bench
from rankandfile.agent.result import Line, line
from rankandfile.agent.tool import Arguments, Tool


def remedies(bench: Bench, _: Arguments) -> Iterator[Line]:
    """The smallest change that fixes what the rules found, as a diff where the source is at hand; what not to do; and
    two or three probes that would confirm it."""
    found = False
    for verdict in bench.diagnosis.verdicts:
        parts = (
            *((f"Fix: {one.title}: {one.text}", one.diff) for one in verdict.remedies),
            *((f"Not: {words}", None) for words in verdict.anti_advice),
            *((f"Probe: {one.title}: {one.text}", one.diff) for one in verdict.probes),
        )
        for words, diff in parts:
            found = True
            yield line(words, *verdict.evidence)
            for text in (diff or "").splitlines():
                yield line(f"    {text}")
    if not found:
        yield line("The rules know no fix for this.")


ORDER = 210
TOOL = Tool(remedies, Arguments)
