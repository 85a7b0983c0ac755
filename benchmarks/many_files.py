"""A folder of a hundred thousand small files: how long it takes to become a case, and how much memory.

Each is a rank's log of a few lines, as a job of that size leaves them; every hundredth tells of a timeout. Memory is
the sum over the tree of processes of what each has for itself and its share of what it shares (PSS), sampled.

    python benchmarks/many_files.py --files 100000 --docs docs/performance.md
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

from load import OURS, Run, best, measure
from pages import write_block

BEGIN, END = "<!-- many files: written by benchmarks/many_files.py -->", "<!-- many files: end -->"
MANY = OURS.replace("case.calls.height, case.dumps_used.height", "case.logs.height, case.events.height")

LINES = (
    "2025-11-25 08:30:01,120 [rank{0}] INFO train: world size {1}, host node{2:05d}\n"
    "2025-11-25 08:31:07,233 [rank{0}] INFO train: step 100 loss 3.21\n"
    "2025-11-25 08:41:09,871 [rank{0}] INFO train: step 200 loss 3.04\n"
)
GAVE_UP = (
    "[rank{0}]:[E1125 08:51:10.000000 ProcessGroupNCCL.cpp:616] [Rank {0}] Watchdog caught collective operation "
    "timeout: WorkNCCL(SeqNum=201, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for "
    "600009 milliseconds before timing out.\n"
)


def write(folder: Path, files: int) -> None:
    folder.mkdir()
    for rank in range(files):
        text = LINES.format(rank, files, rank // 8) + ("" if rank % 100 else GAVE_UP.format(rank))
        (folder / f"rank{rank}.log").write_text(text)


def words(run: Run, files: int, events: int, jobs: int) -> list[str]:
    return [
        f"`python benchmarks/many_files.py --files {files}`: {files:,} logs of a few lines become a case of {events:,} "
        f"events in {run.wall_s:.0f} s, with {run.cpu_s:.0f} s of processor time on {jobs} processors (load "
        f"{os.getloadavg()[0]:.0f}) and {run.peak_mb:,.0f} MB of all processes together."
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--docs", type=Path, help="rewrite the marked block of this page")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="raf-bench-") as temporary:
        folder = Path(temporary) / "logs"
        write(folder, args.files)
        runs = []
        for _ in range(args.repeat):
            run, text = measure([sys.executable, "-c", MANY, str(folder), str(args.jobs)])
            runs.append(run)
            logs, events = map(int, text.split())
            if logs != args.files:
                raise SystemExit(f"{logs} logs of {args.files}")
    block = words(best(runs), args.files, events, args.jobs)
    print(*block)
    if args.docs:
        write_block(args.docs, BEGIN, END, block, "Many small files")


if __name__ == "__main__":
    main()
