"""The truth of a simulated incident: what was planted, and what the simulation then did with it.

The sequence number, the members and what each cohort issued are read off the ranks' own records; nothing here
looks at dumps or knows an analyser.
"""

from __future__ import annotations

from rankandfile.lab.sim.faults.fault import Fault
from rankandfile.lab.sim.host import Host, Record, Seen
from rankandfile.lab.sim.layout import Group, Layout
from rankandfile.lab.sim.ops import Batch, Call
from rankandfile.lab.sim.scenario import Scenario
from rankandfile.lab.sim.sites import user_place
from rankandfile.lab.sim.sources import place_of_fault
from rankandfile.lab.truth import (
    CohortTruth,
    DivergenceTruth,
    FixTruth,
    LocationTruth,
    Truth,
    family_of,
    short_ranks,
)

Issued = tuple[str, str, int, str]  # op, file, line, function; an empty op: none


def truth_of(
    scenario: Scenario, layout: Layout, hosts: list[Host], now: int, dumped: set[int], removed: list[str]
) -> Truth:
    """`now`: the moment of the dumps; what ranks issued later is in no evidence."""
    first = scenario.faults[0] if scenario.faults and scenario.expects_hang else None
    cause = first.cause if first else "no_hang"
    culprits: list[int] = []
    if first:
        ranks = {rank for fault in scenario.faults if fault.hang for rank in fault.ranks}
        culprits = sorted(scenario.culprits if scenario.culprits is not None else ranks)
    from_dumps, ranks_from_dumps = _from_dumps(scenario, first, culprits, dumped)
    return Truth(
        name=scenario.name,
        title=scenario.title,
        program="trainkit",
        origin="simulated",
        world_size=layout.world_size,
        hang=scenario.expects_hang,
        cause=cause,
        family=family_of(cause),
        culprits=culprits,
        accepted_causes=list(first.accepted) if first else [],
        decidable_from_dumps=bool(from_dumps),
        cause_from_dumps=from_dumps,
        culprits_from_dumps=ranks_from_dumps,
        decoys=list(scenario.decoys),
        removed=removed,
        twin=scenario.name.endswith(".twin"),
        divergence=_tellable(scenario, _divergence(first, layout, hosts, now)),
        location=_location(first) if first else None,
        fix=FixTruth(summary=first.fix) if first and first.fix else None,
    )


def _from_dumps(
    scenario: Scenario, first: Fault | None, culprits: list[int], dumped: set[int]
) -> tuple[str, list[int]]:
    """What an analyser can prove that has the dumps and nothing else. Without all of them it must abstain."""
    if not dumped:
        return "", []
    if first is None:
        # A job caught in full flight looks like one that is about to hang: dumps alone do not tell.
        return ("no_hang" if scenario.evidence.snapshot is None else ""), []
    ranks = culprits if first.ranks_from_dumps is None else list(first.ranks_from_dumps)
    if len([fault for fault in scenario.faults if fault.hang]) > 1:
        # Of independent faults, those whose ranks left a dump can be told, each by itself.
        ranks = [rank for rank in ranks if rank in dumped]
    if not set(ranks) <= dumped:
        return "", []
    return first.from_dumps, ranks


def _tellable(scenario: Scenario, divergence: DivergenceTruth) -> DivergenceTruth:
    """A call without a number of its own, in dumps without call sites, has nothing that it could be named by."""
    nameless = not divergence.seq and not scenario.evidence.recording.frames
    return DivergenceTruth(kind="none") if nameless else divergence


def _location(fault: Fault) -> LocationTruth | None:
    if not fault.place:
        return None
    place = place_of_fault(fault.place)
    return LocationTruth(file=place.file, line=place.line, function=place.function, condition=place.text)


def _divergence(fault: Fault | None, layout: Layout, hosts: list[Host], now: int) -> DivergenceTruth:
    if fault is None:
        return DivergenceTruth(kind="none")
    marks = [(host.rank, seen) for rank in fault.ranks for host in (hosts[rank],) for seen in host.marks]
    marks = [(rank, seen) for rank, seen in marks if seen.mark.call is not None and seen.time <= now]
    if not marks:
        return _open_collective(fault, layout, hosts, now)
    rank, seen = min(marks, key=lambda item: item[1].time)
    call = seen.mark.call
    assert call is not None
    role = call.transfers[0].group if isinstance(call, Batch) else call.group
    group = layout.group(role, rank)
    if not isinstance(call, Call):
        return _transfer(fault, group, hosts, seen, now)
    place = sum(record.created <= seen.time for record in _collectives(hosts[rank], group))
    if fault.kind == "cycle":
        return _described(
            "cycle", group, seen.next_seq, _waiting(layout, hosts, now, {*group.ranks, *fault.ranks})
        )
    return _described(
        fault.kind, group, seen.next_seq, _cohorts(group, hosts, place, seen.next_seq, now, fault.ranks)
    )


def _described(kind: str, group: Group, seq: int, cohorts: list[CohortTruth]) -> DivergenceTruth:
    return DivergenceTruth(
        kind=kind,
        group=group.name,
        description=group.desc,
        members=list(group.ranks),
        seq=seq,
        cohorts=cohorts,
    )


def _open_collective(fault: Fault, layout: Layout, hosts: list[Host], now: int) -> DivergenceTruth:
    """Nobody diverged from anything: name the collective that everyone joined and nobody finished."""
    open_ones = [
        (record.created, record.what.group, host.rank)
        for host in hosts
        for record in host.records
        if not record.what.is_p2p
        and record.node is not None
        and record.created <= now
        and record.node.done is None
    ]
    if not open_ones:
        return DivergenceTruth(kind=fault.kind)
    created, index, rank = min(open_ones)
    group = layout.groups[index]
    ordered = _collectives(hosts[rank], group)
    place = next(i for i, record in enumerate(ordered) if record.created == created)
    seq = ordered[place].collective_seq
    return _described(fault.kind, group, seq, _cohorts(group, hosts, place, seq, now, ()))


def _collectives(host: Host, group: Group) -> list[Record]:
    """The collectives of a group that this rank issued, in order: what they pair by, whatever their numbers."""
    index = group.index
    return [r for r in host.records if r.what.group == index and r.node is not None and not r.what.is_p2p]


def _cohorts(
    group: Group, hosts: list[Host], place: int, seq: int, now: int, diverged: tuple[int, ...]
) -> list[CohortTruth]:
    """What each member issued at that place of the group's order, members that issued alike together; with its
    own number where that differs, since batches of sends take numbers too. Those who diverged stand apart even
    when what they issued looks the same: theirs is another turn of the loop."""
    issued: dict[tuple[bool, int, Issued], list[int]] = {}
    for rank in group.ranks:
        ordered = _collectives(hosts[rank], group)
        record = ordered[place] if place < len(ordered) and ordered[place].created <= now else None
        own = record.collective_seq if record is not None and record.collective_seq != seq else 0
        issued.setdefault((rank in diverged, own, _named(record)), []).append(rank)
    ranked = sorted(issued.items(), key=lambda item: -len(item[1]))
    return [_cohort(call, ranks, "", own) for (_, own, call), ranks in ranked]


def _waiting(layout: Layout, hosts: list[Host], now: int, ranks: set[int]) -> list[CohortTruth]:
    """A cycle spans groups: for each rank of it, the call that it waits in, and where."""
    waiting: dict[tuple[str, int, Issued], list[int]] = {}
    for rank in sorted(ranks):
        record = next((r for r in hosts[rank].records if _open(r, now)), None)
        if record is not None:
            key = (layout.groups[record.what.group].name, record.collective_seq, _named(record))
            waiting.setdefault(key, []).append(rank)
    cohorts = [_cohort(call, members, group, seq) for (group, seq, call), members in waiting.items()]
    return sorted(cohorts, key=lambda cohort: -len(cohort.ranks))


def _named(record: Record | None) -> Issued:
    if record is None:
        return ("", "", 0, "")
    place = user_place(record.what.site)
    return (record.what.op, place.file, place.line, place.function)


def _cohort(call: Issued, ranks: list[int], group: str = "", seq: int = 0) -> CohortTruth:
    op, file, line, function = call
    return CohortTruth(
        ranks=short_ranks(ranks), op=op, file=file, line=line, function=function, group=group, seq=seq
    )


def _transfer(fault: Fault, group: Group, hosts: list[Host], seen: Seen, now: int) -> DivergenceTruth:
    """Sends have no common sequence: the fault's ranks, and the members left with an open transfer."""
    issued: dict[Issued, list[int]] = {}
    for rank in group.ranks:
        if rank in fault.ranks:
            later = (r for r in hosts[rank].records if r.what.group == group.index and r.created > seen.time)
            record = next((r for r in later if r.created <= now), None)
        else:
            record = next((r for r in hosts[rank].records if _open_transfer(r, group, now)), None)
            if record is None:
                continue
        issued.setdefault(_named(record), []).append(rank)
    cohorts = [_cohort(call, ranks) for call, ranks in issued.items()]
    return _described(fault.kind, group, 0, cohorts)


def _open_transfer(record: Record, group: Group, now: int) -> bool:
    return record.what.group == group.index and record.what.is_p2p and _open(record, now)


def _open(record: Record, now: int) -> bool:
    """Enqueued by then, and not over."""
    node = record.node
    return record.created <= now and node is not None and (node.done is None or node.done > now)
