"""One line, two callees: a table of handlers, a list of hooks, a variable that holds a function.

Both ranks stand at `HANDLERS[kind](batch)`, and one of them is in `shared`, the other in `best`. No test stands between
the two calls: what decides is where the function came from.
"""

from __future__ import annotations

from dataclasses import replace

from rankandfile.model.heuristics import heuristic
from rankandfile.source.files.text import without_comment
from rankandfile.source.lines.arguments import calls_on
from rankandfile.source.lines.call_paths import CallPath, Stop
from rankandfile.source.lines.divergence import CodeDivergence, ranks_in_words
from rankandfile.source.lines.found_line import FoundLine, Search
from rankandfile.source.lines.made_from import Entry, enters
from rankandfile.source.program.names import resolve
from rankandfile.source.program.places import SourcePlace


@heuristic(
    "one line with two callees",
    "two functions called from one line come from what made the ranks' choice of them",
)
def another_callee(search: Search, divergence: CodeDivergence) -> FoundLine | None:
    """Where the choice came from, as far as that is known to differ; else the line itself."""
    one, other = divergence.normal, divergence.culprit
    depth = next((d for d, (a, b) in enumerate(zip(one.path, other.path, strict=False)) if a != b), 0)
    if depth == 0 or one.path[depth][:2] == other.path[depth][:2]:
        return None
    place, *callees = (search.places.find(path[d]) for path, d in _around(one.path, other.path, depth))
    if place is None or not place.known or None in callees:
        return None
    line = without_comment(place.module.lines[place.line - 1].strip())
    names = [side.path[depth].function for side in (one, other)]
    story = (
        f"`{line}` ({place.path.rsplit('/', 1)[-1]}:{place.line}) calls {names[0]} on {ranks_in_words(one)} and "
        f"{names[1]} on {ranks_in_words(other)}."
    )
    chosen = [
        call for call in calls_on(place, Stop(place.line)) if resolve(place.function, call.func) is None
    ]
    for call in chosen:
        entry = enters(search.program, place.function, call.func)
        if entry is not None:
            return replace(at(entry, divergence, "callee"), story=story)
    if not chosen:
        return None
    return FoundLine(place, place.line, line, divergence=divergence, kind="callee", story=story)


def at(entry: Entry, divergence: CodeDivergence | None, kind: str) -> FoundLine:
    """The line of the place where the ranks' own part comes in."""
    module = entry.function.module
    place = SourcePlace(module.path, module, entry.function, entry.line)
    text = without_comment(module.lines[entry.line - 1].strip())
    return FoundLine(place, entry.line, text, entry.reason, divergence, kind=kind)


def _around(one: CallPath, other: CallPath, depth: int) -> list[tuple[CallPath, int]]:
    return [(one, depth - 1), (one, depth), (other, depth)]
