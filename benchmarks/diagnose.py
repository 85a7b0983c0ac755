"""From files to a verdict: against torch's own analyser, and how time grows with ranks and with calls per rank.

On the same files, in one run: ``raf diagnose``, with its reader in Python and, where it is built, the native one, and
``fr_trace``; each as a whole process tree, Python's start included. Which part takes how much of it: `parts.py`.

    python benchmarks/diagnose.py --docs docs/performance.md            # everything; fr_trace takes most of the time
    python benchmarks/diagnose.py --only main --ranks 256 --calls 500   # a quick look
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

from load import Run, best, measure
from pages import write_block

from rankandfile.evidence.flight.native import SWITCH, native

HERE = Path(__file__).parent
BEGIN, END = "<!-- diagnosing: written by benchmarks/diagnose.py -->", "<!-- diagnosing: end -->"

GROWTH_RANKS = (1024, 4096, 16384)
GROWTH_CALLS = (500, 2000, 8000, 20000)
RANKS_OF_GROWTH_CALLS = 64
CALLS_OF_GROWTH_RANKS = 500

#: `raf diagnose` ends with the status of its verdict; the benchmark wants 0 and the culprits.
OURS = """
import json, subprocess, sys
done = subprocess.run([sys.executable, "-m", "rankandfile", "diagnose", sys.argv[1], "--format", "json"],
                      stdout=subprocess.PIPE)
document = json.loads(done.stdout)
print(json.dumps([c["rank"] for v in document["verdicts"] for c in v["culprits"]]))
"""


def generate(folder: Path, ranks: int, calls: int) -> Path:
    into = folder / f"{ranks}x{calls}"
    if not into.exists():
        command = [sys.executable, str(HERE / "generate.py"), "--ranks", str(ranks), "--calls", str(calls)]
        subprocess.run([*command, "--out", str(into)], check=True, stdout=subprocess.DEVNULL)
    return into


def ours(folder: Path, repeat: int, switch: str) -> Run:
    runs = []
    for _ in range(repeat):
        run, text = measure([sys.executable, "-c", OURS, str(folder)], **{SWITCH: switch})
        if json.loads(text) != [3]:
            raise SystemExit(f"wrong culprits: {text}")
        runs.append(run)
    return best(runs)


def theirs(folder: Path) -> Run:
    return measure([sys.executable, "-m", "torch.distributed.flight_recorder.fr_trace", str(folder)])[0]


def row(folder: Path, ranks: int, calls: int, repeat: int, fr_trace: bool) -> dict[str, Any]:
    files = generate(folder, ranks, calls)
    found: dict[str, Any] = {"ranks": ranks, "calls": calls, "ours": asdict(ours(files, repeat, "0"))}
    if native().read is not None:
        found["native"] = asdict(ours(files, repeat, "1"))
    if fr_trace:
        found["fr_trace"] = asdict(theirs(files))
    print(json.dumps(found), file=sys.stderr)
    return found


def table(rows: list[dict[str, Any]]) -> list[str]:
    beside = any("fr_trace" in one for one in rows)
    head = "| ranks x calls | raf diagnose | peak memory |" + (
        " fr_trace | peak memory | faster | memory |" if beside else " per call |"
    )
    lines = [head, "| --- " + "| ---: " * (head.count("|") - 2) + "|"]
    for one in rows:
        size = f"{one['ranks']} x {one['calls']}"
        for name, mine in ((size, one["ours"]), (f"{size}, `rankandfile-native`", one.get("native"))):
            if mine is not None:
                lines.append(f"| {name} |{_figures(one, mine, beside)}")
    return lines


def _figures(one: dict[str, Any], mine: dict[str, float], beside: bool) -> str:
    other = one.get("fr_trace")
    line = f" {mine['wall_s']:.1f} s | {mine['peak_mb']:,.0f} MB |"
    if other:
        line += f" {other['wall_s']:.1f} s | {other['peak_mb']:,.0f} MB |"
        line += f" {other['wall_s'] / mine['wall_s']:.0f} x | {mine['peak_mb'] / other['peak_mb']:.0%} |"
    elif not beside:
        line += f" {mine['wall_s'] / one['ranks'] / one['calls'] * 1e6:.2f} µs |"
    return line


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", choices=["main", "ranks", "calls"], action="append")
    parser.add_argument("--ranks", type=int, default=1024)
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--repeat", type=int, default=3, help="runs of raf; the best counts")
    parser.add_argument(
        "--fr-trace-calls", type=int, default=20000, help="longest rings that fr_trace is given"
    )
    parser.add_argument("--folder", type=Path, help="keep the generated dumps here")
    parser.add_argument("--docs", type=Path, help="rewrite the block of this page")
    arguments = parser.parse_args()
    only = arguments.only or ["main", "ranks", "calls"]
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        lines = [f"{len(os.sched_getaffinity(0))} processors; best of {arguments.repeat}, fr_trace once.", ""]
        if "main" in only:
            lines += table([row(folder, arguments.ranks, arguments.calls, arguments.repeat, True)])
        if "calls" in only:
            lines += ["", "How time grows with the calls that each rank's ring holds:", ""]
            rows = [
                row(folder, RANKS_OF_GROWTH_CALLS, calls, arguments.repeat, calls <= arguments.fr_trace_calls)
                for calls in GROWTH_CALLS
            ]
            lines += table(rows)
        if "ranks" in only:
            lines += ["", "How time grows with ranks:", ""]
            lines += table([row(folder, ranks, CALLS_OF_GROWTH_RANKS, 1, False) for ranks in GROWTH_RANKS])
    print("\n".join(lines))
    if arguments.docs:
        write_block(arguments.docs, BEGIN, END, lines, "From files to a verdict")


if __name__ == "__main__":
    main()
