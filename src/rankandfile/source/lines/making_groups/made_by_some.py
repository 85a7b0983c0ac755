"""Where all ranks wait in making one group: the line by which only some of them made another one before."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rankandfile.model.diagnosis import Verdict
from rankandfile.model.heuristics import heuristic
from rankandfile.model.known.group_makers import GROUP_MAKERS
from rankandfile.source.dependence.syntax import argument, asked_first, spans
from rankandfile.source.effects.divergence import PossibleDivergence
from rankandfile.source.effects.divergences import PossibleDivergences
from rankandfile.source.effects.event import Event
from rankandfile.source.effects.loud import Effects
from rankandfile.source.lines.found_line import FoundLine, Search
from rankandfile.source.lines.held_line import standing
from rankandfile.source.lines.of_one_rank import said
from rankandfile.source.program.called import called_name
from rankandfile.source.program.places import SourcePlace, place_in


@heuristic(
    "made by some", "if all wait in making a group, the one that only some come to make is another one"
)
def made_by_some(search: Search, verdict: Verdict) -> FoundLine | None:
    """The test on the way to the only such call, if it can differ between ranks; else the call."""
    here = said(search, verdict)
    if here is None or not _all_stand(search, here):
        return None
    divergences = PossibleDivergences(search.program)
    others = {each.site: each for each in _made(divergences.effects) if not _at(each, here)}
    if not others:
        return None
    found = [
        p for f in divergences.effects.loud for p in divergences.that_differ(f) if p.event.site in others
    ]
    # Nearest to the call first. Whoever asks for a group first makes it: who asks for which is decided before.
    found.sort(key=lambda divergence: (_remembers(divergence), len(divergence.calls)))
    made = {divergence.event.site: divergence.event for divergence in found} or others
    if len(made) != 1:
        return None
    (event,) = made.values()
    reason = found[0].reason if found else None
    if not found or _remembers(found[0]):
        place = place_in(event.function, event.line)
        story = f"Another group is made by whoever comes to {place.at(event.line)}."
        return FoundLine(place, event.line, reason=reason, kind="some_make", story=story)
    condition = found[0].condition
    place = place_in(found[0].function, condition.line)
    return FoundLine(place, condition.line, condition.text, reason, kind="some_make")


def _all_stand(search: Search, here: SourcePlace) -> bool:
    stands = [standing(search.places, search.paths, rank) for rank in search.paths.seen()]
    lines = {(each.place.path, each.line) if each is not None else None for each in stands}
    calls = (node for node in here.function.nodes if isinstance(node, ast.Call))
    makes = any(spans(node, here.line) and called_name(node) in GROUP_MAKERS for node in calls)
    return makes and lines == {(here.path, here.line)}


def _made(effects: Effects) -> Iterator[Event]:
    """Calls that make a group with every rank of the job."""
    events = (each for found in effects.of.values() for each in found if isinstance(each, Event))
    for event in events:
        call = event.site
        alone = isinstance(call, ast.Call) and argument(call, "use_local_synchronization") is not None
        if event.op in GROUP_MAKERS and not alone:
            yield event


def _at(event: Event, here: SourcePlace) -> bool:
    return event.function.module.path == here.path and spans(event.site, here.line)


def _remembers(divergence: PossibleDivergence) -> bool:
    return isinstance(divergence.owner, ast.If) and asked_first(divergence.owner)
