"""Fuzz the log reader: ``python -m support.fuzz.atheris_logs -max_total_time=600 CORPUS_DIR``.

Needs atheris. The first byte of an input chooses the door, the rest is the file. With an empty corpus folder, start
from the examples: ``python -m support.fuzz.atheris_logs --seed CORPUS_DIR``.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["rankandfile.evidence"]):
    from rankandfile.evidence.exits import table as exits
    from rankandfile.evidence.exits.documents import from_document
    from rankandfile.evidence.text.logs.assemble import LogPart, tables
    from rankandfile.evidence.text.logs.ras import as_json
    from rankandfile.evidence.text.logs.raw import pack, unpack
    from rankandfile.evidence.text.reading import read_log

FILE = Path(tempfile.mkdtemp()) / "input"


def one_input(data: bytes) -> None:
    door, content = data[:1], data[1:]
    if door == b"r":
        as_json.read(content)
    elif door == b"x":
        rows, _ = from_document(content, "attempt_0/1/error.json")
        exits.table(rows)
    else:
        FILE.write_bytes(content)
        log = unpack(pack(read_log(FILE).log))
        if door == b"t":
            found = tables([LogPart(log, "job.log", 1_770_000_000_000_000_000, rank=1)])
            exits.tie(exits.table(exits.from_events(found.events, found.logs)), found.events)


def seed(folder: Path) -> None:
    from support.evidence.log_examples import EXAMPLES, MACHINE

    folder.mkdir(parents=True, exist_ok=True)
    for number, example in enumerate([*EXAMPLES, *MACHINE]):
        door = "t" if number % 4 == 0 else "l"
        (folder / f"{example.kind}_{number}").write_text(
            f"{door}[rank3]:[E207 08:41:09.5 X.cpp:6] {example.text}\n"
        )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--seed"]:
        seed(Path(sys.argv[2]))
    else:
        atheris.Setup(sys.argv, one_input)
        atheris.Fuzz()
