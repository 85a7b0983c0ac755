"""What is found where no wait leads anywhere: nothing hangs, or there is nothing to decide on."""

from __future__ import annotations

from rankandfile.model.diagnosis import Missing
from rankandfile.model.ledger import dump_id
from rankandfile.reason.facts import Facts
from rankandfile.reason.ranks.dump_times import written_ns
from rankandfile.reason.ranks.host import Stand
from rankandfile.reason.ranks.missing_dumps import without_dumps
from rankandfile.reason.waits.patience import latest_ns, much_longer
from rankandfile.reason.waits.unnumbered import calls_without_numbers
from rankandfile.reason.words import ranks_words, upper, verb

from .contradiction import Contradiction
from .cut_short import cut_short
from .finding import Finding
from .gone_meanwhile import aborted_meanwhile, gone_meanwhile, recorded_call
from .moved import over_by_dumps
from .nothing_recorded import nothing_recorded

_MOST_TOLD, _MOST_SHOWN = 3, 4


def nothing_waits(facts: Facts) -> Finding:
    if not facts.call_table.calls.height:
        return nothing_recorded(facts)
    if (gone := gone_meanwhile(facts) or aborted_meanwhile(facts)) is not None:
        return gone
    last = facts.call_table.calls["created_ns"].max()
    idle = latest_ns(facts) - (last if isinstance(last, int) else 0)
    well = ended_well(facts)
    if (hung := calls_without_numbers(facts, idle)) is not None and not well:
        return hung
    if not well and (short := cut_short(facts)) is not None:
        return short
    if facts.hidden and much_longer(facts, idle) and not well:
        return _hidden(facts, idle)
    impossible = [one for one in facts.contradictions if one.impossible]
    if impossible and not well:
        return _contradicted(impossible)
    ranks = len(facts.case.ranks_seen)
    unseen = sorted(
        {r for ranks in facts.membership.members.values() for r in ranks} - set(facts.case.ranks_seen)
    )
    if not well and (inside := _unseen_inside(facts, unseen)):
        return _seen_waiting(facts, inside)
    stood = much_longer(facts, idle) and not well
    timeless = written_ns(facts.case, facts.clocks) is None and not well
    if unseen and (stood or timeless) and not facts.hosts:
        return _out_of_sight(facts, unseen, idle if stood else None)
    sentence = (
        f"No rank of the {ranks} with a dump waits for another: every call that was recorded has ended."
    )
    if unseen:
        sentence += (
            f" {upper(without_dumps(facts, unseen))}, and nothing shows that anyone waits for "
            f"{verb(unseen, 'it', 'them')}."
        )
    if timeless and facts.hidden:
        sentence += (
            f" {upper(ranks_words(_known_to_transfer(facts)))} also send and receive, which gloo does not record, and "
            "when the dumps were written their files do not tell: one that still waits there would look like this."
        )
    stood = much_longer(facts, idle) and not well
    if well:
        sentence += " Every rank exited with code 0 afterwards."
    if stood:
        sentence += (
            f" None was made in the {idle / 1e9:.0f} s before the dumps were written: if the job had not ended by "
            "then, it is held by something that is not recorded, such as its teardown or a monitored barrier."
        )
    return Finding(
        hang=False,
        cause="no_hang",
        confidence="supported" if unseen or stood or (timeless and facts.hidden) else "established",
        sentence=sentence,
        evidence=tuple(dump_id(d) for d in facts.case.dumps_used["dump"].to_list()[:8]),
    )


def _known_to_transfer(facts: Facts) -> list[int]:
    return sorted(rank for rank, transfers in facts.hidden.items() if transfers)


def _unseen_inside(facts: Facts, unseen: list[int]) -> dict[int, Stand]:
    """Ranks without a dump whose stacks show them waiting for others, and not moving: their calls nobody recorded."""
    stands = {rank: stand for rank in unseen if (stand := facts.hosts.get(rank)) is not None}
    return {r: s for r, s in stands.items() if s.waits == "ranks" and not (s.died or s.moving or s.running)}


def _seen_waiting(facts: Facts, inside: dict[int, Stand]) -> Finding:
    """The dumps have nothing open, and they are not of all ranks: what stacks show is no sign of health."""
    others = {rank: facts.hosts[rank] for rank in over_by_dumps(facts) if rank in facts.hosts}
    told = "; ".join(
        f"{ranks_words([rank])} {stand.phrase}"
        for rank, stand in sorted({**inside, **others}.items())[:_MOST_SHOWN]
    )
    lost = ranks_words(sorted(inside))
    return Finding(
        hang=False,
        cause="undetermined",
        confidence="hypothesis",
        sentence=(
            f"Every recorded call had ended when the dumps were written, but {lost} left none, and the stacks showed "
            f"{told}. Whether they went on, or were ended where they stood, nothing tells."
        ),
        evidence=tuple(i for stand in {**inside, **others}.values() for i in stand.evidence[:1])[:8],
        missing=(
            Missing(
                what=f"the calls of {lost}",
                how="its dump; or stacks of all ranks, twice, some seconds apart (py-spy dump --pid PID): the same?",
            ),
        ),
        unadvised=("anti_advice", "probes"),
    )


def _out_of_sight(facts: Facts, unseen: list[int], idle_ns: int | None) -> Finding:
    """Those that left dumps wait in no recorded call, and others left none: what is not recorded may hold them all."""
    ends, logs = _not_here(facts, unseen)
    since = (
        f" and none was made in the {idle_ns / 1e9:.0f} s before the dumps were written"
        if idle_ns is not None
        else " and when the dumps were written nothing tells"
    )
    return Finding(
        hang=False,
        cause="undetermined",
        confidence="hypothesis",
        sentence=(
            f"Every {recorded_call(facts)} has ended,{since}; {without_dumps(facts, unseen)}. Either the job "
            "was done, or at work without a call, or it is held in what no recorder keeps: setting up its "
            "communication, making a group, a monitored barrier, its teardown."
        ),
        evidence=tuple(dump_id(d) for d in facts.case.dumps_used["dump"].to_list()[:8]),
        missing=(
            Missing(
                what="where each rank stands",
                how="; ".join(["stacks of all ranks (py-spy dump --pid PID)", *ends, *logs]),
            ),
        ),
        unadvised=("anti_advice", "probes"),
    )


def _not_here(facts: Facts, ranks: list[int]) -> tuple[list[str], list[str]]:
    """What is not in the case of those ranks: an exit code, a log."""
    ends = [rank for rank in ranks if rank not in facts.accounts.ends]
    logs = [rank for rank in ranks if rank not in facts.accounts.logged]
    return (
        [f"how {verb(ends, 'the process', 'the processes')} of {ranks_words(ends)} ended"] if ends else [],
        [f"the end of {verb(logs, 'the log', 'the logs')} of {ranks_words(logs)}"] if logs else [],
    )


def ended_well(facts: Facts) -> bool:
    """Every rank's process ended by itself, with code 0."""
    ends = [facts.accounts.ends.get(rank) for rank in range(facts.case.world_size or 0)]
    return bool(ends) and all(end is not None and end.kind == "finished" for end in ends)


def _contradicted(impossible: list[Contradiction]) -> Finding:
    """Every call has ended, and some cannot have: no claim either way."""
    told = "; ".join(f"{ranks_words(one.ranks)}: {one.what}" for one in impossible[:_MOST_TOLD])
    return Finding(
        hang=False,
        cause="undetermined",
        confidence="hypothesis",
        sentence=f"No recorded call is unfinished, but the recordings contradict each other. {upper(told)}.",
        evidence=tuple(i for one in impossible[:_MOST_TOLD] for i in one.evidence),
        missing=(
            Missing(
                what="recordings of one attempt, taken when it stood still",
                how="collect the dumps of all ranks again, in one go; stacks (py-spy dump --pid PID) tell who waits",
            ),
        ),
        unadvised=("anti_advice", "probes"),
    )


def _hidden(facts: Facts, idle_ns: int) -> Finding:
    """Nothing recorded is unfinished, but what is not recorded may be."""
    return Finding(
        cause="undetermined",
        confidence="hypothesis",
        sentence=(
            f"Every recorded call has ended, yet no rank made another in the {idle_ns / 1e9:.0f} s before the dumps "
            f"were written. {upper(ranks_words(_known_to_transfer(facts)))} also send and receive, which gloo does not "
            "record: a send or a receive without its other half would look like this."
        ),
        evidence=tuple(dump_id(d) for d in facts.case.dumps_used["dump"].to_list()[:8]),
        missing=(
            Missing(
                what="the sends and receives of all ranks",
                how="stacks of all ranks (py-spy dump --pid PID) show who sits in a send or a receive, and from whom",
            ),
        ),
        unadvised=("anti_advice", "probes"),
    )
