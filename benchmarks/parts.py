"""Where the time of ``raf diagnose`` goes: processor seconds of each part, with Python's reader and the native one.

In a real run decoding goes on beside the imports, and on all processors. Here the parts come one after the other, so
that what one takes does not hide in another, and those of a process that decodes count as well.

    python benchmarks/parts.py --ranks 256 --calls 2000 --docs docs/performance.md
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from diagnose import generate
from pages import write_block

from rankandfile.evidence.flight.native import SWITCH, native

BEGIN, END = "<!-- parts: written by benchmarks/parts.py -->", "<!-- parts: end -->"

#: What a part is -> what it does.
PARTS = {
    "start": "Python, and what is imported for any case",
    "read": "the files found, and their bytes",
    "decode": "from bytes to columns, dump by dump",
    "assemble": "whose each dump is; one table of all",
    "reason": "from the table to a diagnosis",
    "render": "the card",
}

#: The stages of `evidence.load`, `pipeline` and `cli.commands.diagnose`, each by itself.
PROGRAM = """
import json, os, sys, tempfile
from pathlib import Path

spent = []

def over():
    spent.append(sum(os.times()[:4]))

import rankandfile.cli.program, rankandfile.cli.commands.diagnose, rankandfile.evidence.load
import rankandfile.evidence.sorting, rankandfile.reason.conclusion, numpy.ma
from rankandfile.evidence.files.engine import Here
from rankandfile.evidence.files.patience import Patience
from rankandfile.evidence.files.pool import Task
from rankandfile.evidence.files.walk import walk
from rankandfile.evidence.reading import Reading
from rankandfile.evidence.tables.room import Room
over()
room = Room()
with tempfile.TemporaryDirectory() as spool:
    blobs, notes = walk([Path(sys.argv[1])], Path(spool))
    for blob in blobs:
        blob.path.read_bytes()
    over()
    tasks = [Task(blob.path, blob.source, blob.size) for blob in blobs]
    files = list(zip(blobs, rankandfile.evidence.load.decode(tasks, room, Here(1), None, Patience(3600))))
    over()
    case = rankandfile.evidence.sorting.case_of(files, notes, Reading(), room)
    over()
diagnosis = rankandfile.reason.conclusion.diagnose(case)
over()
from rankandfile.cli.output import printed
from rankandfile.render.card import WIDTH, card
printed(card(diagnosis, width=WIDTH), width=WIDTH)
over()
print(json.dumps([now - then for now, then in zip(spent, [0.0, *spent])]))
"""


def measure(folder: Path, repeat: int, switch: str) -> list[float]:
    """Seconds of each part: the least of several runs."""
    runs = []
    for _ in range(repeat):
        command = [sys.executable, "-c", PROGRAM, str(folder)]
        done = subprocess.run(command, env=os.environ | {SWITCH: switch}, stdout=subprocess.PIPE, check=True)
        runs.append(json.loads(done.stdout))
    return [min(part) for part in zip(*runs, strict=True)]


def table(columns: dict[str, list[float]]) -> list[str]:
    lines = [f"| part | {' | '.join(columns)} | |", "| --- " + "| ---: " * len(columns) + "| --- |"]
    for number, (part, what) in enumerate(PARTS.items()):
        figures = " | ".join(f"{column[number]:.2f} s" for column in columns.values())
        lines.append(f"| {part} | {figures} | {what} |")
    return [*lines, f"| all | {' | '.join(f'{sum(column):.2f} s' for column in columns.values())} | |"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--ranks", type=int, default=256)
    parser.add_argument("--calls", type=int, default=2000, help="per rank")
    parser.add_argument("--repeat", type=int, default=3, help="the best counts")
    parser.add_argument("--docs", type=Path, help="rewrite the block of this page")
    arguments = parser.parse_args()
    readers = {"Python's reader": "0"}
    if native().read is not None:
        readers["`rankandfile-native`"] = "1"
    with tempfile.TemporaryDirectory() as temporary:
        files = generate(Path(temporary), arguments.ranks, arguments.calls)
        columns = {name: measure(files, arguments.repeat, switch) for name, switch in readers.items()}
    command = f"python benchmarks/parts.py --ranks {arguments.ranks} --calls {arguments.calls}"
    lines = [f"`{command}`: processor seconds; best of {arguments.repeat}.", "", *table(columns)]
    print("\n".join(lines))
    if arguments.docs:
        write_block(arguments.docs, BEGIN, END, lines, "Where the time goes")


if __name__ == "__main__":
    main()
