"""Fuzz the readers of stacks: ``python -m support.fuzz.atheris_stacks -max_total_time=600 CORPUS_DIR``.

Needs atheris. The first byte of an input chooses the door, the rest is the file.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["rankandfile"]):
    from rankandfile.evidence.raw import pack
    from rankandfile.evidence.tables.repeated import Repeated
    from rankandfile.evidence.text.reading import read_log, read_stacks
    from rankandfile.evidence.text.stacks.assemble import snapshot_tables
    from rankandfile.evidence.text.stacks.ownership import StackPart, give_ranks

FILE = Path(tempfile.mkdtemp()) / "input"


def one_input(data: bytes) -> None:
    door, content = data[:1], data[1:]
    FILE.write_bytes(content)
    if door < b"\x55":
        raw = read_stacks(FILE, "stacks.txt").stacks
    elif door < b"\xaa":
        raw = read_stacks(FILE, "stacks.json").stacks
    else:
        raw = read_log(FILE).stacks
    if raw is None:
        return
    pack(raw)
    parts = [StackPart(raw, "stacks.txt")]
    give_ranks(parts)
    snapshot_tables(parts, Repeated())


if __name__ == "__main__":
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()
