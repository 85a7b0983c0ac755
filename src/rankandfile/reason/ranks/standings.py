"""One standing per rank, from the best that tells it: its end, its calls, its stack, its watchdog's lines, or nothing.

Ranks of which the same is told are one line: a job of 16k ranks stands in a handful of places.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import NamedTuple

from msgspec.structs import replace

from rankandfile.model.claims import Claim, InCall, of_group, ranks_of
from rankandfile.model.diagnosis import Location, Standing
from rankandfile.model.ledger import Note
from rankandfile.model.ranks import format_ranks, parse_ranks
from rankandfile.reason.calls.contracts import contract_of
from rankandfile.reason.claims.holds import unsaid, what_holds
from rankandfile.reason.claims.in_words import call_of
from rankandfile.reason.claims.of_tellings import ended, logged, stands
from rankandfile.reason.claims.raw import Raw
from rankandfile.reason.facts import Facts
from rankandfile.reason.waits.graph import Pending
from rankandfile.reason.waits.in_words import in_calls
from rankandfile.reason.words import shortened

from .activity import at
from .did_instead import location_of, world_of
from .from_logs.accounts import OWN
from .from_logs.nccl_setups import setups
from .from_logs.ras_counts import Launches, launches
from .missing_dumps import absent_ranks, reasons

_MOST_LINES = 64
_DOUBTED = "what was concluded of it does not hold against the records"
_MOST_REASONS = 512
_LONGEST, _LONGEST_ERROR, _LONGEST_WAIT = 80, 160, 200
_NUMBER = re.compile(r"\d+")


class _Told(NamedTuple):
    standing: Standing
    """Of one rank; `ranks` is filled in when those alike are put together."""
    claim: Claim | None
    """What it rests on; None where it only repeats a counter of NCCL's."""

    @property
    def key(self) -> tuple[object, ...]:
        one = self.standing
        place = one.location
        return one.state, one.what, one.moving, place and (place.file, place.line)


Ways = dict[Pending, list[InCall]]
"""Who waits in a call, by what each rank's own record says of it: asked once per call."""


def standings(facts: Facts) -> tuple[list[Standing], list[Note]]:
    """Where every rank of the job is; the fewest alike first. And what is not said of them, as it does not hold."""
    alike: dict[tuple[object, ...], list[tuple[int, _Told]]] = {}
    silent: list[int] = []
    ways: Ways = {}
    by_nccl = _by_nccl(facts) if not facts.call_table.calls.height else {}
    unlooked = {*facts.case.unlooked["rank"]}
    for rank in range(world_of(facts)):
        told = (
            _ended(facts, rank)
            or _of_calls(facts, rank, ways)
            # A watchdog that gave the stack says more: the call itself, and its number.
            or (rank in unlooked and _of_log(facts, rank))
            or _of_stack(facts, rank)
            or _of_log(facts, rank)
            or by_nccl.get(rank)
            or _aborted(facts, rank)
        )
        if told is None:
            silent.append(rank)
        else:
            alike.setdefault(told.key, []).append((rank, told))
    raw, by_rarity = Raw(facts.case), sorted(alike.values(), key=_order)
    found, notes = _checked(raw, by_rarity[:_MOST_LINES])
    for those in _by_state(by_rarity[_MOST_LINES:]):
        shown, more = _checked(raw, those[:1])
        found.append(_together(shown[0], len(those), [rank for one in those for rank, _ in one]))
        notes += more
    unknown = _unknown(facts, silent)
    if rest := unknown[_MOST_LINES:]:
        ranks = [rank for one in rest for rank in parse_ranks(one.ranks)]
        unknown[_MOST_LINES:] = [_together(rest[0], len(rest), ranks)]
    return [*found, *unknown], notes


def _by_state(alike: list[list[tuple[int, _Told]]]) -> list[list[list[tuple[int, _Told]]]]:
    found: dict[str, list[list[tuple[int, _Told]]]] = defaultdict(list)
    for those in alike:
        found[those[0][1].standing.state].append(those)
    return list(found.values())


def _together(first: Standing, ways: int, ranks: list[int]) -> Standing:
    """One line for what would be too many: no rank of the job is left out."""
    if ways == 1:
        return first
    what = f"in {ways:,} different ways; rank {parse_ranks(first.ranks)[0]}: {first.what}"
    return replace(first, ranks=format_ranks(ranks), what=what, moving=None, location=None)


def _order(ranks: list[tuple[int, _Told]]) -> tuple[int, int, str]:
    words = format_ranks(rank for rank, _ in ranks)
    return len(ranks), words.count(","), words


def _checked(raw: Raw, alike: list[list[tuple[int, _Told]]]) -> tuple[list[Standing], list[Note]]:
    found: list[Standing] = []
    notes: list[Note] = []
    for those in alike:
        told, ranks = those[0][1], format_ranks(rank for rank, _ in those)
        if told.claim is None:
            found.append(_of(told.standing, ranks))
            continue
        ids = dict.fromkeys(i for _, one in those for i in (one.claim.evidence[:4] if one.claim else ()))
        whole = replace(told.claim, ranks=ranks, evidence=list(ids))
        true = what_holds(raw, whole)
        if true != whole:
            notes.append(unsaid(whole))
        if true is not None:
            found.append(_of(told.standing, true.ranks))
        if rest := set(ranks_of(whole)) - set(ranks_of(true) if true else ()):
            found.append(Standing(ranks=format_ranks(rest), state="unknown", what=_DOUBTED))
    return found, notes


def _of(one: Standing, ranks: str) -> Standing:
    several = len(parse_ranks(ranks)) > 1
    what = one.what.replace("waiting for its ", "waiting for their ") if several else one.what
    return replace(one, ranks=ranks, what=what)


def _ended(facts: Facts, rank: int) -> _Told | None:
    end = facts.accounts.ends.get(rank)
    if end is None or not facts.accounts.gone(rank):
        return None
    standing = Standing(
        ranks="", state="gone", what=end.words, told_by="exit", evidence=list(end.evidence[:2])
    )
    return _Told(standing, ended(rank, end))


def _aborted(facts: Facts, rank: int) -> _Told | None:
    """Where nothing tells how it stood before: its process is gone, whyever it ended itself."""
    end = facts.accounts.ends.get(rank)
    if end is None or not end.aborted:
        return None
    one = Standing(ranks="", state="gone", what=end.words, told_by="exit", evidence=list(end.evidence[:2]))
    return _Told(one, ended(rank, replace(end, how=OWN)))


def _of_calls(facts: Facts, rank: int, ways: Ways) -> _Told | None:
    """The call it cannot get past. Its stack, where there is one, only says the same with more words."""
    calls = [facts.waits.pending[index] for index in facts.waits.of_rank.get(rank, ())]
    if not calls:
        return None
    if calls[0] not in ways:
        ways[calls[0]] = in_calls(facts, calls[0])
    here = next((way for way in ways[calls[0]] if rank in ranks_of(way)), None)
    if here is None:
        return None
    stand = facts.hosts.get(rank)
    standing = Standing(
        ranks="",
        state="waits",
        what=f"in the {call_of(here)}",
        moving=stand.moving if stand is not None else None,
        told_by="calls",
        evidence=here.evidence[:1],
    )
    return _Told(standing, here)


def _of_stack(facts: Facts, rank: int) -> _Told | None:
    stand = facts.hosts.get(rank)
    if stand is None:
        return None
    moving = stand.moving if stand.moving is not None else (True if stand.running else None)
    waits = stand.waits == "ranks" and not moving
    standing = Standing(
        ranks="",
        state="gone" if stand.died else "waits" if waits else "stands",
        what=stand.words,
        moving=moving,
        told_by="stack",
        location=Location(
            file=stand.location.file, line=stand.location.line, function=stand.location.function
        ),
        evidence=list(stand.evidence[:2]),
    )
    return _Told(standing, stands(stand))


def _of_log(facts: Facts, rank: int) -> _Told | None:
    """What its watchdog gave up on, or what it raised; else the last thing that it said."""
    accounts = facts.accounts
    report = next((r for r in accounts.of_rank.get(rank, ()) if r.seq is not None), None)
    if report is not None:
        op = contract_of(report.op).op if report.op else None
        group, ids = report.desc or report.group, [report.evidence]
        here = f", {at(report.site)}" if report.site is not None else ""
        what = f"in {op or report.op or 'a call'} #{report.seq}{of_group(group)}{here}"
        place = location_of(report.site)
        standing = Standing(ranks="", state="waits", what=what, told_by="log", location=place, evidence=ids)
        return _Told(standing, InCall(ranks=str(rank), group=group, seq=report.seq, op=op, evidence=ids))
    waited = accounts.waited_in_vain.get(rank)
    if waited is not None and rank not in accounts.raised:
        where = f" in {waited.place.function}, {at(waited.place)}" if waited.place is not None else ""
        what = f"waited{where} until its time was over: {waited.words}"
        standing = Standing(
            ranks="",
            state="waits",
            what=shortened(what, _LONGEST_WAIT),
            told_by="log",
            location=location_of(waited.place),
            evidence=list(waited.evidence[:2]),
        )
        return _Told(standing, logged(rank, waited))
    for words, errors in (
        ("raised ", accounts.raised),
        ("its device failed: ", accounts.device),
        ("its link failed: ", accounts.link),
        ("lost a peer: ", accounts.echoes),
        ("lost a peer: ", accounts.lost_peers),
    ):
        if (error := errors.get(rank)) is not None:
            # What the program caught ended nobody.
            gone = errors is accounts.raised and rank not in accounts.caught
            standing = Standing(
                ranks="",
                state="gone" if gone else "unknown",
                what=f"{words}{shortened(error.words, _LONGEST_ERROR)}",
                told_by="log",
                evidence=list(error.evidence[:2]),
            )
            return _Told(standing, logged(rank, error))
    return None


def _by_nccl(facts: Facts) -> dict[int, _Told]:
    """Where NCCL's own words put each rank: in the setup of the communicator of all, or at a number of launches."""
    world = world_of(facts)
    out: dict[int, _Told] = {}
    for comm, setup in setups(facts.case).items():
        for rank, evidence in setup.begun.items() if setup.size == world and not setup.completed else ():
            what = f"in NCCL's setup of the communicator {comm}"
            one = Standing(ranks="", state="waits", what=what, told_by="log", evidence=[evidence])
            out[rank] = _Told(one, None)
    latest: dict[str, Launches] = {}
    for count in launches(facts.case, facts.accounts, world):
        if count.size == world and count.of_rank and count.usual >= latest.get(count.op, count).usual:
            latest[count.op] = count
    for rank in range(world) if latest else ():
        told = (
            f"{c.of_rank.get(rank, c.usual)} launches of {c.op or 'collectives'}" for c in latest.values()
        )
        ids = [count.evidence for count in latest.values()]
        what = f"NCCL's RAS counts {', '.join(told)}"
        one = Standing(ranks="", state="unknown", what=what, told_by="log", evidence=ids[:2])
        out[rank] = _Told(one, None)
    return out


def _unknown(facts: Facts, ranks: list[int]) -> list[Standing]:
    why: dict[str, list[int]] = defaultdict(list)
    last: dict[str, dict[int, str]] = defaultdict(dict)  # lines that differ in their numbers only
    seen = set(facts.case.ranks_seen)
    absent = set(absent_ranks(facts)) if seen else set()
    told = reasons(facts, [rank for rank in ranks if rank in absent][:_MOST_REASONS]) if absent else {}
    for rank in ranks:
        if rank in told:
            reason = told[rank]
            why[reason.words if reason.left_a_file else f"left no dump: {reason.words}"].append(rank)
        elif rank in seen:
            why["in no call that has not ended, and nobody took its stack"].append(rank)
        else:
            line = shortened(facts.accounts.last_lines.get(rank) or "", _LONGEST)
            heard = rank in facts.accounts.logged or rank in facts.accounts.of_rank
            nothing = "no line of it tells where it stands" if heard else "nothing of it was found"
            if line:
                last[_NUMBER.sub("#", line)][rank] = line
            else:
                why[nothing].append(rank)
    for lines in last.values():
        (first, line), *_ = lines.items()
        alike = len(set(lines.values())) == 1
        whose = "its last line" if alike else f"its last line differs in numbers alone; that of rank {first}"
        why[f"{whose}: '{line}'"] += lines
    return [Standing(ranks=format_ranks(those), state="unknown", what=words) for words, those in why.items()]
