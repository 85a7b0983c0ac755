"""What each member says it asked for in one collective: by its dump or, where there is none, by its watchdog's line,
or by the stack on which it stands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import polars as pl

from rankandfile.model.column import Row
from rankandfile.model.diagnosis import Call
from rankandfile.reason import lookup
from rankandfile.reason.facts import Facts
from rankandfile.reason.ranks.activity import CodePlace, is_library, places_of
from rankandfile.reason.ranks.from_logs.accounts import Report
from rankandfile.reason.ranks.from_logs.watchdog_counters import is_of
from rankandfile.reason.ranks.host import Stand
from rankandfile.reason.words import counted

from .call_table import COLLECTIVE
from .contracts import contract_of

#: A rank is out of line only where at least so many others, and so many times as many, agree.
_FEWEST, _TIMES = 3, 3
_LONGEST = 2000

Asked = tuple[str, int | None]
"""Operation, and the number of elements where all must agree on it."""
Site = tuple[str, int]


class Request(NamedTuple):
    rank: int
    asked: Asked
    site: Site | None
    """File, without its folders, and line."""
    place: CodePlace | None
    evidence: str
    way: tuple[Site, ...] = ()
    """Of each frame of the program, innermost first; empty where nothing tells them."""


def of_report(report: Report) -> Request | None:
    """What a watchdog's line says that its rank asked for; None where it names no operation."""
    if report.op is None:
        return None
    contract = contract_of(report.op)
    size = {"input": report.size_in, "either": report.size_in, "output": report.size_out}.get(contract.agree)
    place = report.site
    return Request(
        report.rank,
        (contract.op, size),
        _site(place) if place else None,
        place,
        report.evidence,
        _way(report.way),
    )


def of_call(facts: Facts, row: Row) -> Request:
    """What a recorded call asked for."""
    terms = facts.call_table.terms[row["terms"]]
    contract = contract_of(terms.op)
    size = sum(terms.size) if contract.agree in ("input", "either", "output") and terms.size else None
    frame = lookup.frame(facts.case, row["site"])
    place = CodePlace(frame["function"], frame["file"], frame["line"]) if frame else None
    return Request(
        row["rank"],
        (contract.op, size),
        _site(place) if place else None,
        place,
        lookup.evidence_of(row),
        _way(_frames(facts, row["stack"])),
    )


def of_stack(facts: Facts, stand: Stand, op: str) -> Request:
    """What a rank asks for that stands still in a collective."""
    at = stand.location
    place = CodePlace(at.function or "", at.file, at.line or 0)
    way = _way(_frames(facts, stand.stack))
    return Request(stand.rank, (contract_of(op).op, None), _site(place), place, stand.evidence[0], way)


def _site(place: CodePlace) -> Site:
    return lookup.short_file(place.file), place.line


def _way(places: Iterable[CodePlace]) -> tuple[Site, ...]:
    return tuple(_site(place) for place in places if not is_library(place))


def _frames(facts: Facts, stack: int | None) -> list[CodePlace]:
    wanted = pl.Series("stack", [stack], dtype=pl.UInt32).drop_nulls()
    return next((places for _, _, places in places_of(wanted, facts.case.stacks, facts.case.frames)), [])


def claims_at(facts: Facts, group: int, slot: int) -> list[Request]:
    """One per member that says something of the call."""
    rows = facts.call_table.of_group(group).filter(pl.col("slot") == slot)
    found = {row["rank"]: of_call(facts, row) for row in rows.iter_rows(named=True)}
    named = facts.case.groups.row(by_predicate=pl.col("group") == group, named=True)
    members = facts.membership.members[group]
    for rank in members:
        for report in facts.accounts.of_rank.get(rank, ()) if rank not in found else ():
            if report.seq == slot and is_of(report, {named["name"], named["desc"]}, members):
                claim = of_report(report)
                if claim is not None:
                    found[rank] = claim
    return [found[rank] for rank in sorted(found)]


def agree(one: Asked, other: Asked) -> bool:
    """Whether both asked for one operation, of one size where both tell it."""
    return one[0] == other[0] and (one[1] is None or other[1] is None or one[1] == other[1])


def sides(requests: Sequence[Request]) -> list[list[Request]]:
    """Those that asked for the same, largest first."""
    out: list[list[Request]] = []
    for claim in requests:
        side = next((side for side in out if agree(side[0].asked, claim.asked)), None)
        if side is None:
            out.append([claim])
        else:
            side.append(claim)
    return sorted(out, key=lambda side: -len(side))


def by_site(requests: Sequence[Request]) -> list[list[Request]]:
    """The same by operation and the line that made it, where each tells its line; one side where one does not."""
    if any(claim.site is None for claim in requests):
        return [list(requests)] if requests else []
    out: dict[tuple[str, Site | None], list[Request]] = {}
    for claim in requests:
        out.setdefault((claim.asked[0], claim.site), []).append(claim)
    return sorted(out.values(), key=lambda side: -len(side))


def majority(parts: Sequence[Sequence[object]]) -> bool:
    """Whether the first side is so much larger that the others are out of line."""
    rest = sum(len(side) for side in parts[1:])
    return bool(rest) and len(parts[0]) >= max(_FEWEST, _TIMES * rest)


def most_of_all(parts: Sequence[Sequence[Request]], members: Iterable[int]) -> bool:
    """Whether all members tell what they asked for, more than half of them asked for one thing at one line, and the
    others for another: what strikes one rank seldom strikes two alike.

    Alike are those that came to the line on one way: who came on another made another call, and so each stands for
    itself. Not of calls that some may be past: then the others stand at one number with them, and are not in one call.
    """
    most, others = parts[0], [claim for side in parts[1:] for claim in side]
    if {claim.rank for claim in (*most, *others)} != {*members} or len(most) <= max(1, len(others)):
        return False
    return one_call(most) and all(takes_all(claim) for claim in (*most, *others))


def one_call(requests: Sequence[Request]) -> bool:
    """Whether all made the call at one line and, where it is told how they came there, on one way."""
    sites, ways = {claim.site for claim in requests}, {claim.way for claim in requests if claim.way}
    return len(sites) == 1 and None not in sites and len(ways) <= 1


def takes_all(claim: Request) -> bool:
    """Nobody gets past such a call before all have come; of an exchange, pairs that agree may."""
    op = claim.asked[0]
    return contract_of(op).early == "nobody" and not op.startswith("all_to_all")


def relation(history: Sequence[Request], expected: Request, came: Request) -> str:
    """skipped, extra, new or unknown: where the call that came lies in what the others made, as against the expected.

    Most often, that is: whatever the others make next, the rank came to too early; what they made just before, it
    made once more; and what they never made is a call of its own.
    """
    place = [i for i, claim in enumerate(history) if same(claim, expected)]
    after = [i for i, claim in enumerate(history) if same(claim, came)]
    if not after:
        return "new" if history else "unknown"
    votes: Counter[str] = Counter()
    for i in place:
        ahead = min((j - i for j in after if j > i), default=None)
        behind = min((i - j for j in after if j < i), default=None)
        if ahead is not None and (behind is None or ahead <= behind):
            votes["skipped"] += 1
        elif behind is not None and ahead is not None:
            votes["extra"] += 1
    return votes.most_common(1)[0][0] if votes else "unknown"


def same(one: Request, other: Request) -> bool:
    """Whether both asked for the same, from the same line where both tell it."""
    return agree(one.asked, other.asked) and (
        one.site is None or other.site is None or one.site == other.site
    )


def history(facts: Facts, group: int, ranks: Iterable[int], before: int | None = None) -> list[Request]:
    """The group's collectives in order, as the rank of these that kept most has them; distinct calls looked up once.

    `before`: those with smaller numbers, and none at all where the last of them was not kept.
    """
    wanted = pl.col("rank").is_in(list(ranks)) & (pl.col("kind") == COLLECTIVE)
    calls = facts.call_table.of_group(group).filter(wanted)
    if before is not None:
        calls = calls.filter(pl.col("slot") < before)
        if calls["slot"].max() != before - 1:
            return []
    if not calls.height:
        return []
    best = calls.group_by("rank").len().sort("len", "rank", descending=[True, False])["rank"][0]
    mine = calls.filter(pl.col("rank") == best).sort("slot").tail(_LONGEST)
    kinds: dict[int, Request] = {}
    out = []
    for row in mine.iter_rows(named=True):
        token = row["token"]
        if token not in kinds:
            kinds[token] = of_call(facts, row)
        out.append(kinds[token])
    return out


def asked(claim: Request) -> str:
    """`all_reduce of 64 elements at train.py:12`."""
    op, size = claim.asked
    at = f" at {claim.site[0]}:{claim.site[1]}" if claim.site else ""
    return f"{op}{' of ' + counted(size, 'element') if size else ''}{at}"


def as_call(claim: Request, seq: int | None) -> Call:
    """The request as a call of the document."""
    place = claim.place
    return Call(
        op=claim.asked[0],
        seq=seq,
        file=place.file if place else None,
        line=place.line if place else None,
        function=place.function if place else None,
        detail=f"{claim.asked[1]:,} element{'s' if claim.asked[1] != 1 else ''}" if claim.asked[1] else None,
        evidence=[claim.evidence],
    )
