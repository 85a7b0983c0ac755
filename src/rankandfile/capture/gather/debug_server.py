"""A stuck job by the address of a debug server: torch's page on rank 0, or the worker servers of single ranks.

Of what they offer, `fr_trace_json` and py-spy answer also where Python's lock is held; `dump_traceback` does not, and
is asked for only where py-spy gives nothing, and not waited for.
"""

from __future__ import annotations

import html
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from rankandfile.capture.gather import worker_server
from rankandfile.capture.gather.worker_server import Address
from rankandfile.capture.watch import processes
from rankandfile.capture.watch.rings import rank_of

#: The page asks all ranks itself; one that is frozen costs it its own limit.
PAGE_S, STACK_S = 75.0, 10.0
_RANK = re.compile(r"<h2>Rank (\d{1,7}): ([^<]*)</h2>\s*(<p>[^<]*</p>\s*)?<pre>(.*?)</pre>", re.DOTALL)
_SOCKET = re.compile(r"rank-(\d+)\.sock$")

Say = Callable[[str], None]
#: Rank -> what it says.
Answers = dict[int, bytes]


@dataclass(frozen=True)
class Server:
    """Something that can be asked for all of its ranks at once."""

    address: Address
    workers: Mapping[int, Address]
    """Empty: the address is torch's page."""

    def ask(self, handler: str, page: str, seconds: float) -> Answers:
        if not self.workers:
            body = worker_server.fetch(self.address, "GET", f"/{page}", PAGE_S)
            return {} if body is None else dict(_of_page(body.decode("utf-8", "replace")))
        with ThreadPoolExecutor(min(len(self.workers), 16)) as pool:
            found = pool.map(lambda one: worker_server.handler(one, handler, seconds), self.workers.values())
        return {rank: data for rank, data in zip(self.workers, found, strict=True) if data}


def find(addresses: Sequence[str]) -> tuple[list[Server], list[str]]:
    """Servers at these addresses, and what is wrong with the others. Workers are ranks in the order in which they are
    given, unless a socket's process says which one it is."""
    servers: list[Server] = []
    workers: dict[int, Address] = {}
    wrong: list[str] = []
    for number, text in enumerate(addresses):
        address: Address = Path(text) if text.startswith("/") else text
        if worker_server.handlers(address):
            workers[_rank(address, number)] = address
        elif not isinstance(address, Path) and worker_server.fetch(address, "GET", "/") is not None:
            servers.append(Server(address, {}))
        else:
            wrong.append(f"{text}: no debug server answers there{_why(address)}")
    return servers + ([Server("", workers)] if workers else []), wrong


def _why(address: Address) -> str:
    if not isinstance(address, Path):
        return ""
    try:
        with address.open("rb"):
            return ""
    except PermissionError:
        return " (the socket belongs to another user: run as that user or as root)"
    except OSError as error:
        return "" if error.errno == 6 else f" ({error.strerror})"  # a socket cannot be opened, and is there


def _rank(address: Address, number: int) -> int:
    found = _SOCKET.search(str(address)) if isinstance(address, Path) else None
    rank = rank_of(processes.environment(int(found[1]))) if found else None
    return number if rank is None else rank


def collect(servers: Sequence[Server], evidence: Path, say: Say, apart_s: float) -> set[int]:
    """Recorders, counters of waits and stacks, twice; the ranks of which there is anything.

    The newer answers of a recorder are evidence, the older ones lie beside: one that has changed tells of a job that
    moves.
    """
    seen: set[int] = set()
    earlier: dict[int, bytes] = {}
    for look in range(2):
        if look:
            time.sleep(apart_s)
        for number, server in enumerate(servers):
            stacks = _stacks(server)
            seen |= stacks.keys()
            if stacks:
                stamp = time.strftime("%Y%m%d_%H%M%S")
                _write(evidence / "stacks" / f"stacks_{number}_{stamp}_{look}.txt", _joined(stacks))
            elif not look:
                say("no stacks: py-spy is not on the job's PATH there, and Python does not answer")
        found = _recorders(servers, evidence if look else evidence.parent / "torch")
        moved = sorted(rank for rank in found.keys() & earlier.keys() if found[rank] != earlier[rank])
        if moved:
            say(f"the job may be moving: calls of rank {', '.join(map(str, moved))} went on meanwhile")
        earlier = found
        seen |= found.keys()
    return seen


def _recorders(servers: Sequence[Server], folder: Path) -> dict[int, bytes]:
    """What torch's recorders say, by rank; with the counters of waits, written below the folder."""
    found: dict[int, bytes] = {}
    for number, server in enumerate(servers):
        for rank, data in server.ask("fr_trace_json", "fr_trace_json", worker_server.ANSWER_S).items():
            _write(folder / "dumps" / f"fr_trace_rank_{rank}.json", data)
            found[rank] = data
        counters = server.ask("wait_counter_values", "wait_counters", worker_server.ANSWER_S)
        if counters:
            words = {rank: ("wait_counter_values", data) for rank, data in counters.items()}
            _write(folder / f"wait_counters_{number}.txt", _joined(words))
    return found


def _stacks(server: Server) -> dict[int, tuple[str, bytes]]:
    found = {
        rank: ("pyspy_dump", data)
        for rank, data in server.ask("pyspy_dump", "pyspy_dump", STACK_S).items()
        if b"Thread" in data
    }
    if found and (not server.workers or found.keys() == server.workers.keys()):
        return found
    for rank, data in server.ask("dump_traceback", "stacks", STACK_S).items():
        found.setdefault(rank, ("dump_traceback", data))
    return found


def _joined(answers: Mapping[int, tuple[str, bytes]]) -> bytes:
    """As torch's server writes its dumps."""
    parts = [
        f"=== Rank {rank}: http://worker/handler/{handler}? ===\n".encode() + data
        for rank, (handler, data) in sorted(answers.items())
    ]
    return b"\n".join(parts) + b"\n"


def _of_page(text: str) -> Iterator[tuple[int, bytes]]:
    """What each rank answered, out of torch's page; those that failed have a line that says so, and are left out."""
    for rank, _, failed, body in _RANK.findall(text):
        if not failed:
            yield int(rank), html.unescape(body).encode()


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
