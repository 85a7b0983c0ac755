"""What the check of claims costs of a diagnosis, in time of the processor.

python benchmarks/claims.py                                # a generated job of 256 ranks, and the examples
python benchmarks/claims.py examples/early-stop/evidence --src examples/early-stop/src
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

from diagnose import generate
from pages import write_block

from rankandfile.pipeline import Options, run
from rankandfile.reason.claims import holds

RANKS, CALLS, TIMES = 256, 500, 3
NAMES = ("early-stop", "tp-dp-cascade")
ROOT = Path(__file__).parents[1]
BEGIN, END = "<!-- claims: written by benchmarks/claims.py -->", "<!-- claims: end -->"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("evidence", nargs="*", type=Path)
    parser.add_argument("--src", action="append", default=[], type=Path)
    parser.add_argument("--docs", type=Path, help="rewrite the block of this page")
    asked = parser.parse_args()
    if asked.evidence:
        print(row(str(asked.evidence[0]), asked.evidence, Options(jobs=1, sources=tuple(asked.src))))
        return
    lines = ["| incident | claims checked | of the diagnosis | share |", "| --- | ---: | ---: | ---: |"]
    with tempfile.TemporaryDirectory(prefix="claims-") as folder:
        made = generate(Path(folder), RANKS, CALLS)
        lines.append(row(f"generated, {RANKS} ranks x {CALLS} calls", [made], Options(jobs=1)))
    for name in NAMES:
        example = ROOT / "examples" / name
        options = Options(jobs=1, sources=(example / "src",))
        lines.append(row(f"`examples/{name}` with its source", [example / "evidence"], options))
    print("\n".join(lines))
    text = [f"`python benchmarks/claims.py`: seconds of the processor, best of {TIMES}.", "", *lines]
    if asked.docs:
        write_block(asked.docs, BEGIN, END, text, "The check of claims")


def row(name: str, evidence: list[Path], options: Options) -> str:
    run(evidence, options)  # what is imported late counts for neither
    whole, checks, count = min(measured(evidence, options) for _ in range(TIMES))
    return f"| {name} | {count} in {checks:.3f} s | {whole:.3f} s | {100 * checks / whole:.1f}% |"


def measured(evidence: list[Path], options: Options) -> tuple[float, float, int]:
    """Seconds of the whole diagnosis, those in checks, and how many were made."""
    spent: list[float] = []

    def timed(check: Callable[..., set[int]]) -> Callable[..., set[int]]:
        def made(*given: Any) -> set[int]:
            began = time.process_time()
            found = check(*given)
            spent.append(time.process_time() - began)
            return found

        return made

    began = time.process_time()
    with patch.dict(holds.CHECKS, {kind: timed(check) for kind, check in holds.CHECKS.items()}):
        run(evidence, options)
    return time.process_time() - began, sum(spent), len(spent)


if __name__ == "__main__":
    main()
