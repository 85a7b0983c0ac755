"""A stand-in for NCCL's RAS: speaks its protocol, and prints what NCCL's sources print (`src/ras/client_support.cc`).

Like it, it counts per communicator and operation what each rank has launched; up to 2.28.6 it prints text only.
"""

from __future__ import annotations

import socketserver
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

OPS = ("Broadcast", "Reduce", "AllGather", "ReduceScatter", "AllReduce")
#: More of them are not listed one by one; nor is a larger part of a communicator an outlier.
_DETAIL, _FRACTION, _VERBOSE_FRACTION = 10, 0.25, 0.5


@dataclass
class Comm:
    """A communicator; rank n is process 4000 + n on its host."""

    hash: int
    counts: list[dict[str, int]]
    dead: set[int] = field(default_factory=set)
    silent: set[int] = field(default_factory=set)
    per_host: int = 8

    @property
    def missing(self) -> list[int]:
        return sorted(self.dead | self.silent)

    @property
    def there(self) -> list[int]:
        return [rank for rank in range(len(self.counts)) if rank not in self.missing]

    def host(self, rank: int) -> str:
        return f"10.0.0.{1 + rank // self.per_host}"

    def gpu(self, rank: int) -> int:
        return rank % self.per_host

    def place(self, rank: int) -> str:
        return f"GPU {self.gpu(rank)} managed by process {4000 + rank} on node {self.host(rank)}"

    def count(self, rank: int, op: str) -> int:
        return self.counts[rank].get(op, 0)

    @property
    def mismatch(self) -> bool:
        return any(self.count(rank, op) != self.count(self.there[0], op) for rank in self.there for op in OPS)


State = Callable[[], Sequence[Comm]]


@contextmanager
def ras(state: State, version: str = "2.28.9", silent: int = 0) -> Iterator[int]:
    """The port at which it answers. `silent`: so many connections get no word, as from a process that is stopped."""
    left = [silent]

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            if left[0] > 0:
                left[0] -= 1
                time.sleep(2)
                return
            json = False
            for line in self.rfile:
                command = line.decode().strip().lower()
                if command.startswith("client protocol "):
                    self.wfile.write(b"SERVER PROTOCOL 2\n")
                elif command.startswith("timeout "):
                    self.wfile.write(b"OK\n")
                elif command.startswith("set format ") and version >= "2.28.7":
                    json = command.endswith("json")
                    self.wfile.write(b"OK\n")
                elif command in ("status", "verbose status"):
                    comms = state()
                    said = as_json(comms, version) if json else as_text(comms, version, command != "status")
                    self.wfile.write(said.encode())
                    return
                else:
                    self.wfile.write(f"ERROR: Unknown command {line.decode().strip()}\n".encode())

    class Server(socketserver.ThreadingTCPServer):
        allow_reuse_address = True
        daemon_threads = True

    with Server(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


def as_json(comms: Sequence[Comm], version: str) -> str:
    out = [
        "{", f'  "nccl_version": "{version}",', '  "cuda_runtime_version": 12090,', '  "cuda_driver_version": 12090,',
        '  "timestamp": "2026-07-01 12:00:00",', f'  "communicators_count": {len(comms)},', '  "communicators": [',
    ]  # fmt: skip
    for last, comm in _with_last(comms):
        out += [
            "    {", f'      "hash": "0x{comm.hash:x}",', '      "secondary_hash": "0x1f:0x2e",',
            f'      "size": {len(comm.counts)},', f'      "ranks_count": {len(comm.there)},',
            f'      "missing_ranks_count": {len(comm.missing)},', '      "ranks": [',
        ]  # fmt: skip
        for end, rank in _with_last(comm.there):
            out += [*_place(comm, rank), '          "status": {', '            "init_state": 0,']
            out += ['            "async_error": 0,', '            "finalize_called": false,']
            out += ['            "destroy_flag": false,', '            "abort_flag": false', "          },"]
            out += ['          "collective_counts": {']
            out += [f'            "{op}": {comm.count(rank, op)}{"," * (op != OPS[-1])}' for op in OPS]
            out += ["          }", "        }" + "," * (not end)]
        out += ["      ],", '      "missing_ranks": [']
        for end, rank in _with_last(comm.missing):
            dead = "true" if rank in comm.dead else "false"
            out += [*_place(comm, rank), '          "status": {', '            "unresponsive": true,']
            out += [f'            "considered_dead": {dead}', "          }", "        }" + "," * (not end)]
        out += ["      ]", "    }" + "," * (not last)]
    out += ["  ],", '  "ras": {', '    "collection_time_sec": 0.012,', '    "timeouts_count": 0', "  }", "}"]
    return "\n".join(out) + "\n"


def _place(comm: Comm, rank: int) -> list[str]:
    return [
        "        {", f'          "rank": {rank},', f'          "host": "{comm.host(rank)}",',
        f'          "pid": {4000 + rank},', f'          "cuda_dev": {comm.gpu(rank)},',
        f'          "nvml_dev": {comm.gpu(rank)},',
    ]  # fmt: skip


def _with_last(these: Sequence) -> Iterator[tuple]:  # type: ignore[type-arg]
    return ((number == len(these) - 1, one) for number, one in enumerate(these))


def as_text(comms: Sequence[Comm], version: str, verbose: bool) -> str:
    ranks = max(len(comm.counts) for comm in comms)
    nodes = len({comm.host(rank) for comm in comms for rank in range(len(comm.counts))})
    out = [
        f"NCCL version {version} compiled with CUDA 12.9", "CUDA runtime version 12090, driver version 12090", "",
        "Job summary", "===========", "", "  Nodes  Processes         GPUs  Processes     GPUs",
        "(total)   per node  per process    (total)  (total)",
        f"{nodes:7d}  {ranks // nodes:9d}  {1:11d}  {ranks:9d}  {ranks:7d}", "", "Communicators... (0.01s)",
        "=============",
        "", "Group     Comms     Nodes     Ranks     Ranks     Ranks    Status  Errors",
        "    #  in group  per comm  per node  per comm  in group",
    ]  # fmt: skip
    for number, comm in enumerate(comms):
        size, errors = len(comm.counts), ["INCOMPLETE"] * bool(comm.missing) + ["MISMATCH"] * comm.mismatch
        of = len({comm.host(rank) for rank in range(size)})
        ranks_of = f"{of:8d}  {size // of:8}  {size:8d}  {size:8d}"
        out.append(f"{number:5d}  {1:8d}  {ranks_of}  {'RUNNING':>8}  {','.join(errors) or 'OK':>6}")
    out += ["", "Errors", "======", ""]
    dead = sorted({rank for comm in comms for rank in comm.dead})
    if dead:
        out += ["DEAD", f"  {len(dead)} job process{'es are' if len(dead) > 1 else ' is'} considered dead "
                "(unreachable via the RAS network)"]  # fmt: skip
        out += [
            f"  Process {4000 + rank} on node {comms[0].host(rank)} managing GPU {rank % 8}" for rank in dead
        ]
        out += [""]
    for number, comm in enumerate(comms):
        if comm.missing:
            many = len(comm.missing) > 1
            out += [f"#{number}-0 ({comm.hash:016x}) INCOMPLETE",
                    f"  Missing communicator data from {len(comm.missing)} rank{'s' * many}"]  # fmt: skip
            out += [f"  Rank {rank} -- {comm.place(rank)}" for rank in comm.missing]
            out += [""]
    out += ["Warnings", "========", ""]
    for number, comm in enumerate(comms):
        if comm.mismatch:
            out += [f"#{number}-0 ({comm.hash:016x}) MISMATCH", *_differing(comm, verbose)]
    return "\n".join(out) + "\n"


def _differing(comm: Comm, verbose: bool) -> Iterator[str]:
    for op in OPS:
        by_count = Counter(comm.count(rank, op) for rank in comm.there)
        if len(by_count) < 2:
            continue
        yield f"  Communicator ranks have different {op} operation counts"
        for count, many in sorted(by_count.items(), key=lambda one: (-one[1], -one[0])):
            did = f"launched up to operation {count}" if count else "not launched any operations"
            if many > 1:
                yield f"  {many} ranks have {did}"
            if not _outlier(many, len(comm.counts), verbose):
                continue
            for rank in (rank for rank in comm.there if comm.count(rank, op) == count):
                yield f"  Rank {rank}{f' has {did}' if many == 1 else ''} -- {comm.place(rank)}"
        yield ""


def _outlier(count: int, total: int, verbose: bool) -> bool:
    if count == 1:
        return True
    return count < total * _VERBOSE_FRACTION if verbose else count <= _DETAIL and count <= total * _FRACTION
