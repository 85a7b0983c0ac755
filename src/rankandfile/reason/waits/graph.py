"""Who waits for whom, across all groups: ranks and pending calls in one graph, and what it ends in.

A rank points to the oldest unfinished call of each group; that call points to the members that have not joined it
or, if all have, to those whose device is still busy with an earlier call. Whatever the arrows end in is a wait end:
a rank that waits for nobody, a call that everyone has joined, or a circle. The graph has a node per pending call,
not an edge per pair of ranks.

In: the unfinished calls of all ranks, and who has joined which. Out: `Waits`, the pending calls and the ends. Say
ranks 0 and 1 wait in the 7th call of their tensor-parallel group for rank 2, and rank 2 in the 3rd of its
data-parallel group for rank 5, which has no unfinished call:

    0, 1 -> tp #7 -> 2 -> dp #3 -> 5        the end: rank 5, absent; its victims: 0, 1 and 2

If rank 5 waited in turn for rank 0, all of them would be one end, a cycle.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import numpy as np
import polars as pl
from msgspec import Struct
from msgspec.structs import replace

from rankandfile.reason.calls.pairing import Transfer

from .components import components


class Pending(Struct, frozen=True):
    """A call that some rank cannot get past."""

    group: int
    slot: int | None
    """None: a send, a receive or a batch of them."""
    waiting: tuple[int, ...]
    lacking: tuple[int, ...]
    """Members that have provably not joined."""
    unknown: tuple[int, ...] = ()
    """Members of which nothing tells whether they have joined."""
    busy: tuple[int, ...] = ()
    """Joined, but in an earlier call of theirs."""
    behind: tuple[int, ...] = ()
    """Joined and not begun on the device, where others have begun, with no earlier call to explain it."""
    mismatched: bool = False
    begun: bool = False
    """Every member is known to have begun it on the device."""
    record: int | None = None
    """Of a transfer: the waiting rank's call."""


class WaitEnd(Struct, frozen=True):
    """What a chain of waits ends in."""

    ranks: tuple[int, ...]
    pending: tuple[int, ...]
    """Indices into `Waits.pending`: those in the circle, or those that end in the ranks directly."""
    kind: str
    """absent, missing, mismatched, behind, joined or cycle; none, where no recorded call hangs."""
    victims: tuple[int, ...]
    groups: tuple[int, ...] = ()
    """Of a wait end that nobody waits in any more."""


#: What is in question where no recorded call hangs: the whole job.
NO_WAIT = WaitEnd((), (), "none", ())


class Waits(Struct, frozen=True):
    pending: tuple[Pending, ...]
    of_rank: dict[int, tuple[int, ...]]
    """Rank -> the pending calls it cannot get past."""
    wait_ends: tuple[WaitEnd, ...]


def find_pending(
    standing: pl.DataFrame, heads: Iterable[Transfer], mismatches: set[tuple[int, int]]
) -> list[Pending]:
    """The calls that ranks cannot get past. `standing`: how far each member came in each group; `heads`: unfinished
    transfers; `mismatches`: groups and slots whose members asked for different things."""
    transfers = list(heads)
    oldest = _oldest(standing, transfers)
    pending: list[Pending] = []
    stuck = standing.filter(pl.col("open_slot").is_not_null())["group"].unique()
    rows = standing.filter(pl.col("group").is_in(stuck.implode())).sort("group", "rank")
    for group, part in rows.group_by("group", maintain_order=True):
        pending += _of_group(int(str(group[0])), part, oldest, mismatches)
    return pending + _of_transfers(transfers, oldest)


def _oldest(standing: pl.DataFrame, heads: list[Transfer]) -> dict[int, int]:
    """Per rank, the record of its oldest unfinished call of all."""
    rows = (
        standing.filter(pl.col("open_record").is_not_null()).group_by("rank").agg(pl.col("open_record").min())
    )
    oldest: dict[int, int] = dict(rows.iter_rows())
    for head in heads:
        oldest[head.rank] = min(head.record, oldest.get(head.rank, head.record))
    return oldest


def _of_group(
    group: int, part: pl.DataFrame, oldest: dict[int, int], mismatches: set[tuple[int, int]]
) -> list[Pending]:
    ranks, last, known = (part[c].to_numpy() for c in ("rank", "last", "known"))
    at = part["open_slot"].fill_null(-1).to_numpy()
    state = part["open_state"].fill_null(0).to_numpy()
    timing = part["timing"].to_numpy()
    records = part["open_record"].fill_null(-1).to_numpy()
    first = np.array([oldest.get(int(rank), 1 << 62) for rank in ranks])
    completed = part["completed"].fill_null(-1).to_numpy()
    out: list[Pending] = []
    for slot in np.unique(at[at >= 0]):
        waits = at == slot
        joined = last >= slot
        lacking = known & ~joined
        earlier = joined & (((at >= 0) & (at < slot)) | (waits & (first < records)))
        begun = (waits & (state == 1)) | (completed >= slot)
        behind = waits & ~earlier & (state == 0) & timing & bool(begun.any())
        out.append(
            Pending(
                group=group,
                slot=int(slot),
                waiting=_tuple(ranks[waits]),
                lacking=_tuple(ranks[lacking]),
                unknown=_tuple(ranks[~known & ~joined]),
                busy=() if lacking.any() else _tuple(ranks[earlier]),
                behind=() if lacking.any() else _tuple(ranks[behind]),
                mismatched=(group, int(slot)) in mismatches,
                begun=bool(begun.all()),
            )
        )
    return out


def _of_transfers(heads: list[Transfer], oldest: dict[int, int]) -> list[Pending]:
    """One pending call per rank and record: a batch is finished when all its transfers are."""
    by_call: dict[tuple[int, int, int], list[Transfer]] = defaultdict(list)
    for head in heads:
        by_call[head.rank, head.group, head.record].append(head)
    out: list[Pending] = []
    for (rank, group, record), parts in by_call.items():
        lacking = {t.peer for t in parts if t.joined is False}
        unknown = {t.peer for t in parts if t.joined is None}
        busy = {
            t.peer
            for t in parts
            if t.joined and t.peer_record is not None and oldest.get(t.peer, 1 << 62) < t.peer_record
        }
        if oldest[rank] < record:
            busy.add(rank)
        out.append(
            Pending(
                group, None, (rank,), tuple(sorted(lacking)), tuple(sorted(unknown)),
                () if lacking else tuple(sorted(busy)), record=record,
            )
        )  # fmt: skip
    return out


def _tuple(values: np.ndarray) -> tuple[int, ...]:
    return tuple(int(value) for value in values)


def build(pending: list[Pending], unseen: frozenset[int] = frozenset()) -> Waits:
    """`unseen`: ranks without a whole dump. What they wait in does not show."""
    waits = _build(pending, unseen)
    absent = [
        wait_end
        for wait_end in waits.wait_ends
        if wait_end.kind == "absent" and set(wait_end.ranks) <= unseen
    ]
    return (_around(pending, waits, absent, unseen) if absent else None) or waits


def _around(
    pending: list[Pending], waits: Waits, absent: list[WaitEnd], unseen: frozenset[int]
) -> Waits | None:
    """The waits, if they go round in a circle without those of whom nothing shows but that they have not come.

    Then nobody needs them to explain the hang, and they may wait in turn like the others that have not come.
    """
    doubted = {rank for wait_end in absent for rank in wait_end.ranks}
    stuck = {index for wait_end in absent for index in wait_end.pending}
    rest = [tuple(rank for rank in call.lacking if rank not in doubted) for call in pending]
    other = _build([replace(c, lacking=r) if r else c for c, r in zip(pending, rest, strict=True)], unseen)
    if not any(wait_end.kind == "cycle" and stuck & set(wait_end.pending) for wait_end in other.wait_ends):
        return None
    wait_ends = [
        replace(wait_end, ranks=tuple(sorted({*wait_end.ranks, *doubted})))
        if wait_end.kind == "cycle" and stuck & set(wait_end.pending)
        else wait_end
        for wait_end in other.wait_ends
    ]
    return Waits(tuple(pending), waits.of_rank, tuple(wait_ends))


def _build(pending: list[Pending], unseen: frozenset[int]) -> Waits:
    of_rank: dict[int, list[int]] = defaultdict(list)
    for index, call in enumerate(pending):
        for rank in call.waiting:
            of_rank[rank].append(index)
    ranks = sorted({r for call in pending for r in (*call.waiting, *call.lacking, *call.unknown, *call.busy)})
    node = {rank: len(pending) + i for i, rank in enumerate(ranks)}
    arrows: list[list[int]] = [[node[r] for r in _next(call)] for call in pending]
    maybe = _may_wait(pending, unseen)
    arrows += [[*of_rank.get(rank, ()), *maybe.get(rank, ())] for rank in ranks]
    ends = _Ends(pending, ranks, arrows)
    wait_ends = [ends.of(part) for part in components(arrows) if _is_sink(part, arrows)]
    return Waits(tuple(pending), {r: tuple(c) for r, c in of_rank.items()}, tuple(wait_ends))


def _may_wait(pending: list[Pending], unseen: frozenset[int]) -> dict[int, list[int]]:
    """Rank -> calls that do not go on for want of others, and in which it may wait too, for all that is known of it.

    So whoever has not come to one call, by its log alone, does not wait for nobody yet.
    """
    out: dict[int, list[int]] = defaultdict(list)
    doubted = unseen.intersection(rank for call in pending for rank in call.lacking)
    for index, call in enumerate(pending) if doubted else ():
        ahead = _next(call)
        for rank in doubted.intersection(call.unknown) if ahead else ():
            if rank not in ahead:
                out[rank].append(index)
    return out


def _next(call: Pending) -> tuple[int, ...]:
    if call.lacking:
        return call.lacking
    if call.mismatched or call.behind:
        return ()
    # What is busy elsewhere explains the wait; only otherwise can an unseen member be the reason.
    return call.busy or call.unknown


def _is_sink(part: list[int], arrows: list[list[int]]) -> bool:
    inside = set(part)
    return all(to in inside for node in part for to in arrows[node])


class _Ends:
    """Where waits end, told one by one. A log may name one call and a hundred thousand ranks that are not in it."""

    def __init__(self, pending: list[Pending], ranks: list[int], arrows: list[list[int]]) -> None:
        self._pending, self._ranks = pending, ranks
        self._back: dict[int, list[int]] = defaultdict(list)
        for start, ends in enumerate(arrows):
            for end in ends:
                self._back[end].append(start)
        self._alike: dict[tuple[int, ...], tuple[int, ...]] = {}
        """Victims, by what leads to a rank that leads nowhere itself: many are reached in the same way."""

    def of(self, part: list[int]) -> WaitEnd:
        count = len(self._pending)
        members = tuple(sorted(self._ranks[i - count] for i in part if i >= count))
        calls = tuple(sorted(i for i in part if i < count))
        if len(part) > 1:
            kind = "cycle"
        elif calls:
            call = self._pending[calls[0]]
            kind = "mismatched" if call.mismatched else "behind" if call.behind else "joined"
        else:
            calls = tuple(sorted(i for i in self._back[part[0]] if i < count))
            kind = "absent" if any(self._pending[i].lacking for i in calls) else "missing"
        return WaitEnd(members, calls, kind, self._victims(part))

    def _victims(self, part: list[int]) -> tuple[int, ...]:
        """Every rank from which the wait end is reached."""
        if len(part) > 1:
            return self._reaching(part)
        before = tuple(self._back[part[0]])
        if before not in self._alike:
            self._alike[before] = self._reaching(part)
        return self._alike[before]

    def _reaching(self, part: list[int]) -> tuple[int, ...]:
        count, own = len(self._pending), set(part)
        reached, queue = set(part), list(part)
        while queue:
            for before in self._back[queue.pop()]:
                if before not in reached:
                    reached.add(before)
                    queue.append(before)
        return tuple(sorted(self._ranks[i - count] for i in reached - own if i >= count))
