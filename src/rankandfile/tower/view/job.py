"""One job at one moment, from what each of its nodes said last before it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rankandfile.model.digest import Digest
from rankandfile.model.ranks import format_ranks
from rankandfile.tower.store.rows import JobRow
from rankandfile.tower.view.documents import (
    GroupLine,
    JobLine,
    JobNow,
    Node,
    RankInGroup,
    RankNow,
    Ranks,
    Stands,
)
from rankandfile.tower.view.kept import Said
from rankandfile.tower.view.lag import Place, places
from rankandfile.tower.view.words import Words

SILENT_S, STILL_S = 15.0, 30.0
#: So many ranks are named where some are missing.
_MOST_WORLD = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Look:
    """What a view is made of."""

    job: JobRow
    at: float
    live: bool
    now: Sequence[Said]
    before: Sequence[Said]
    """What the nodes had said a while earlier, for how fast the job goes."""
    words: Words
    first_at: float
    last_at: float


def line(job: JobRow, now: float) -> JobLine:
    told = job.told
    return JobLine(
        job=job.job, title=job.title, first_at=job.first_at, last_at=job.last_at,
        stands=_stands(now, job.last_at, told.moved_at, job.senders > 0 and job.ended == job.senders),
        still_s=None if told.moved_at is None else _age(job.last_at, told.moved_at),
        nodes=job.senders, ranks=told.ranks, world=told.world, step=told.high_step,
        steps_per_s=_rate(told.high_step, job.last_at, job.before), behind=told.behind, open_s=told.open_s,
        gone=told.gone, findings=job.findings, cases=job.cases,
    )  # fmt: skip


def job_now(look: Look) -> JobNow:
    digests = newest_of_each(look.now)
    groups = places(digests)
    moved_at = max((one.since for one in digests), default=0.0) or None
    last_at = max((one.at for one in look.now), default=look.job.last_at)
    steps = [one.step for one in digests if one.step is not None]
    before = newest_of_each(look.before)
    over = bool(look.now) and all(one.ended is not None for one in look.now)
    stands = _stands(look.at, last_at, moved_at, over)
    world = look.job.told.world
    known = {one.rank for one in digests}
    return JobNow(
        job=look.job.job, title=look.job.title, at=look.at, live=look.live, first_at=look.first_at,
        last_at=look.last_at, stands=stands,
        still_s=None if moved_at is None else _age(last_at, moved_at),
        world=world, step=max(steps, default=None), low_step=min(steps, default=None),
        steps_per_s=_steps_per_s(digests, before), calls_per_s=_calls_per_s(digests, before),
        nodes=[
            Node(name=one.node, at=one.at, ranks=len(one.digests), ended=one.ended, skew_s=round(one.skew, 1))
            for one in look.now
        ],
        ranks=_ranks(digests, groups),
        groups=[_group(one, groups[one], look.words) for one in sorted(groups, key=lambda g: _by_size(g, look.words))],
        missing=format_ranks(set(range(min(world, _MOST_WORLD))) - known) if world else "",
    )  # fmt: skip


def ranks_now(look: Look, wanted: frozenset[int] | None, most: int) -> list[RankNow]:
    """Those wanted; None: all."""
    digests = newest_of_each(look.now)
    node_of = {id(digest): one.node for one in look.now for digest in one.digests}
    chosen = [one for one in digests if wanted is None or one.rank in wanted][:most]
    ids = {id(one) for one in chosen}
    mine: dict[int, list[RankInGroup]] = {}
    for group, placed in places(digests).items():
        for place in placed:
            if id(place.digest) in ids:
                mine.setdefault(id(place.digest), []).append(_in_group(group, place, look.words))
    return [
        RankNow(
            rank=one.rank, host=one.host, node=node_of[id(one)], state=one.state, step=one.step, phase=one.phase,
            calls=one.calls, flight=one.flight, quiet_s=_age(one.time, one.since) if one.since else None,
            groups=mine.get(id(one), []),
        )
        for one in chosen
    ]  # fmt: skip


def newest_of_each(said: Iterable[Said]) -> list[Digest]:
    """By rank. Of a rank that two nodes tell of, as after a move, the newer counts; those without a number all do."""
    found: dict[tuple[int, int], Digest] = {}
    for one in said:
        for digest in one.digests:
            key = (digest.rank, 0 if digest.rank >= 0 else id(digest))
            if key not in found or found[key].time < digest.time:
                found[key] = digest
    return sorted(found.values(), key=lambda one: (one.rank < 0, one.rank))


def _ranks(digests: Sequence[Digest], groups: Mapping[str, Sequence[Place]]) -> Ranks:
    behind: dict[int, int] = {}
    late: dict[int, float] = {}
    for placed in groups.values():
        for place in placed:
            one = id(place.digest)
            behind[one] = max(behind.get(one, 0), place.behind)
            late[one] = max(late.get(one, 0.0), place.late_s)
    hosts = sorted({one.host for one in digests})
    host_of = {host: number for number, host in enumerate(hosts)}
    return Ranks(
        rank=[one.rank for one in digests],
        host=[host_of[one.host] for one in digests],
        hosts=hosts,
        state=[one.state for one in digests],
        behind=[behind.get(id(one), 0) for one in digests],
        late_s=[round(late.get(id(one), 0.0), 2) for one in digests],
        open_s=[_oldest(standing.open_s for standing in one.groups) for one in digests],
        step=[one.step for one in digests],
        quiet_s=[_age(one.time, one.since) if one.since else None for one in digests],
    )


def _group(group: str, placed: Sequence[Place], words: Words) -> GroupLine:
    told = words.group(group)
    waiting = [place for place in placed if place.standing.open_s is not None]
    oldest = max(waiting, key=lambda place: place.standing.open_s or 0.0, default=None)
    return GroupLine(
        id=group, name=told.name, description=told.description, size=told.size or None, members=told.members,
        seen=len(placed), first=max(place.standing.last for place in placed),
        last=min(place.standing.last for place in placed), behind=max(place.behind for place in placed),
        late=format_ranks(place.digest.rank for place in placed if place.late_for and place.digest.rank >= 0),
        late_s=round(max(place.late_s for place in placed), 2), waiting=len(waiting),
        open_s=None if oldest is None else oldest.standing.open_s,
        op="" if oldest is None else oldest.standing.op,
        path=[] if oldest is None else words.path(oldest.standing.path),
    )  # fmt: skip


def _in_group(group: str, place: Place, words: Words) -> RankInGroup:
    standing = place.standing
    return RankInGroup(
        group=group, name=words.group(group).name, last=standing.last, done=standing.done, behind=place.behind,
        late_s=round(place.late_s, 2), open_s=standing.open_s, op=standing.op, path=words.path(standing.path),
    )  # fmt: skip


def _by_size(group: str, words: Words) -> tuple[int, str, str]:
    told = words.group(group)
    return -told.size, told.name, group


def _stands(now: float, last_at: float, moved_at: float | None, over: bool) -> Stands:
    if over:
        return "ended"
    if now - last_at > SILENT_S:
        return "silent"
    return "still" if moved_at is not None and last_at - moved_at > STILL_S else "moves"


def _steps_per_s(now: Sequence[Digest], before: Sequence[Digest]) -> float | None:
    furthest = max((one for one in now if one.step is not None), key=lambda one: one.step or 0, default=None)
    if furthest is None:
        return None
    earlier = [(one.time, one.step) for one in before if one.rank == furthest.rank and one.step is not None]
    return _rate(furthest.step, furthest.time, earlier[0] if earlier else None)


def _calls_per_s(now: Sequence[Digest], before: Sequence[Digest]) -> float | None:
    """Of each rank against itself: nobody else was read at the same time."""
    earlier = {
        (one.rank, standing.group): (one.time, standing.last) for one in before for standing in one.groups
    }
    rates = [
        _rate(standing.last, one.time, earlier.get((one.rank, standing.group)))
        for one in now
        for standing in one.groups
    ]
    return max((rate for rate in rates if rate is not None), default=None)


def _rate(number: int | None, at: float, before: tuple[float, int] | None) -> float | None:
    if number is None or before is None or at - before[0] < 1.0:
        return None
    return round(max(0, number - before[1]) / (at - before[0]), 3)


def _oldest(ages: Iterable[float | None]) -> float | None:
    return max((age for age in ages if age is not None), default=None)


def _age(now: float, then: float) -> float:
    return round(max(0.0, now - then), 1)
