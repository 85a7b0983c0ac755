"""Two stages that made no call together before, in one round of the program: from one line each went its own way.

Stages of a pipeline are in other groups, and have other calls to make. But who waits in a call, and who is awaited
there and has gone on to the next round, came both from the line of the call before it, as often as each other. From
there on they should have done the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from rankandfile.model.diagnosis import Verdict
from rankandfile.source.lines.call_paths import CallPath, CallPaths, Made
from rankandfile.source.lines.divergence import MOST_WITNESSES, CodeDivergence, Side, ranks_of


def same_round(paths: CallPaths, verdict: Verdict) -> Iterator[CodeDivergence]:
    """Those who wait in a call, against those for whom they wait, since the last line that both called from."""
    for wait in verdict.waits[:MOST_WITNESSES]:
        for one in ranks_of(wait.ranks)[:1]:
            for other in ranks_of(wait.waits_for)[:1]:
                found = _diverging(paths, one, other, wait.ranks, wait.waits_for)
                if found is not None:
                    yield found


def _diverging(paths: CallPaths, one: int, other: int, ranks: str, others: str) -> CodeDivergence | None:
    ours, theirs = paths.calls(one), paths.calls(other)
    if one == other or len(ours) < 2 or not _whole(ours) or not _whole(theirs) or not paths.now(other):
        return None
    before, waits_in = ours[-2].path, ours[-1]
    rounds = _rounds(ours[:-1], before)
    if not before or not waits_in.path or rounds != _rounds(theirs, before):
        return None
    last = max(place for place, made in enumerate(theirs) if made.path == before)
    then = theirs[last + 1] if last + 1 < len(theirs) else None
    there = then.path if then is not None else paths.now(other)
    if there == waits_in.path or any(made.path == waits_in.path for made in theirs[last + 1 :]):
        return None
    return CodeDivergence(
        before=before,
        normal=Side(ranks, one, waits_in.path, waits_in),
        culprit=Side(others, other, there, then, seen=then is None),
        settled=True,
    )


def _whole(calls: list[Made]) -> bool:
    """Its recording reaches back to its first call."""
    return bool(calls) and calls[0].evidence.endswith("#0")


def _rounds(calls: list[Made], path: CallPath) -> int:
    """How often it came to the line, once for all calls that it made there one after the other."""
    return sum(place == path for place, _ in groupby(calls, key=lambda made: made.path))
