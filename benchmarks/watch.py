"""How soon and how cheaply the sentinel of `raf run` tells that ranks have parted. Two parts:

`--jobs`: real programs of two to four ranks over gloo with timeouts of ten minutes, each of which goes wrong on one
rank, and its healthy twin. The wrong call is stamped by the program itself; what is measured is the time until the
line of `raf run`, and whether that names the rank that went wrong and both places. It accuses nobody where ranks wait
for each other: then the rank is one of those that it names. Some part in sends and receives. Healthy
programs, many of legal asymmetries among them, must get no line at all.

`--fleet`: digests of 100,000 simulated ranks in four families of 512 groups, once a second through the tree of ranks,
nodes, racks and the job. One rank parts; with which round the top
knows, by a clock that is simulated, and what each tier costs, which is measured. With `--redis`, what
one tier leaves the next one reads in a Redis, started here.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

import msgspec

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from support.capture.redis_server import redis_server

from rankandfile.capture.meet.redis_place import RedisPlace
from rankandfile.capture.sentinel.history import KEPT_STEPS, rolled
from rankandfile.capture.sentinel.tree import Row, apart, merged, rows_of
from rankandfile.model.digest import Digest, Prefix, Standing

RANKS, NODE, RACK, GROUPS, FAMILIES = 100_000, 8, 128, 512, 4
PROGRAMS = Path(__file__).parent / "watching"
LAUNCH = PROGRAMS / "launch.py"
PATIENCE_S = 90.0


def jobs(names: list[str], seconds: float) -> list[str]:
    found, table = [], []
    for name in names or [*WRONG, *PASSING]:
        ranks = RANKS_OF.get(name, 3)
        wrong, told, line = _run("passing.py" if name in PASSING else "wrong.py", name, ranks, PATIENCE_S)
        late = told - wrong if wrong and told else None
        right = line is not None and ODD in line and line.count(".py:") >= 2
        table.append(
            f"| {name} | {ranks} | {f'{late:.1f} s' if late is not None else 'no line'} | {'yes' if right else 'no'} |"
        )
        print(table[-1], line or "", flush=True)
        if late is not None:
            found.append(late)
    noise = []
    for program, mode in HEALTHY:
        _, told, line = _run(program, mode, 4, PATIENCE_S + seconds, seconds)
        noise.append(line)
    quick = sorted(found)
    at_95 = quick[min(int(0.95 * len(quick)), len(quick) - 1)] if quick else 0.0
    return [
        f"`python benchmarks/watch.py --jobs`: {_machine()}; timeouts of ten minutes. {len(found)} of {len(table)} "
        f"told: median {statistics.median(quick or [0]):.1f} s, 95 % "
        f"within {at_95:.1f} s. Lines about healthy twins and about legal differences, {seconds:.0f} s each on four "
        f"ranks: {sum(line is not None for line in noise)}.",
        "Where ranks wait for each other (`order` and most of the last six), the line accuses nobody, and names rank 1 "
        "among them.",
        "",
        "| program | ranks | after the wrong call | names that rank and both places |",
        "| --- | ---: | ---: | --- |",
        *table,
    ]


#: What goes wrong at step 20, on rank 1.
WRONG = [
    "extra", "skip", "barrier", "broadcast", "root", "reduction", "dtype", "size", "silent", "silent_skip", "subgroup",
    "order", "leaves", "helper",
]  # fmt: skip
#: The same, in sends and receives.
PASSING = ["left_out", "wrong_peer", "once_more", "too_large", "all_receive", "begun"]
HEALTHY = (
    ("wrong.py", "healthy"),
    ("passing.py", "healthy"),
    ("legal.py", "all"),
    ("passing_legal.py", "all"),
    ("training.py", "all"),
)
RANKS_OF = {"order": 2, "extra": 2, "skip": 4}
ODD = "rank 1 "


def _machine() -> str:
    return f"{len(os.sched_getaffinity(0))} processors, load {os.getloadavg()[0]:.0f}"


def healthy(program: str, seconds: float) -> str:
    """One healthy loop for as long as that."""
    mode = dict(HEALTHY)[program]
    ticks = os.times()
    _, _, line = _run(program, mode, 4, PATIENCE_S + seconds, seconds)
    used = sum(os.times()[2:4]) - sum(ticks[2:4])
    return (
        f"`python benchmarks/watch.py --healthy {program} --seconds {seconds:.0f}`: {_machine()}, four ranks, "
        f"{used:.0f} s of processor time with the ranks' own: "
        f"{line or 'no line'}."
    )


def _run(
    program: str, mode: str, ranks: int, patience: float, seconds: float = 0.0
) -> tuple[float, float, str | None]:
    """When the program says that it went wrong, when `raf run` says it, and its line."""
    with tempfile.TemporaryDirectory() as folder:
        command = [
            sys.executable,
            "-m",
            "rankandfile",
            "run",
            "--no-unicode",
            "--out",
            f"{folder}/case",
            "--",
        ]
        command += [sys.executable, str(LAUNCH), str(ranks), str(PROGRAMS / program), mode, str(seconds)]
        process = subprocess.Popen(
            command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        timer = threading.Timer(patience, process.terminate)
        timer.start()
        wrong = told = 0.0
        line = None
        assert process.stdout is not None
        for text in process.stdout:
            if text.startswith("WRONG "):
                wrong = wrong or float(text.split()[1])
            # Of a healthy one, whatever is said is too much.
            tells = "raf: " if seconds else ("raf: rank 1 has ended", "raf: ranks")
            if text.startswith(tells) and line is None:
                told, line = time.time(), text.strip()
                process.terminate()
                time.sleep(0.3)
                process.terminate()
        process.wait()
        timer.cancel()
        if seconds and process.returncode and line is None:
            raise SystemExit(f"the healthy {program} {mode} ended with {process.returncode}")
    return wrong, told, line


class Fleet:
    """Ranks that make a hundred calls a second in each of their groups, some of them a little behind."""

    def __init__(self) -> None:
        self._sums = [0]
        self._bad = [0]
        self.parted_at = 1 << 60

    def grow(self, last: int) -> None:
        for number in range(len(self._sums), last + 1):
            call = number % 7 + 1
            self._sums.append(rolled(self._sums[-1], number, call))
            other = call + 100 if number == self.parted_at else call
            self._bad.append(rolled(self._bad[-1], number, other))

    def digest(self, rank: int, last: int) -> Digest:
        own = last - rank % 5
        sums = self._bad if rank == BAD else self._sums
        numbers = sorted({own - own % step - back * step for step in KEPT_STEPS for back in (0, 1)} - {own})
        prefixes = tuple(Prefix(number, sums[number]) for number in numbers if number > 0)
        groups = tuple(
            Standing(
                f"{family}-{group:03x}",
                own,
                own - 1,
                sums[own],
                0,
                prefixes,
                0.01,
                "all_reduce SUM Float [1]",
                7,
            )
            for family, group in enumerate(groups_of(rank))
        )
        return Digest(rank=rank, host="node", time=1.8e9, calls=4 * own, groups=groups)


BAD = 77_777


def groups_of(rank: int) -> tuple[int, ...]:
    """One of each family: neighbours together, far ones together, and two between."""
    return (rank * GROUPS // RANKS, rank % GROUPS, rank // NODE % GROUPS, rank // 64 % GROUPS)


class Left:
    """What one tier leaves for the next: here, or in a Redis."""

    def __init__(self, url: str | None) -> None:
        self.place = RedisPlace(url, "fleet") if url is not None else None
        self._kept: dict[str, bytes] = {}
        self.took = {"put": 0.0, "get": 0.0}
        self.carried = 0

    def put(self, name: str, data: bytes) -> None:
        began = time.monotonic()
        if self.place is None:
            self._kept[name] = data
        else:
            self.place.put(name, data)
        self.took["put"] += time.monotonic() - began
        self.carried += len(data)

    def all_of(self, names: Sequence[str]) -> list[bytes]:
        began = time.monotonic()
        kept = [self._kept[name] for name in names] if self.place is None else self.place.get_all(names)
        found = [data or b"" for data in kept]
        self.took["get"] += time.monotonic() - began
        self.carried += sum(map(len, found))
        return found


def fleet(rounds: int, url: str | None) -> list[str]:
    fleet, encode, last, left = Fleet(), msgspec.msgpack.encode, 5000, Left(url)
    fleet.parted_at = last + 150
    cost: dict[str, list[float]] = {"node": [], "rack": [], "job": []}
    size: dict[str, list[int]] = {"node": [], "rack": []}
    ways: list[float] = []
    found_after = None
    for _ in range(rounds):
        last += 100
        fleet.grow(last)
        racks: list[str] = []
        for rack in range(0, RANKS, NODE * RACK):
            nodes: list[str] = []
            for node in range(rack, min(rack + NODE * RACK, RANKS), NODE):
                digests = [fleet.digest(rank, last) for rank in range(node, min(node + NODE, RANKS))]
                began = time.process_time()
                data = encode(merged(rows_of(digests)))
                cost["node"].append(time.process_time() - began)
                size["node"].append(len(data))
                nodes.append(f"node-{node}/watch")
                left.put(nodes[-1], data)
            began, since = time.process_time(), time.monotonic()
            rows = [
                row for data in left.all_of(nodes) for row in msgspec.msgpack.decode(data, type=list[Row])
            ]
            data = encode(merged(rows))
            cost["rack"].append(time.process_time() - began)
            size["rack"].append(len(data))
            racks.append(f"rack-{rack}")
            left.put(racks[-1], data)
            ways.append(time.monotonic() - since)
        began, since = time.process_time(), time.monotonic()
        told = apart(
            [row for data in left.all_of(racks) for row in msgspec.msgpack.decode(data, type=list[Row])]
        )
        cost["job"].append(time.process_time() - began)
        top = time.monotonic() - since
        if told and found_after is None:
            found_after = last - fleet.parted_at
            assert all(one.rows[0].ranks == (BAD,) for one in told), told
            assert all(one.after < fleet.parted_at <= one.by for one in told)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    per = {tier: statistics.median(times) * 1000 for tier, times in cost.items()}
    way = statistics.median(cost["node"]) + max(ways) + top
    once = found_after / 100 if found_after is not None else None
    top_in, rack_in = sum(size["rack"]) / rounds, sum(size["node"]) / len(size["node"]) * RACK
    option = "" if url is None else " --redis"
    return [
        f"`python benchmarks/watch.py --fleet{option}`: {RANKS:,} ranks, {FAMILIES} families of {GROUPS} groups, "
        f"a hundred calls a second in each group; rounds are a second apart. A rank that parted was known at the top, "
        f"by its number and with the interval of the call, with the first round after it, {once:.1f} s later by the "
        f"simulated clock; from ring to top a round takes {way:.1f} s of real time, all tiers in one process. "
        f"{memory:.0f} MB for all of them." + (_of_redis(left, rounds) if left.place is not None else ""),
        "",
        "| tier | how many | reads, each second | time of a processor, each second |",
        "| --- | ---: | ---: | ---: |",
        f"| node | {RANKS // NODE:,} | {NODE} digests | {per['node']:.1f} ms |",
        f"| rack | {-(-RANKS // NODE // RACK)} | {RACK} messages, {rack_in / 1e6:.1f} MB | {per['rack']:.0f} ms |",
        f"| job | 1 | {len(racks)} messages, {top_in / 1e6:.1f} MB | {per['job']:.0f} ms |",
    ]


def _of_redis(left: Left, rounds: int) -> str:
    """What it cost the server, for a second of the fleet."""
    assert left.place is not None
    told = left.place._redis.info()
    busy = (told["used_cpu_user"] + told["used_cpu_sys"]) / rounds
    most = told["used_memory_peak"] / 1e6
    return (
        f" One Redis carries {left.carried / rounds / 1e6:.0f} MB of it a second, in {busy:.1f} s of a processor and "
        f"{most:.0f} MB of memory."
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--jobs", nargs="*", metavar="NAME", help="real programs; all without a name")
    parser.add_argument("--seconds", type=float, default=60.0, help="how long the healthy ones run")
    parser.add_argument(
        "--healthy", choices=dict(HEALTHY), help="one of the healthy programs and nothing else"
    )
    parser.add_argument("--fleet", type=int, metavar="ROUNDS", nargs="?", const=4, help="simulated ranks")
    parser.add_argument("--redis", action="store_true", help="with --fleet: through a Redis, started here")
    arguments = parser.parse_args()
    if arguments.jobs is not None:
        print("\n".join(jobs(arguments.jobs, arguments.seconds)))
    if arguments.healthy:
        print(healthy(arguments.healthy, arguments.seconds))
    if arguments.fleet:
        with redis_server() if arguments.redis else nullcontext() as url:
            print("\n".join(fleet(arguments.fleet, url)))


if __name__ == "__main__":
    main()
