"""A rank as a digest, and a node as a report: what is told once a second."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rankandfile.capture.sentinel.history import History
from rankandfile.capture.sentinel.ranks import Rank
from rankandfile.model.digest import Digest, Finding, Group, Job, Path, Report, Standing, State
from rankandfile.wire import layout

#: Groups of one rank that are told, those that it used last; every how many reports what was told before is told again.
MOST_GROUPS, AGAIN = 512, 60


def digest(rank: Rank, now: float) -> Digest:
    used = sorted(rank.groups, key=lambda group: rank.groups[group].newest_ns, reverse=True)[:MOST_GROUPS]
    return Digest(
        rank=rank.rank,
        host=rank.seen.host[:400],
        time=now,
        state=_state(rank),
        step=rank.count,
        phase=_phase(rank),
        calls=rank.calls,
        flight=sum(record.kind == layout.CALL for record in rank.tail.open.values()),
        since=rank.moved,
        groups=tuple(standing(group, rank.groups[group], rank, now) for group in used),
    )


def _phase(rank: Rank) -> str | None:
    """By the path of what it does now, and else as the program has said."""
    newest, pulse, told = rank.newest, rank.pulse, rank.phase
    where = pulse if pulse is not None and newest is not None and pulse.number > newest.number else newest
    if where is None or (told is not None and told[0] > where.number):
        return told[1] if told is not None else None
    return rank.reading.came(where.stack).phase or (told[1] if told is not None else None)


def standing(group: str, history: History, rank: Rank, now: float) -> Standing:
    number = min(history.done + 1, history.last)
    oldest = history.at(number)
    opened = history.done < history.last and oldest is not None
    return Standing(
        group=group,
        last=history.last,
        done=min(history.done, history.last),
        hash=history.sums[-1] if history.sums else 0,
        base=history.base,
        prefixes=history.prefixes(history.sums),
        open_s=round(max(now - oldest.wall_ns / 1e9, 0.0), 3) if opened and oldest is not None else None,
        op=oldest.words[:400] if oldest is not None else "",
        path=rank.reading.came(oldest.stack).number if oldest is not None else 0,
    )


def _state(rank: Rank) -> State:
    seen = rank.seen
    if not seen.lives:
        return "ended" if seen.closed else "gone"
    if seen.stopped:
        return "stopped"
    return "waits" if rank.newest is not None and rank.newest.number in rank.tail.open else "runs"


@dataclass
class Reports:
    """Of one node. Who reads them gets what never changes once, and again now and then."""

    job: Job
    node: str
    _count: int = 0
    _groups: dict[str, Group] = field(default_factory=dict)
    _paths: dict[int, Path] = field(default_factory=dict)

    def of(
        self, ranks: Mapping[int, Rank], findings: Sequence[Finding] = (), ended: int | None = None
    ) -> Report:
        now = time.time()
        if self._count % AGAIN == 0:
            self._groups, self._paths = {}, {}
        self._count += 1
        digests = tuple(digest(one, now) for _, one in sorted(ranks.items()))
        groups = {group.id: group for one in ranks.values() for group in one.told.values()}
        paths = {
            told.path: Path(id=told.path, frames=ranks[one.rank].reading.path(told.path))
            for one in digests
            for told in one.groups
            if told.path and told.path not in self._paths
        }
        new = {group: told for group, told in groups.items() if group not in self._groups}
        self._groups |= new
        self._paths |= paths
        return Report(
            job=self.job,
            node=self.node,
            time=now,
            digests=digests,
            groups=tuple(new.values()),
            paths=tuple(paths.values()),
            findings=tuple(findings),
            ended=ended,
        )
