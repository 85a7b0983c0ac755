"""The paths that the ranks of one group took, and which of them is the normal one.

Most ranks define normal. Where as many went one way as the other, the loop's own past decides: the side that did
what earlier steps did is normal. Where that does not decide either, nobody is called the one who diverged.

In: the table of calls and a group. Out: `GroupPaths`, the normal path first, each with its ranks and with how it
differs from the normal one. With letters for calls:

    ranks 0-2  a b a b          normal, by majority
    rank 3     a a b            skipped the b at slot 2

    rank 0     a b a b a b      normal, by history: every a before was followed by a b
    rank 1     a b a b a a      skipped the b at slot 6
"""

from __future__ import annotations

from msgspec import Struct

from rankandfile.reason.calls.call_table import CallTable

from .cohorts import Track, tracks
from .earlier_rounds import by_history
from .track_difference import TrackDifference, agree, track_difference

_MOST_PATHS = 24
"""Cohorts beyond this are compared with the largest path only: the answer is in the big ones."""


class Path(Struct, frozen=True):
    ranks: tuple[int, ...]
    track: Track
    """The longest track of those on this path."""
    difference: TrackDifference | None
    """From the normal path; None for the normal one."""


class GroupPaths(Struct, frozen=True):
    group: int
    paths: tuple[Path, ...]
    """The normal path first."""
    decided_by: str
    """majority, history or nothing: what says which path is normal."""
    alike: tuple[int, ...] = ()
    """Ranks that wait in the last call of the normal path, and came to it in another way: they bear witness of it."""

    @property
    def normal(self) -> Path:
        return self.paths[0]

    @property
    def diverged(self) -> tuple[Path, ...]:
        return self.paths[1:]


def paths_of_group(call_table: CallTable, group: int) -> GroupPaths | None:
    """The paths of the members of a group; None where there are no calls to compare."""
    cohorts = tracks(call_table, group)
    found = _paths(cohorts)
    if not found:
        return None
    found.sort(key=lambda pair: (-pair[1], -len(pair[0].ranks), pair[0].ranks))
    paths, solid = [track for track, _ in found], [count for _, count in found]
    decided = "majority"
    if len(paths) > 1 and solid[1] == solid[0]:
        even = [track for track, count in found if count == solid[0]]
        first = by_history(even)
        decided = "history" if first is not None else "nothing"
        if first is not None:
            paths.insert(0, paths.pop(first))
    normal = paths[0]
    others = [Path(t.ranks, t, track_difference(normal, t)) for t in paths[1:]]
    return GroupPaths(group, (Path(normal.ranks, normal, None), *others), decided)


def _paths(cohorts: list[Track]) -> list[tuple[Track, int]]:
    """The paths, and how many ranks stand behind each that also agree call by call.

    Ranks that fell out of step and back into it are on one path in the end, but they are no witnesses for it.
    """
    paths: list[tuple[Track, int]] = []
    for cohort in cohorts:
        for i, (path, solid) in enumerate(paths[:_MOST_PATHS]):
            if track_difference(path, cohort) is None:
                longer = path if len(path.tokens) >= len(cohort.tokens) else cohort
                ranks = tuple(sorted(path.ranks + cohort.ranks))
                witnesses = (
                    solid + len(cohort.ranks) if agree(path, cohort) else max(solid, len(cohort.ranks))
                )
                paths[i] = Track(ranks, longer.first, longer.tokens, longer.terms), witnesses
                break
        else:
            paths.append((cohort, len(cohort.ranks)))
    return paths
