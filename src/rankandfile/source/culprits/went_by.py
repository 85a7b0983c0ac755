"""Few who wait in a call that nobody can go by went by the one that all others wait in."""

from __future__ import annotations

from rankandfile.model.diagnosis import Verdict
from rankandfile.model.findings import NamedByCode
from rankandfile.source.lines.found_line import FoundLine, Search
from rankandfile.source.lines.of_stages.gone_by import gone_by
from rankandfile.source.lines.of_stages.ways_by import line_around


def who_went_by(
    search: Search, verdict: Verdict, found: FoundLine | None
) -> tuple[FoundLine, NamedByCode] | None:
    """With the line that says so: what was found before, where that leads around the call."""
    gone = gone_by(search, verdict)
    if gone is None:
        return None
    ranks, theirs, ways = gone
    around = {(function.module.path, node.lineno) for function, node, _ in ways}
    if found is not None and (found.place.path, found.line) not in around:
        if verdict.culprits:
            # What sent them elsewhere is known.
            return None
        found = None
    found = found or line_around(search, ways, theirs, ranks, "went_by")
    return None if found is None else (found, _named(ranks))


def _named(ranks: tuple[int, ...]) -> NamedByCode:
    one = len(ranks) == 1
    return NamedByCode(
        ranks=ranks,
        doing="went by the call that the others wait in",
        sentence=f"Nobody comes by the call that {f'rank {ranks[0]} waits' if one else 'they wait'} in, and the others "
        f"wait in one that {'it is' if one else 'they are'} not in: {'it' if one else 'they'} went by that.",
        cause="skipped_collective",
    )
