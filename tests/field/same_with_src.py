"""Whether cases of `raf run` tell the same line, condition and cause alone and with the source tree: what differs.

    python tests/field/same_with_src.py EVIDENCE=SRC...

EVIDENCE is the folder of a case's evidence, SRC the tree that ran. `tests/field/run.py` asks the same of its programs.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from rankandfile import diagnose


def told(verdict: Any) -> tuple[object, ...]:
    """What a person goes by."""
    place = verdict.location
    where = (Path(place.file).name, place.line, place.condition) if place is not None else None
    return verdict.cause, where, tuple(culprit.rank for culprit in verdict.culprits)


def differences(evidence: Path, source: Path) -> list[str]:
    alone, with_tree = (diagnose([evidence], src=src).verdicts for src in ([], [source]))
    return [
        f"alone {told(one)}; with the tree {told(other)}"
        for one, other in zip(alone, with_tree, strict=True)
        if told(one) != told(other)
    ]


def main() -> int:
    unlike = 0
    for word in sys.argv[1:]:
        evidence, _, source = word.partition("=")
        try:
            found = differences(Path(evidence), Path(source))
        except ValueError as error:
            found = [f"not as many verdicts: {error}"]
        unlike += bool(found)
        print(f"{evidence}: {'; '.join(found) or 'the same'}", flush=True)
    return int(unlike > 0)


if __name__ == "__main__":
    sys.exit(main())
