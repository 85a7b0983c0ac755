"""Which process is which rank, by what all files of a job say together. What is contradicted is not known."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cached_property

from msgspec import Struct, field

from rankandfile.evidence.text.told import Told


class KnownProcesses(Struct, frozen=True, dict=True):
    ranks: Mapping[tuple[str, int], int] = field(default_factory=dict)
    """By host and process id. A host that nothing tells is empty."""

    def rank_of(self, host: str | None, pid: int | None) -> int | None:
        """By host and process; by the process alone, where one only has its number and the hosts cannot be compared."""
        if pid is None:
            return None
        if (exact := self.ranks.get((host or "", pid))) is not None:
            return exact
        places = self._places.get(pid, ())
        return places[0][1] if len(places) == 1 and not (places[0][0] and host) else None

    @cached_property
    def _places(self) -> dict[int, list[tuple[str, int]]]:
        found: dict[int, list[tuple[str, int]]] = defaultdict(list)
        for (host, pid), rank in self.ranks.items():
            found[pid].append((host, rank))
        return found


NOTHING_KNOWN = KnownProcesses()


def known_processes(
    told: Iterable[tuple[Told, int | None, str | None]], more: Mapping[tuple[str, int], int]
) -> KnownProcesses:
    """`told`: what each file tells, whose it is as a whole, and its host. `more`: what other files tell."""
    pairs = [(key, rank) for key, rank in more.items()]
    for one, owner, host in told:
        pairs += [((host or "", pid), rank) for pid, rank in _on_the_only_machine(one)]
        bare = {process.pid for process in one.processes if process.rank is None}
        for process in one.processes:
            # A file that is one rank's, and names several processes, tells of none of them.
            rank = process.rank if process.rank is not None else owner if len(bare) == 1 else None
            if rank is not None:
                pairs.append(((process.host or host or "", process.pid), rank))
    return agreed(pairs)


def _on_the_only_machine(told: Told) -> list[tuple[int, int]]:
    """Process and rank, where a launcher's places on its machine are as many as the job has ranks."""
    placed = [process for process in told.processes if process.place is not None]
    places = {process.place for process in placed}
    if not placed or len(placed) != told.world_size or places != set(range(len(placed))):
        return []
    return [(process.pid, process.place) for process in placed if process.place is not None]


def agreed(pairs: Iterable[tuple[tuple[str, int], int]]) -> KnownProcesses:
    ranks: dict[tuple[str, int], set[int]] = defaultdict(set)
    for key, rank in pairs:
        ranks[key].add(rank)
    return KnownProcesses({key: next(iter(found)) for key, found in ranks.items() if len(found) == 1})
