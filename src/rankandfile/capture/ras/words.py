"""What NCCL's RAS counts, in words."""

from __future__ import annotations

from collections.abc import Sequence

from rankandfile.evidence.text.logs.ras.answer import Answer, Cohort, Communicator, Member
from rankandfile.model.ranks import format_ranks

GOES_ON = "the job moves again: by NCCL's RAS, its ranks launch calls"
#: Communicators, parts of one, and members of a part that a line tells of.
_TOLD, _PARTS, _MEMBERS = 2, 3, 4


def seen(answer: Answer, where: str) -> str:
    """The first answer."""
    if not answer.whole:
        return f"NCCL {answer.version} at {where}: as text, which tells only of communicators whose counts differ"
    ranks = max((one.size for one in answer.communicators), default=0)
    many = len(answer.communicators)
    return f"NCCL {answer.version} at {where}: {ranks} ranks, {many} communicator{'s' * (many != 1)}"


def diverged(one: Communicator, sides: Sequence[Cohort]) -> str:
    odd, other = sides
    ops = _different(odd, other)
    more = ", ".join(f"{odd.counts.get(op, 0) - other.counts.get(op, 0):+d} {op}" for op in ops)
    return (
        f"ranks disagree, by NCCL's RAS: in {_name(one)}, {_who(odd)} {_has(odd)} launched {_counted(odd, ops)}, and "
        f"{_rest(one, other)} {_counted(other, ops)} ({more}): no order of calls that all of them make leads to both"
    )


def frozen(apart: Sequence[Communicator], still: float, whole: bool) -> str:
    where = "no rank has launched anything" if whole else "these counts have not changed"
    told = "; ".join(_apart(one) for one in apart[:_TOLD])
    more = f"; and {len(apart) - _TOLD} more communicators" if len(apart) > _TOLD else ""
    return (
        f"nothing moves, by NCCL's RAS: for {still:.0f} s {where}, and {told}{more}. Who has launched fewer works "
        "alone, or is stuck; the others wait"
    )


def missing(one: Communicator, gone: Sequence[Member], still: float) -> str:
    many = len(gone) > 1
    told = "; ".join(_place(member).strip(" ()") for member in gone[:_MEMBERS])
    if all(member.state == "considered dead" for member in gone):
        what = f"{'are' if many else 'is'} considered dead by NCCL's RAS"
    else:
        what = f"{'give' if many else 'gives'} no answer to NCCL's RAS"
    return (
        f"rank{'s' * many} {format_ranks(sorted(one.number for one in gone))} of {_name(one)}"
        f"{f' ({told})' if told else ''} {what}, and no rank has launched anything for {still:.0f} s"
    )


def behind(one: Communicator, member: Member, lag: int, before: int, over_s: float) -> str:
    return (
        f"rank {member.number} falls behind, by NCCL's RAS, and is not stuck: in {_name(one)} it{_place(member)} is "
        f"{lag} launches behind the first, {lag - before} more than {over_s:.0f} s ago"
    )


def state(answer: Answer, still: float, moves: bool) -> str:
    """How it stands, where nothing is wrong or nothing can be said."""
    ranks = max((one.size for one in answer.communicators), default=0)
    apart = [one for one in answer.communicators if one.apart]
    what = (
        f"{ranks} ranks in {len(answer.communicators)} communicators"
        if answer.whole
        else f"NCCL {answer.version}"
    )
    if moves:
        return f"it moves: {what}"
    if apart:
        return frozen(apart, still, answer.whole)
    if not answer.whole:
        return (
            f"no counts differ; NCCL {answer.version} does not tell those in which all agree, and with them whether "
            "the job moves"
        )
    return (
        f"no rank has launched anything for {still:.0f} s, and all have launched the same ({what}): it is idle, "
        "computes, replays CUDA graphs, or stands in a call that does not end; RAS does not tell these apart"
    )


def counts(part: Cohort) -> str:
    return ", ".join(f"{op} {count}" for op, count in sorted(part.counts.items()))[:400]


def _apart(one: Communicator) -> str:
    main, *others = one.cohorts
    ops = sorted({op for part in others for op in _different(part, main)})
    told = ", ".join(f"{_who(part)} {_has(part)} launched {_counted(part, ops)}" for part in others[:_PARTS])
    more = f", {len(others) - _PARTS} more parts of it other numbers" if len(others) > _PARTS else ""
    return f"in {_name(one)} {told}{more}, and {_rest(one, main)} {_counted(main, ops)}"


def _different(one: Cohort, other: Cohort) -> list[str]:
    ops = sorted({*one.counts, *other.counts})
    return [op for op in ops if one.counts.get(op, 0) != other.counts.get(op, 0)]


def _counted(part: Cohort, ops: Sequence[str]) -> str:
    return " and ".join(f"{part.counts.get(op, 0)} {op}" for op in ops)


def _name(one: Communicator) -> str:
    return f"communicator {one.id.partition('/')[0]} of {one.size} ranks"


def _who(part: Cohort) -> str:
    if part.size > len(part.members):
        return f"{part.size} ranks"
    numbers = format_ranks(sorted(member.number for member in part.members))
    if part.size == 1:
        return f"rank {numbers}{_place(part.members[0])}"
    places = (
        "; ".join(_place(member).strip(" ()") for member in part.members) if part.size <= _MEMBERS else ""
    )
    return f"ranks {numbers}{f' ({places})' if places else ''}"


def _has(part: Cohort) -> str:
    return "have" if part.size > 1 else "has"


def _rest(one: Communicator, part: Cohort) -> str:
    if part.size == 1:
        return _who(part)
    others = (
        "others" if part.size + sum(x.size for x in one.cohorts if x is not part) == one.size else "ranks"
    )
    return f"the {part.size} {others}" if len(one.cohorts) == 2 else f"{part.size} ranks"


def _place(member: Member) -> str:
    if member.pid < 0:
        return ""
    device = f", GPU {member.device}" if member.device else ""
    return f" (process {member.pid} on {member.host}{device})"
