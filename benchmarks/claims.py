"""What the check of claims costs of a diagnosis, in time of the processor.

python benchmarks/claims.py                                # a generated job of 256 ranks
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

from rankandfile.pipeline import Options, run
from rankandfile.reason.claims import holds

RANKS, CALLS, TIMES = 256, 500, 3


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("evidence", nargs="*", type=Path)
    parser.add_argument("--src", action="append", default=[], type=Path)
    asked = parser.parse_args()
    options = Options(jobs=1, sources=tuple(asked.src))
    with tempfile.TemporaryDirectory(prefix="claims-") as folder:
        evidence = asked.evidence or [generate(Path(folder), RANKS, CALLS)]
        run(evidence, options)  # what is imported late counts for neither
        whole, checks, count = min(measured(evidence, options) for _ in range(TIMES))
    print(f"{count} claims checked in {checks:.3f} s of {whole:.3f} s: {100 * checks / whole:.1f} %")


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
