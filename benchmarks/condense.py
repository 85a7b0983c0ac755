"""How small a node's dumps become by `raf condense`, what that takes, and whether the answer is the same.

Beside it, for comparison, the same dumps as an ordinary tar.xz. Memory is the sum over the tree of processes of what
each has for itself and its share of what it shares (PSS), sampled.

    python benchmarks/condense.py --ranks 8 1024 --calls 2000 --docs docs/performance.md
"""

from __future__ import annotations

import argparse
import json
import sys
import tarfile
import tempfile
from pathlib import Path

from diagnose import generate
from load import Run, measure
from pages import write_block

BEGIN, END = "<!-- condensing: written by benchmarks/condense.py -->", "<!-- condensing: end -->"

#: `raf diagnose` ends with the status of its verdict; the benchmark wants 0 and what was said, without names of files.
ANSWER = """
import json, subprocess, sys
done = subprocess.run([sys.executable, "-m", "rankandfile", "diagnose", sys.argv[1], "--format", "json"],
                      stdout=subprocess.PIPE)
print(json.dumps(json.loads(done.stdout)["verdicts"]))
"""


def size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.iterdir())


def condense(dumps: Path, case: Path) -> Run:
    run, _ = measure(
        [sys.executable, "-m", "rankandfile", "condense", str(dumps), "-o", str(case), "--force"]
    )
    return run


def packed(dumps: Path, into: Path) -> int:
    with tarfile.open(into, "w:xz") as archive:
        archive.add(dumps, dumps.name)
    return into.stat().st_size


def diagnosed(path: Path) -> tuple[Run, object]:
    run, text = measure([sys.executable, "-c", ANSWER, str(path)])
    return run, json.loads(text)


def row(ranks: int, calls: int, scratch: Path) -> str:
    dumps = generate(scratch, ranks, calls)
    case = scratch / "all.case"
    cost = condense(dumps, case)
    before, after, other = size(dumps), case.stat().st_size, packed(dumps, scratch / "all.tar.xz")
    (full, said), (small, said_of_small) = diagnosed(dumps), diagnosed(case)
    if said != said_of_small:
        raise SystemExit("the condensed dumps get another answer")
    return (
        f"| {ranks:,} x {calls:,} | {before / 1e6:,.1f} MB | {other / 1e6:,.2f} MB (1/{before / other:,.0f}) "
        f"| {after / 1e6:,.2f} MB (1/{before / after:,.0f}) | {cost.wall_s:.1f} s | {cost.cpu_s:.1f} s "
        f"| {cost.peak_mb:,.0f} MB | {full.cpu_s:.1f} s, {small.cpu_s:.1f} s |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--ranks", type=int, nargs="+", default=[8, 64])
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--docs", type=Path, help="rewrite the marked block of this page")
    args = parser.parse_args()
    asked = " ".join(map(str, args.ranks))
    lines = [
        f"`python benchmarks/condense.py --ranks {asked} --calls {args.calls}`: the verdicts are the same.",
        "",
        "| ranks x calls | dumps | as tar.xz | by `raf condense` | wall time | CPU time | peak memory "
        "| `raf diagnose` of the dumps, of the case: CPU time |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    with tempfile.TemporaryDirectory(prefix="raf-bench-") as temporary:
        for ranks in args.ranks:
            lines.append(row(ranks, args.calls, Path(temporary)))
            print(lines[-1], flush=True)
    if args.docs is not None:
        write_block(args.docs, BEGIN, END, lines, "Condensing")


if __name__ == "__main__":
    main()
