"""A broadcast of which more members are done than its root: who must have taken itself for the root, by the code.

Only the root may be done with a broadcast that others still wait in. Where the code lets every member name one and the
same rank, and some of them itself instead, those that are done beside that rank named themselves.
"""

from __future__ import annotations

import ast

from rankandfile.model.diagnosis import Verdict
from rankandfile.model.findings import NamedByCode
from rankandfile.model.heuristics import heuristic
from rankandfile.model.ranks import parse_ranks
from rankandfile.source.lines.arguments import called_name, calls_on
from rankandfile.source.lines.call_paths import CallPath, Stop
from rankandfile.source.lines.found_line import Search
from rankandfile.source.lines.held_line import innermost
from rankandfile.source.program.places import SourcePlace

from .unsent_message import rank_words

_BROADCASTS = {"broadcast", "broadcast_object_list"}
_NAMES = ("src", "root")
_DONE = "done"
_MOST_MEMBERS = 256


@heuristic("self-made root", "who is done with a broadcast beside its usual root took itself for the root")
def by_own_root(verdict: Verdict, search: Search) -> NamedByCode | None:
    named = _own_root(verdict, search)
    if named is None:
        return None
    ranks, usual = named
    return NamedByCode(
        ranks=ranks,
        doing="took itself for the root",
        sentence=f"By the code, each member names rank {usual} or itself: those that wait named rank {usual}, and "
        f"{rank_words(ranks)} {'is' if len(ranks) == 1 else 'are'} done as only a root can be.",
    )


def _own_root(verdict: Verdict, search: Search) -> tuple[tuple[int, ...], int] | None:
    """Those that named themselves, and whom all others named; None where the code does not decide it."""
    diverged, world = verdict.divergence, search.case.world_size
    if diverged is None or not world or len(diverged.cohorts) != 2:
        return None
    done, waiting = diverged.cohorts
    if done.call is None or waiting.call is None or done.call.detail != _DONE:
        return None
    given = _given(search, done.call.evidence), _given(search, waiting.call.evidence)
    members = [*_parsed(done.ranks), *_parsed(waiting.ranks)]
    if given[0] is None or given[1] is None or given[0][1] is not given[1][1] or len(members) > _MOST_MEMBERS:
        return None
    place, e = given[0]
    can_name = {r: search.one_rank(r).of(e, place.function) for r in members}
    known = {rank: values for rank, values in can_name.items() if values is not None}
    if len(known) < len(members):
        return None
    usual = [rank for rank in members if all(rank in values for values in known.values())]
    if len(usual) != 1:
        return None
    (root,) = usual
    finished = set(_parsed(done.ranks))
    odd = tuple(sorted(finished - {root}))
    if root not in finished or not odd or 2 * len(odd) >= len(members):
        return None
    return (odd, root) if all(rank in known[rank] for rank in odd) else None


def _given(search: Search, evidence: list[str]) -> tuple[SourcePlace, ast.expr] | None:
    """The place of the call, and the root that is written there."""
    cited = search.paths.cited(evidence)
    path: CallPath = search.paths.calls(cited[0])[cited[1]].path if cited else ()
    place = innermost(search.places, path)
    if place is None:
        return None
    for call in calls_on(place, Stop(place.line)):
        if called_name(call) in _BROADCASTS:
            named = [keyword.value for keyword in call.keywords if keyword.arg in _NAMES]
            for root in (*named, *call.args[1:2]):
                return place, root
    return None


def _parsed(ranks: str) -> list[int]:
    try:
        return parse_ranks(ranks)
    except ValueError:
        return []
