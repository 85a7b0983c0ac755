"""Who stands in a hook that a framework calls upon an exception alone has raised; where, its own log may tell.

A callback that saves, or that comes to a barrier, in `on_exception` does so on the one rank that raised. What the
exception said stands in the log where somebody wrote it down: the one `raise` of those words is where it came from.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from rankandfile.model.heuristics import heuristic
from rankandfile.source.dependence.objects.frameworks_own import outside
from rankandfile.source.lines.call_paths import CallPath
from rankandfile.source.lines.divergence import CodeDivergence, ranks_in_words
from rankandfile.source.lines.found_line import FoundLine, Search
from rankandfile.source.lines.of_one_rank import raised_at
from rankandfile.source.program.log_lines import raised_with
from rankandfile.source.program.names import Class
from rankandfile.source.program.places import SourcePlace, place_in
from rankandfile.source.registry.tables import TABLE

from .told_by_log import own_lines


@heuristic("upon an exception", "who is in a hook that a framework calls upon an exception has raised")
def upon_exception(search: Search, divergences: Iterable[CodeDivergence]) -> FoundLine | None:
    """The `raise`, or the hook where nothing tells of that; None where both sides are in such a hook."""
    for divergence in divergences:
        hook = _hook_in(search, divergence.culprit.path)
        if hook is None or _hook_in(search, divergence.normal.path) is not None:
            continue
        words = TABLE.upon_exceptions[_called(hook)]
        story = f"{words} ({hook.at(hook.line)}): {ranks_in_words(divergence.culprit)} raised before that."
        place = _raised(search, divergence)
        itself = FoundLine(hook, hook.function.first_line, kind="raised")
        line = raised_at(search, place) if place is not None else itself
        return replace(line, divergence=divergence, story=story)
    return None


def _hook_in(search: Search, path: CallPath) -> SourcePlace | None:
    places = (search.places.find(frame) for frame in path)
    return next((place for place in places if place is not None and _called(place)), None)


def _called(place: SourcePlace) -> str:
    """The name that the tables have for the hook; empty where it is none."""
    function = place.function
    if function.owner is None:
        return ""
    names = (f"{base}.{function.name}" for base in outside(Class(function.module, function.owner)))
    return next((name for name in names if name in TABLE.upon_exceptions), "")


def _raised(search: Search, divergence: CodeDivergence) -> SourcePlace | None:
    """The one `raise` of the program whose words stand in a line that this side alone wrote."""
    rows = [row for row in own_lines(search) if row["rank"] in divergence.culprit.members]
    found = {w.call: w for row in rows for w in raised_with(search.program, row["text"])}
    if len(found) != 1:
        return None
    (writer,) = found.values()
    return place_in(writer.function, writer.call.lineno)
