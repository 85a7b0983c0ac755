"""How fast the log reader is, beside `grep -c` on the same file.

    python benchmarks/logs.py --mib 2048 --write docs/performance.md

Writes a mixed log of that size, one line in a hundred of which says something about a hang, reads it, and prints
throughput, memory and the ratio to `grep -c "Watchdog caught"`; best of `--repeat` by processor time. With `--write`
the figures replace the marked block of that page. The file is deleted afterwards unless `--keep`.

    python benchmarks/logs.py --small 100000 --write docs/performance.md

Writes that many logs of three lines instead, in folders of a thousand, and has `raf diagnose` read them all.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from pages import write_block

RANKS = 64

BEGIN, END = "<!-- logs: written by benchmarks/logs.py -->", "<!-- logs: end -->"
BEGIN_SMALL, END_SMALL = "<!-- small logs: written by benchmarks/logs.py -->", "<!-- small logs: end -->"

ORDINARY = (
    "2026-02-07 08:41:{s:02d},{ms:03d} rank {r} INFO trainer: step {n} loss {x:.4f} lr 3.0e-04 ({y:.1f} samples/s)",
    "[default{l}]:[2026-02-07 08:41:{s:02d},{ms:03d}] [INFO] [engine.py:312] iteration {n}/200000 grad norm: {x:.3f}",
    " {r}: Epoch 3:  42%|####2     | {n}/9999 [03:12<04:31, {y:.2f}it/s, loss={x:.3f}]",
    "(RayTrainWorker pid={pid}, ip=10.1.2.{l}) batch {n} catching up, waited {x:.2f}s for the next shard",
    "node{l:02d}:{pid}:{pid} [{l}] NCCL INFO Channel {l:02d}/0 : {r}[{l}] -> 7[7] via P2P/CUMEM/read",
    "[rank{r}]:/opt/venv/lib/python3.12/site-packages/torch/utils/checkpoint.py:92: UserWarning: use_reentrant is {n}",
    "wandb: run epoch={n} train/loss={x:.5f} train/accuracy={x:.3f} elapsed={y:.1f} memory=71.2GiB tokens={n}512",
)
C10 = "[rank{r}]:[E207 08:41:{s:02d}.{n:09d} ProcessGroupNCCL.cpp:607] "
TELLING = (
    C10 + "[Rank {r}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum={n}, OpType=ALLREDUCE, "
    "NumelIn=6436, NumelOut=6436, Timeout(ms)=600000) ran for 600043 milliseconds before timing out.",
    C10 + "[PG ID 2 PG GUID 9(dp) Rank {r}]  failure detected by watchdog at work sequence id: {n} "
    "PG status: last enqueued work: {n}, last completed work: {n}",
    C10
    + "[PG ID 0 PG GUID 0(default_pg) Rank {r}] Received a dump signal due to a collective timeout from  rank 3 "
    "and we will try our best to dump the debug info. Last enqueued NCCL work: {n}, last completed NCCL work: {n}.",
    "node{l:02d}:{pid}:{pid} [{l}] NCCL WARN NET/IB : Got completion from peer 10.1.2.{l}<41872> with status=12 "
    "opcode=0 len=0 vendor err 129 (Recv)",
    "[rank{r}]: RuntimeError: [/src/gloo/transport/tcp/unbound_buffer.cc:78] Timed out waiting 1800000ms for recv "
    "operation to complete",
    "[{n}.123456] NVRM: Xid (PCI:0000:9d:00): 79, pid={pid}, name=python3, GPU has fallen off the bus.",
)


def write(path: Path, mib: int, relevant: float, seed: int) -> int:
    """A log of at least that size, from blocks that repeat; its number of lines."""
    draw = random.Random(seed)

    def line(number: int) -> str:
        rank = draw.randrange(RANKS)
        shape = draw.choice(TELLING if draw.random() < relevant else ORDINARY)
        return shape.format(
            r=rank, l=rank % 8, n=number, pid=20_000 + rank, s=number % 60, ms=number % 1000,
            x=draw.random() * 3, y=draw.random() * 90,
        )  # fmt: skip

    blocks = [("\n".join(line(k * 40_000 + i) for i in range(40_000)) + "\n").encode() for k in range(8)]
    written = count = 0
    with path.open("wb") as file:
        while written < mib << 20:
            block = blocks[count % len(blocks)]
            written += file.write(block)
            count += 1
    return count * 40_000


_READ = """
import json, resource, sys, time
from pathlib import Path
from rankandfile.evidence.text.reading import read_log
begin, used = time.perf_counter(), time.process_time()
log = read_log(Path(sys.argv[1])).log
seconds, used = time.perf_counter() - begin, time.process_time() - used
print(json.dumps({
    "seconds": seconds, "used": used, "lines": log.row.lines, "events": len(log.columns["line"]),
    "relevant": sum(log.columns["repeats"]), "mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
}))
"""


def count(path: Path) -> tuple[float, float]:
    """Seconds of `grep -c`, on the wall and of the processor; the file is in the page cache."""
    begin, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(["grep", "-c", "Watchdog caught", str(path)], stdout=subprocess.PIPE, check=False)
    wall, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


class Figures(NamedTuple):
    megabytes: float
    lines: int
    relevant: float
    read: dict[str, float]
    grep: tuple[float, float]
    """Seconds on the wall and of the processor."""


def measure(path: Path, lines: int, relevant: float, repeat: int) -> Figures:
    count(path)
    grep = min((count(path) for _ in range(repeat)), key=lambda seconds: seconds[1])
    found = [
        json.loads(
            subprocess.run([sys.executable, "-c", _READ, str(path)], capture_output=True, check=True).stdout
        )
        for _ in range(repeat)
    ]
    best: dict[str, float] = min(found, key=lambda one: one["used"])
    assert best["lines"] == lines
    return Figures(path.stat().st_size / 1e6, lines, relevant, best, grep)


def table(figures: Figures, repeat: int) -> list[str]:
    size, read, grep = figures.megabytes, figures.read, figures.grep
    return [
        f"A mixed log of {size:,.0f} MB and {figures.lines:,} lines, {figures.relevant:.1%} of them relevant "
        f"({read['relevant']:,} lines, {read['events']:,} events kept); best of {repeat} by processor time, "
        f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}.",
        "",
        "| | wall time | | processor time | | memory |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
        f"| Rank & File, all events | {read['seconds']:.1f} s | {size / read['seconds']:,.0f} MB/s "
        f"| {read['used']:.1f} s | {size / read['used']:,.0f} MB/s | {read['mib']:.0f} MiB |",
        f'| `grep -c "Watchdog caught"` | {grep[0]:.1f} s | {size / grep[0]:,.0f} MB/s '
        f"| {grep[1]:.1f} s | {size / grep[1]:,.0f} MB/s | |",
        "",
        f"Reading everything takes {read['used'] / grep[1]:.1f} times the processor time of looking for one literal.",
    ]


SMALL = (
    "2026-11-01 08:41:02,123 rank {r} INFO trainer: step 12 loss 2.31\n"
    "[rank{r}]:[E1122 21:45:34.230352640 ProcessGroupNCCL.cpp:722] [Rank {r}] Watchdog caught collective operation "
    "timeout: WorkNCCL(SeqNum=25, OpType=ALLREDUCE, NumelIn=24, NumelOut=24, Timeout(ms)=600000) ran for 600068 "
    "milliseconds before timing out.\n"
    "2026-11-01 08:51:02,123 rank {r} INFO bye\n"
)
ODD = "2026-11-01 08:41:02,123 rank {r} ERROR NaN found, skipping batch\n"


def write_small(folder: Path, count: int) -> None:
    """Logs of three lines each; of every 97th rank no watchdog gave up."""
    for rank in range(count):
        node = folder / f"node{rank // 1000:03d}"
        node.mkdir(exist_ok=True)
        (node / f"rank_{rank}.log").write_text((SMALL if rank % 97 else ODD).format(r=rank))


def measure_small(folder: Path, count: int, repeat: int) -> list[str]:
    """`raf diagnose` as a person starts it, from a warm page cache."""
    runs = []
    for _ in range(repeat):
        began = time.perf_counter()
        process = subprocess.Popen(
            [Path(sys.executable).with_name("raf"), "diagnose", folder], stdout=subprocess.DEVNULL
        )
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode in (0, 1, 3), process.returncode
        runs.append((used.ru_utime + used.ru_stime, time.perf_counter() - began, used.ru_maxrss / 1024))
    cpu, wall, memory = min(runs)
    return [
        f"{count:,} logs of three lines, `raf diagnose` from start to answer; best of {repeat} by processor time, "
        f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}.",
        "",
        "| wall time | processor time of all processes | memory of the largest |",
        "| ---: | ---: | ---: |",
        f"| {wall:.0f} s | {cpu:.0f} s | {memory:.0f} MiB |",
    ]


def small(arguments: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        write_small(Path(folder), arguments.small)
        shown = measure_small(Path(folder), arguments.small, arguments.repeat)
    print("\n".join(shown))
    if arguments.write is not None:
        write_block(arguments.write, BEGIN_SMALL, END_SMALL, shown, "Many small logs")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mib", type=int, default=2048)
    parser.add_argument("--relevant", type=float, default=0.01)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--folder", type=Path, default=None, help="where the log is written")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--write", type=Path, default=None, metavar="PAGE")
    parser.add_argument("--small", type=int, metavar="LOGS", help="so many small logs instead of a large one")
    arguments = parser.parse_args()
    if arguments.small:
        small(arguments)
        return
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        path = Path(folder) / "job.log"
        lines = write(path, arguments.mib, arguments.relevant, arguments.seed)
        figures = measure(path, lines, arguments.relevant, arguments.repeat)
        if arguments.keep:
            path.rename(path.parent.parent / "job.log")
    shown = table(figures, arguments.repeat)
    print("\n".join(shown))
    if arguments.write is not None:
        write_block(arguments.write, BEGIN, END, shown, "Reading logs")


if __name__ == "__main__":
    main()
