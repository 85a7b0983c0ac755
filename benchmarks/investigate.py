"""The investigation of a large job: how long the playbook takes, and how much there is to read.

python benchmarks/investigate.py --docs docs/performance.md
python benchmarks/investigate.py --ranks 256 --calls 500        # a quick look
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

from diagnose import generate
from load import Run, best, measure
from pages import write_block

BEGIN, END = "<!-- investigating: written by benchmarks/investigate.py -->", "<!-- investigating: end -->"

#: The command as it is, in a process of its own; the benchmark wants 0 for a verdict.
OURS = """
import subprocess, sys
done = subprocess.run([sys.executable, "-m", "rankandfile", "investigate", sys.argv[1], "-o", sys.argv[2],
                       "--format", "json"], stdout=subprocess.PIPE)
sys.stdout.write(done.stdout.decode())
sys.exit(0 if done.returncode == 1 else 1)
"""


def investigated(folder: Path, out: Path, repeat: int) -> tuple[Run, int, int]:
    """Best run, characters of the document, steps."""
    runs = []
    for _ in range(repeat):
        run, text = measure([sys.executable, "-c", OURS, str(folder), str(out)])
        verdicts = json.loads(text)["diagnosis"]["verdicts"]
        if [culprit["rank"] for verdict in verdicts for culprit in verdict["culprits"]] != [3]:
            raise SystemExit(f"wrong culprits: {verdicts}")
        runs.append(run)
    document = (out / "investigation.md").read_text(encoding="utf-8")
    return best(runs), len(document), len((out / "investigation.jsonl").read_bytes().splitlines())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, nargs="+", default=[64, 1024, 4096])
    parser.add_argument("--calls", type=int, default=500)
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--docs", type=Path)
    asked = parser.parse_args()
    lines = [
        f"`raf investigate` on dumps with {asked.calls} calls per rank, Python's start and reading included; best of "
        f"{asked.repeat}, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}.",
        "",
        "| ranks | wall time | processor time | memory | `investigation.md` | steps |",
        "| ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    with tempfile.TemporaryDirectory(prefix="raf-investigate-") as folder:
        for ranks in asked.ranks:
            dumps = generate(Path(folder), ranks, asked.calls)
            run, size, steps = investigated(dumps, Path(folder) / "out", asked.repeat)
            lines.append(
                f"| {ranks:,} | {run.wall_s:.1f} s | {run.cpu_s:.1f} s | {run.peak_mb:.0f} MiB | "
                f"{size:,} characters | {steps} |"
            )
    print("\n".join(lines))
    if asked.docs is not None:
        write_block(asked.docs, BEGIN, END, lines, "Investigating")


if __name__ == "__main__":
    main()
