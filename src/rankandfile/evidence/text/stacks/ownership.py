"""Whose each snapshot is: what the content says, else the file's name, else the process that is known by another."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from msgspec import Struct

from rankandfile.evidence.owners.known_processes import KnownProcesses, agreed
from rankandfile.evidence.owners.owner_by_path import whose
from rankandfile.evidence.text.stacks.raw import DIED, NOW, RawProcess, RawStacks
from rankandfile.evidence.text.stamps import stamp, time_of_day
from rankandfile.model.ledger import Note

#: Hours and minutes, and seconds too.
_CLOCK = re.compile(r"(?<!\d)(?:[01]\d|2[0-3])[0-5]\d(?:[0-5]\d)?(?!\d)")
_STAMP = re.compile(r"(20\d\d)(\d\d)(\d\d)[_T-](\d\d)(\d\d)(\d\d)(?=\D|$)")
#: As a file or its folder is named by who wrote one for each process of a machine.
_LOCAL = re.compile(r"local[_.-]?rank[_.=-]?(\d{1,4})(?!\d)", re.IGNORECASE)
#: The folder in which torchrun keeps what one process of its machine writes; each agent has a folder of its own.
_OF_AGENT = re.compile(r"(.*)attempt_\d+/(\d{1,4})/[^/]+$")
_MACHINE = re.compile(r"(?:node|host|machine|server|worker|vm)[_.-]?(\d{1,4})(?!\d)", re.IGNORECASE)
_COUNTED = re.compile(r"(?<!\d)(\d{1,4})(?!\d)")
_FEWEST = 2


class StackPart(Struct):
    """One file of stacks on its way into the case."""

    raw: RawStacks
    source: str
    written_ns: int = 0
    rank: int | None = None
    """Of the whole file, where its name tells it."""
    rank_from: str = ""
    host: str | None = None


def give_ranks(
    parts: Sequence[StackPart], known: KnownProcesses | None = None, world: int | None = None
) -> list[Note]:
    """Fill in rank, host and time of each snapshot of each file, where anything tells them.

    Notes of what was assumed. `world`: the number of ranks, where a line tells it.
    """
    clocks = _clocks(parts)
    for part, owner in zip(parts, whose([part.source for part in parts]), strict=True):
        part.host = part.host or owner.host
        if part.rank is None and owner.rank is not None and _is_of_one(part.raw, owner.rank):
            part.rank, part.rank_from = owner.rank, owner.rank_from or "name"
        named_ns = _stamp(part.source) or clocks.get(part.source)
        for process in part.raw.processes:
            process.host = process.host or part.host
            process.at_ns = process.at_ns or named_ns
            if process.rank is None and part.rank is not None:
                process.rank, process.rank_from = part.rank, part.rank_from
    _by_process([process for part in parts for process in part.raw.processes], known or KnownProcesses())
    _by_variables([process for part in parts for process in part.raw.processes])
    return _by_place(parts, world)


def _is_of_one(raw: RawStacks, rank: int) -> bool:
    """A file that can be of one rank as a whole, and whose name does not tell a process instead."""
    told = {process.rank for process in raw.processes if process.rank is not None}
    if told - {rank}:
        return False
    programs = {
        raw.processes[thread.process].pid
        for thread in raw.threads
        if thread.role in ("main", "launcher") and thread.shows in (NOW, DIED)
    }
    threads = {thread.os_thread for thread in raw.threads}
    return (
        len(programs - {None}) <= 1
        and rank not in programs | threads
        and all(t.role != "launcher" for t in raw.threads)
    )


def _by_process(processes: Sequence[RawProcess], known: KnownProcesses) -> None:
    """A process that one file knows the rank of has it in all files; and so do those it started."""
    told = [
        ((process.host or "", process.pid), process.rank)
        for process in processes
        if process.rank is not None and process.pid is not None
    ]
    everywhere = agreed([*known.ranks.items(), *told])
    for process in processes:
        if process.rank is not None:
            continue
        for pid, told_by in ((process.pid, "process"), (process.parent, "parent")):
            if (rank := everywhere.rank_of(process.host, pid)) is not None:
                process.rank, process.rank_from = rank, told_by
                break


def _by_variables(processes: Sequence[RawProcess]) -> None:
    """Where nothing else tells, what the variables of its stack call the rank: one number in each process, and of
    those of the job another one in each."""
    taken = {process.rank for process in processes if process.rank is not None}
    told: dict[tuple[str, int | None, int], set[int]] = defaultdict(set)
    for index, process in enumerate(processes):
        if process.rank is None and process.ranks:
            # Without a number, each is taken for a process of its own.
            alone = index if process.pid is None else -1
            told[process.host or "", process.pid, alone].update(process.ranks)
    found = {key: ranks.copy().pop() for key, ranks in told.items() if len(ranks) == 1}
    if len(found) < len(told) or len({*found.values(), *taken}) < len(found) + len(taken):
        return
    for index, process in enumerate(processes):
        for key in ((process.host or "", process.pid, index), (process.host or "", process.pid, -1)):
            if process.rank is None and key in found:
                process.rank, process.rank_from = found[key], "content"
    by_pid = agreed(
        ((process.host or "", process.pid), process.rank)
        for process in processes
        if process.pid is not None and process.rank is not None
    )
    for process in processes:
        if process.rank is None and (rank := by_pid.rank_of(process.host, process.parent)) is not None:
            process.rank, process.rank_from = rank, "parent"


def _clocks(parts: Sequence[StackPart]) -> dict[str, int]:
    """Times of day in the names of files that show the same processes and differ in nothing else: `pyspy_1405.txt`."""
    alike: dict[str, list[tuple[StackPart, str]]] = defaultdict(list)
    for part in parts:
        folder, _, name = part.source.rpartition("/")
        for match in _CLOCK.finditer(name):
            alike[f"{folder}/{name[: match.start()]}#{name[match.end() :]}"].append((part, match[0]))
    found: dict[str, int] = {}
    for looks in alike.values():
        seen = [
            {(p.rank, p.pid) for p in part.raw.processes if p.pid is not None or p.rank is not None}
            for part, _ in looks
        ]
        if len(looks) > 1 and set.intersection(*seen):
            for part, digits in looks:
                clock = f"{digits[:2]}:{digits[2:4]}:{digits[4:] or '00'}"
                if (of_day := time_of_day(clock, None)) is not None:
                    found[part.source] = of_day.ns
    return found


def _by_place(parts: Sequence[StackPart], world: int | None) -> list[Note]:
    """Where nothing tells a rank, its place does: on its machine and that machine's number, or in a row of files.

    All processes have to be there, each once: a place that could be read in two ways is none.
    """
    found = [
        (part, index)
        for part in parts
        for index in sorted(
            {t.process for t in part.raw.threads if t.role == "main" and t.shows in (NOW, DIED)}
        )
    ]
    programs = [(part, part.raw.processes[index]) for part, index in found]
    if not programs or any(process.rank is not None for _, process in programs):
        return []
    placed: dict[tuple[int, int], list[RawProcess]] = defaultdict(list)
    machines = _numbers([part.source for part, _ in programs], machine=True)
    files = _numbers([part.source for part, _ in programs], machine=False)
    one_each = len({part.source for part, _ in programs}) == len(programs)
    kept = [_OF_AGENT.match(part.source) for part, _ in programs]
    one_agent = len({match[1] for match in kept if match}) == 1
    alone = _numbers([process.host or "" for _, process in programs], machine=False)
    for (part, process), machine, number, on, folder in zip(
        programs, machines, files, alone, kept, strict=True
    ):
        named = _LOCAL.search(part.source)
        place = process.place if named is None else int(named[1])
        if place is None and folder is not None and one_agent:
            machine, place = 0, int(folder[2])
        if place is None and one_each:
            machine, place = 0, number
        if place is None and len(set(alone)) == len({(p.host, p.pid) for _, p in programs}):
            # One process on each of the machines, which are numbered as ranks are.
            machine, place = on, 0
        if place is None:
            return []
        placed[machine or 0, place].append(process)
    nodes, places = {node for node, _ in placed}, {place for _, place in placed}
    whole = nodes == set(range(len(nodes))) and places == set(range(len(places)))
    if (
        not whole
        or len(placed) != len(nodes) * len(places)
        or not _FEWEST <= len(placed) == (world or len(placed))
    ):
        return []
    hosts = [
        {process.host for (at, _), those in placed.items() if at == node for process in those}
        for node in nodes
    ]
    one_pid = all(len({process.pid for process in those} - {None}) <= 1 for those in placed.values())
    if not one_pid or any(len(named - {None}) > 1 for named in hosts):
        return []
    for (node, place), those in placed.items():
        for process in those:
            process.rank, process.rank_from = node * len(places) + place, "place"
    where = "machine" if len(nodes) == 1 else "machine, and the machine's own,"
    what = f"nothing tells its rank in the job: the number of its process on the {where} is taken for it"
    return [Note(file=programs[0][0].source, where="", what=what)]


def _numbers(sources: Sequence[str], *, machine: bool) -> list[int | None]:
    """The number in each name that goes in a row from 0, where the names differ in nothing else; of machines, or of
    whatever they count."""
    names = [source.rpartition("/")[2] for source in sources]
    words = [_MACHINE.search(name) if machine else _COUNTED.search(name) for name in names]
    told = [int(match[1]) if match else None for match in words]
    rest = {
        name[: match.start(1)] + name[match.end(1) :]
        for name, match in zip(names, words, strict=True)
        if match
    }
    row = None not in told and len(rest) == 1 and set(told) == set(range(len(set(told))))
    return told if row else [None] * len(told)


def _stamp(source: str) -> int | None:
    match = _STAMP.search(source.rpartition("/")[2])
    if match is None:
        return None
    year, month, day = int(match[1]), int(match[2]), int(match[3])
    written = stamp(year, month, day, f"{match[4]}:{match[5]}:{match[6]}")
    return written.ns if written is not None else None
