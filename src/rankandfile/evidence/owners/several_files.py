"""Two files for one rank in one attempt: the fuller one of the same process, or neither. Never both, never merged."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

from rankandfile.evidence.owners.dump_facts import Facts, duration

#: As `rankandfile.capture.gather.fr_trace` names them.
_FOR_TORCH = re.compile(r"(?:^|[/\\])fr_trace(?:[/\\]rank_\d+|\.txt)$")
#: A dump that ends so long before the ring of its rank was asked for too early.
_LATE_NS = 1_000_000_000


def settle(facts: Sequence[Facts], reasons: list[str | None]) -> None:
    """Fill in why files of a rank that has several are set aside. A rank's backends are told apart."""
    files: dict[tuple[int, str], list[int]] = defaultdict(list)
    for index, fact in enumerate(facts):
        if fact.rank is not None and reasons[index] is None:
            files[fact.rank, fact.backend if fact.calls else ""].append(index)
    # A file without calls names no backend: it speaks for the rank as a whole.
    for (rank, backend), indices in list(files.items()):
        if backend:
            for empty in files.get((rank, ""), ()):
                if not facts[empty].calls:
                    kept = max(indices, key=lambda i: _fullness(facts[i]))
                    reasons[empty] = _lesser(facts[empty], facts[kept])
    for indices in files.values():
        _one_recorder(facts, [index for index in indices if reasons[index] is None], reasons)
        left = [index for index in indices if reasons[index] is None]
        if len(left) > 1:
            _one_of(facts, left, reasons)


def copies_of_rings(facts: Sequence[Facts]) -> dict[int, str]:
    """What `raf run` puts beside a case's evidence for torch's tools is made of rings, and no witness of its own; why
    each such file is set aside."""
    rings = {fact.rank: fact.source for fact in facts if fact.source.endswith(".ring")}
    return {
        index: f"made of {rings[fact.rank]}, which is read itself"
        for index, fact in enumerate(facts)
        if fact.rank in rings and _FOR_TORCH.search(fact.source)
    }


def _one_recorder(facts: Sequence[Facts], indices: list[int], reasons: list[str | None]) -> None:
    """A ring and a dump of torch's recorder number one process's calls each in its own way, and are not to be compared.

    torch's knows how far calls got on a device; a ring has every call, and whose they are. So torch's counts where it
    has stacks too and was not written long before the ring's end.
    """
    rings = [index for index in indices if facts[index].source.endswith(".ring")]
    dumps = [index for index in indices if index not in rings]
    if not rings or not dumps:
        return
    until = max(facts[index].last_ns or 0 for index in rings)
    better = [
        index
        for index in dumps
        if (fact := facts[index]).timed
        and fact.has_frames
        and fact.backend not in ("", "gloo")
        and (fact.last_ns or 0) >= until - _LATE_NS
    ]
    kept = better or rings
    for index in indices:
        if index not in kept:
            whose = "the recorder's ring" if index in rings else "torch's own recorder"
            reasons[index] = (
                f"{whose} of rank {facts[index].rank}; {facts[kept[0]].source}, of the same, is kept"
            )


def _fullness(fact: Facts) -> tuple[int, int, int, bool, int]:
    last = fact.last_record if fact.last_record is not None else -1
    return (fact.timed, last, fact.calls, fact.has_frames, fact.written_ns)


def _one_of(facts: Sequence[Facts], indices: list[int], reasons: list[str | None]) -> None:
    kept = max(indices, key=lambda i: (_fullness(facts[i]), -i))
    others = [index for index in indices if index != kept]
    if all(_same_process(facts[index], facts[kept]) for index in others):
        for index in others:
            reasons[index] = _lesser(facts[index], facts[kept])
        return
    for index in indices:
        rest = [facts[other] for other in indices if other != index]
        other = next((fact for fact in rest if not _same_process(facts[index], fact)), rest[0])
        reasons[index] = _contradiction(facts[index], other)


def _same_process(a: Facts, b: Facts) -> bool:
    """One process numbers its calls in the order in which it makes them; a file without calls contradicts none."""
    if not (a.timed and b.timed):
        return True
    points = [(a.first_record, a.first_ns), (a.last_record, a.last_ns)]
    points += [(b.first_record, b.first_ns), (b.last_record, b.last_ns)]
    known = sorted((record, time) for record, time in points if record is not None and time is not None)
    return len(known) == 4 and all(x[1] == y[1] if x[0] == y[0] else x[1] <= y[1] for x, y in pairwise(known))


def _lesser(fact: Facts, kept: Facts) -> str:
    name = kept.source
    if not fact.calls:
        return f"it has no calls; {name}, of the same rank {fact.rank}, " + (
            f"has {kept.calls:,}" if kept.calls else "was written later"
        )
    if not fact.timed:
        return f"its calls have no times; {name}, of the same rank {fact.rank}, is kept"
    if fact.last_record == kept.last_record:
        if (fact.first_record, fact.calls) == (kept.first_record, kept.calls):
            return f"the same calls of rank {fact.rank} as {name}, which is kept"
        return f"fewer calls of rank {fact.rank} than {name}: {fact.calls:,} of {kept.calls:,}"
    later = duration((kept.last_ns or 0) - (fact.last_ns or 0))
    return (
        f"an earlier dump of rank {fact.rank}: {name} goes on from record {fact.last_record} "
        f"to {kept.last_record}, {later} later"
    )


def _contradiction(fact: Facts, other: Facts) -> str:
    hosts = ""
    if fact.host and other.host and fact.host != other.host:
        hosts = f" (from hosts {fact.host} and {other.host}: the number may count ranks within a host)"
    return (
        f"rank {fact.rank} has two files that cannot be of one process, this and {other.source}: their record numbers "
        f"and times disagree{hosts}; neither is used"
    )
