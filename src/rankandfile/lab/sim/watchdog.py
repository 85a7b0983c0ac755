"""When torch notices, who notices first, and how each process ends.

The watchdog of a rank times each call from the moment it was enqueued. The first to run out, anywhere, sets the
dump signal; every rank whose default group's monitor still runs then dumps. A process that is gone, or that sits
in destroy_process_group, leaves none.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from rankandfile.lab.sim.host import Host, Record
from rankandfile.lab.sim.machine import SECOND

_POLL_NS = SECOND // 10
_LAST_WORDS_NS = 75 * SECOND  # between the signal and the end of the process: dump, silence, abort


@dataclass(frozen=True)
class Patience:
    """The timeout of every group."""

    timeout_ms: int = 600_000


@dataclass(frozen=True)
class Timeout:
    """One rank's own watchdog firing."""

    rank: int
    time: int
    record: Record


@dataclass
class Aftermath:
    """What the end of the job looked like from outside. `signal_at` is None where nothing ever fired."""

    signal_at: int | None
    signal_from: int | None
    timeouts: dict[int, Timeout]
    dumps: dict[int, int]  # rank -> when its recorder was written
    ended_at: int
    exits: dict[int, int]  # rank -> exit status as a launcher reports it
    stuck: bool


def poll_after(rank: int, time: int) -> int:
    """The rank's next look at its unfinished calls."""
    phase = rank * 37_000_001 % _POLL_NS
    return time + (phase - time) % _POLL_NS


def aftermath(hosts: list[Host], patience: Patience, *, on_request: int | None = None) -> Aftermath:
    """`on_request`: somebody asks all ranks for dumps at that time, through the pipe. Without a timeout, an error
    or a request, a job that ends well leaves what each rank's recorder held when it was about to leave."""
    timeouts = {host.rank: own for host in hosts if (own := _first(host, patience))}
    errors = {host.rank: host.device_error[0] for host in hosts if host.device_error}
    alarms = [(t.time, t.rank) for t in timeouts.values()] + [
        (time + _POLL_NS, r) for r, time in errors.items()
    ]
    stuck = bool(timeouts) or any(host.ended_at is None or host.ending is None for host in hosts)
    stuck = stuck or any(host.ending is not None and host.ending.how == "destroying" for host in hosts)
    last = max(host.clock for host in hosts)
    if not alarms:
        if on_request is not None:
            dumps = _dumps(hosts, on_request)
        else:
            dumps = {} if stuck else {host.rank: host.clock - 1 for host in hosts}
        end = last + (3600 * SECOND if stuck else 2 * SECOND)
        return Aftermath(None, None, {}, dumps, end, _exits(hosts, {}, errors, end, stuck), stuck)
    signal_at, first = min(alarms)
    end = signal_at + _LAST_WORDS_NS
    heard = {rank: t for rank, t in timeouts.items() if t.time < end - 5 * SECOND}
    at = on_request if on_request is not None else signal_at
    exits = _exits(hosts, heard, errors, end, True)
    return Aftermath(signal_at, first, heard, _dumps(hosts, at), end, exits, True)


def _first(host: Host, patience: Patience) -> Timeout | None:
    best: Timeout | None = None
    for record in host.records:
        node = record.node
        if node is None:
            continue
        limit = record.created + patience.timeout_ms * 1_000_000
        if node.done is not None and node.done <= limit:
            continue
        if host.ended_at is not None and host.ended_at < limit:
            continue
        if best is None or limit < best.time:
            best = Timeout(host.rank, limit, record)
    return replace(best, time=poll_after(host.rank, best.time)) if best else None


def _dumps(hosts: list[Host], signal_at: int) -> dict[int, int]:
    """Ranks see the signal in the store when their monitor next looks, within a second."""
    out = {}
    for host in hosts:
        time = signal_at + host.rank * 131_000_003 % SECOND
        if host.ended_at is None or host.ended_at > time:
            out[host.rank] = time
    return out


def _exits(
    hosts: list[Host], timeouts: dict[int, Timeout], errors: dict[int, int], end: int, stuck: bool
) -> dict[int, int]:
    exits = {}
    for host in hosts:
        ending = host.ending
        if host.gone_at is not None and host.gone_at <= end and ending is not None:
            exits[host.rank] = ending.code
        elif host.rank in timeouts or host.rank in errors:
            exits[host.rank] = -6
        else:
            exits[host.rank] = -15 if stuck else 0
    return exits
