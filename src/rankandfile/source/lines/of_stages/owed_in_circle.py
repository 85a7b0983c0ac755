"""Of ranks that receive from each other in a circle: who of them alone may have gone by what the other waits for.

Each stands in a receive, behind functions of its own: a server and a worker, say. From the sends that these functions
lead to, the tests are looked for upon which one is left out. Where one rank alone has such a test, upon its own data,
the message of that round was not sent.

In: the suspects of a circle. Out: the test, if there is one.
"""

from __future__ import annotations

from collections.abc import Iterator

from rankandfile.model.causes import RECEIVES_FROM
from rankandfile.model.diagnosis import Verdict
from rankandfile.model.heuristics import heuristic
from rankandfile.source.dependence import Reason
from rankandfile.source.lines.call_paths import CallPath, first_unlike
from rankandfile.source.lines.found_line import FoundLine, Search
from rankandfile.source.program.modules import Function

from .left_out import upon
from .unsent import Around, around

_SENDS = ("send", "isend", "send_object_list")
#: From a send up to the function that the rank stands in.
_DEEPEST = 4


@heuristic(
    "owed in a circle", "of a circle of receives, who alone may have gone by a send upon its own data did so"
)
def owed_in_circle(search: Search, verdict: Verdict) -> FoundLine | None:
    ranks = [one.rank for one in verdict.suspects]
    if not verdict.hang or len(ranks) < 2 or verdict.culprits:
        return None
    if not all((one.doing or "").startswith(RECEIVES_FROM) for one in verdict.suspects):
        return None
    paths = {rank: search.paths.now(rank) for rank in ranks}
    found = {rank: way for rank in ranks if (way := _ways_by(search, rank, paths))}
    if len(found) != 1:
        return None
    ((rank, ways),) = found.items()
    if len(ways) != 1:
        return None
    (((function, test), reason),) = ways.items()
    file = function.module.path.rsplit("/", 1)[-1]
    story = f"In the circle, rank {rank} alone may have gone by its message ({file}:{test.lineno})."
    # What has to do with the rank's number varies, though the number is not what changed: nothing is said of why.
    return upon(function, test, reason or Reason(level="varying"), rank, story)


def _ways_by(search: Search, rank: int, paths: dict[int, CallPath]) -> Around:
    """The tests around the sends that its own functions lead to, those in which no other of the circle is."""
    own = _own_functions(search, rank, paths)
    found: Around = {}
    for name in _SENDS:
        for site in search.objects.index.calls(name):
            for function, line in _up(search, site.function, site.call.lineno, own, _DEEPEST):
                found.update(around(search, function, line, rank))
    return found


def _own_functions(search: Search, rank: int, paths: dict[int, CallPath]) -> set[Function]:
    path = paths[rank]
    depth = max((first_unlike(path, other) or 0 for at, other in paths.items() if at != rank), default=0)
    places = (search.places.find(frame) for frame in path[depth + 1 :])
    return {place.function for place in places if place is not None and place.known}


def _up(
    search: Search, function: Function, line: int, own: set[Function], left: int
) -> Iterator[tuple[Function, int]]:
    """From a send to a function that the rank is in: the functions on the way, each with the line that leads on;
    nothing where the way does not end in one."""
    if function in own:
        yield function, line
        return
    for site, _ in search.objects.callers(function) if left else ():
        way = list(_up(search, site.function, site.call.lineno, own, left - 1))
        if way:
            yield from [(function, line), *way]
