"""What made the difference in one call that both cohorts made, or which all of them wait in."""

from __future__ import annotations

from collections.abc import Iterable

from rankandfile.model.diagnosis import Verdict
from rankandfile.source.lines.arguments import calls_on, origin
from rankandfile.source.lines.call_paths import Stop
from rankandfile.source.lines.divergence import CodeDivergence
from rankandfile.source.lines.found_line import FoundLine, Search
from rankandfile.source.lines.held_line import innermost
from rankandfile.source.program.called import called_name

from .kept_answers.nothing_new import never_told
from .no_graph import layer_without_graph
from .renewed import renewed

_RECEIVES = {"recv", "irecv", "recv_object_list"}


def together(search: Search, verdict: Verdict) -> FoundLine | None:
    """Everyone was seen on one line, which waits for somebody else: each waits for what another does after it."""
    ranks = search.paths.seen()
    places = {(p.path, p.line): p for r in ranks if (p := innermost(search.places, search.paths.now(r)))}
    if len(ranks) < 2 or len(places) != 1 or not all(search.paths.now(rank) for rank in ranks):
        return None
    place = next(iter(places.values()))
    if verdict.family == "arguments":
        made = origin(search.places, search.paths.now(ranks[0]), verdict.cause)
        return FoundLine(made.place, made.line, made.text, made.reason, kind="argument") if made else None
    if not any(called_name(call) in _RECEIVES for call in calls_on(place, Stop(place.line))):
        return None
    return FoundLine(place, place.line, kind="held")


def argument(search: Search, verdict: Verdict, divergence: CodeDivergence) -> FoundLine | None:
    """The line that gave one side another argument, in a call that both made from one place."""
    if verdict.cause == "skipped_collective":
        # Not a wrong argument: that of another layer, as what lies between was left out.
        return layer_without_graph(search, divergence)
    anew = renewed(search, divergence, verdict.cause) if verdict.cause == "split_mismatch" else None
    if anew is not None:
        return anew
    found = origin(search.places, divergence.culprit.path, verdict.cause)
    if found is None:
        sized = verdict.cause in ("size_mismatch", "different_collective")
        return never_told(search, divergence.culprit.path, divergence) if sized else None
    return FoundLine(found.place, found.line, found.text, found.reason, divergence, kind="argument")


def of_those_inside(
    search: Search, verdict: Verdict, divergences: Iterable[CodeDivergence]
) -> FoundLine | None:
    """The same, where only one side is in the call still: by its way."""
    ways = (side.path for divergence in divergences for side in (divergence.normal, divergence.culprit))
    made = next((found for way in ways if (found := origin(search.places, way, verdict.cause))), None)
    return FoundLine(made.place, made.line, made.text, made.reason, kind="argument") if made else None
