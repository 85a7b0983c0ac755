"""What a program printed before it hung, held against what it prints with the patch in it.

A set's program has no healthy twin: it is one program, and its data hold the fault. But its rounds before the fault are
healthy, and the patch is in them too: the numbers that were printed then must come out again. What a rank printed after
it went its own way need not.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

#: What is another thing in each run: times, addresses, temporary files, process ids.
_OF_ITS_RUN = re.compile(
    r"\d\d:\d\d:\d\d([.,]\d+)?|\d{4}-\d\d-\d\d|\b1[67]\d{8}(\.\d+)?\b|0x[0-9a-f]+|/tmp/\S+|\bpid \d+"
    r"|\b\d+(\.\d+)?\s*(ms|s|sec|seconds|it/s|tok/s|MB/s|/s)\b"
)
_PREFIX = re.compile(r"^\s*\[(default|rank)?\d+\][:|]?\s*")
#: Of torch and of the interpreter, not of the program.
_NOT_ITS_OWN = re.compile(
    r"Warning|torch/|c10d|ProcessGroup|\[rank\d|[Ww]atchdog|[Hh]eartbeat|gloo|enforce fail|what\(\):|terminate called"
    r"|File \"|^#\d+ .* from "
)


class Again(NamedTuple):
    again: int
    before: int

    def __str__(self) -> str:
        return f"{self.again} of {self.before} lines as before"


def said_again(evidence: Path, control: Path) -> Again:
    """Of the lines with numbers in the logs of the hanging run, how many are in those of the patched one."""
    before = Counter(_lines(path for path in (evidence / "logs").rglob("*") if path.is_file()))
    now = Counter(_lines(control.glob("rank_*.log")))
    return Again((before & now).total(), before.total())


def _lines(paths: Iterable[Path]) -> Iterator[str]:
    for path in paths:
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            said = _OF_ITS_RUN.sub("#", _PREFIX.sub("", line)).strip()
            if re.search(r"\d", said) and not _NOT_ITS_OWN.search(said):
                yield said
