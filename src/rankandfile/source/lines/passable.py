"""What the source says of ways through it: where loops are, and which lines can be passed or avoided."""

from __future__ import annotations

from typing import Literal

from rankandfile.source.program.places import Places, in_loop

from .arguments import called_name, calls_on
from .call_paths import Frame
from .forks import Ground, Stop
from .passing import passes, reaches


def ground_of(places: Places) -> Ground:
    def loops(frame: Frame, called: str | None) -> Literal["own", "library", ""]:
        place = places.find(frame)
        if place is None or not place.known:
            return ""
        if in_loop(place):
            return "own"
        # A function that the line does not name is called by a library in between, as often as that likes.
        names = {called_name(call) for call in calls_on(place, Stop(frame.line))}
        hidden = called is not None and names and not names & {called, "apply"}
        return "library" if hidden else ""

    def avoids(frame: Frame, line: int) -> bool:
        place = places.find(frame)
        return place is None or not place.known or reaches(place.function, frame.line, line)

    def passed(frame: Frame, after: int | None, via: int, to: int | None) -> bool:
        place = places.find(frame)
        return place is None or not place.known or passes(place.function, after, via, to)

    return Ground(loops, avoids, passed)
