"""A baseline: torch's own analyser, as an answer to a task of the benchmark.

python -m rankandfile.lab.benchmark.fr_trace EVIDENCE
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from rankandfile.lab.score.analysers import Analyser, fr_trace_repaired


def main(ask: Analyser = fr_trace_repaired) -> int:
    """It is given every help: dumps completed as it needs them, and missing ranks allowed."""
    with tempfile.TemporaryDirectory(prefix="raf-dumps-alone-") as scratch:
        (Path(scratch) / "evidence").symlink_to(Path(sys.argv[1]).resolve(), target_is_directory=True)
        said = ask(Path(scratch))
    answer = {"hang": said.hang, "culprits": said.culprits, "group": said.group, "seq": said.seq}
    sys.stdout.write(json.dumps({"failed": said.failed} if said.failed else answer) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
