"""Every reader and every output, fuzzed for a while each with atheris, guided by what of the code an input reaches.

    make fuzz FUZZ_SECONDS=600
    python benchmarks/fuzz.py --seconds 600 --at-once 2 --docs docs/reliability.md

Targets are those of `tests/support/fuzz/guided.py`. Prints the figures of each, and ends with 1 if an input broke one:
the input lies in `--folder` then. An exception, an input that takes a minute, or 3 GB of memory break a target.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from pages import write_block

BEGIN, END = "<!-- fuzz: written by benchmarks/fuzz.py -->", "<!-- fuzz: end -->"
TESTS = Path(__file__).parents[1] / "tests"
TARGETS = {
    "file": "a file of any kind, recognised and decoded",
    "pickle": "dumps as pickles",
    "json": "dumps as JSON",
    "condensed": "condensed dumps",
    "salvage": "the repair of cut pickles",
    "logs": "log shapes, answers of RAS, lists of exits",
    "stacks": "readers of stacks",
    "archives": "opening of archives",
    "outputs": "files of any content to JSON, SARIF, JUnit, Markdown and the page",
    "words": "diagnoses of any words to JSON, SARIF, JUnit, Markdown, the card and the page",
}


class Fuzzed(NamedTuple):
    inputs: int
    seconds: int
    slowest_s: int
    peak_mb: int
    broken: str


def fuzz(target: str, seconds: int, folder: Path) -> None:
    command = [sys.executable, "-m", "support.fuzz.guided", target, str(seconds), str(folder)]
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])}
    with (folder / f"{target}.log").open("wb") as log:
        subprocess.run(command, env=env, stdout=log, stderr=subprocess.STDOUT, check=False)


def told(log: Path) -> Fuzzed:
    """The figures of a target's last run."""
    said = log.read_text(errors="replace")

    def stat(name: str) -> int:
        found = re.search(rf"stat::{name}:\s+(\d+)", said)
        return int(found[1]) if found else 0

    took = re.search(r"Done \d+ runs in (\d+) second", said)
    broken = re.search(r"=== Uncaught.*?\n(.*)|SUMMARY: libFuzzer: (.*)", said)
    ended = "" if took else "it did not come to its end"
    return Fuzzed(
        stat("number_of_executed_units"),
        int(took[1]) if took else 0,
        stat("slowest_unit_time_sec"),
        stat("peak_rss_mb"),
        (broken[1] or broken[2]) if broken else ended,
    )


def page(found: dict[str, Fuzzed]) -> list[str]:
    rows = [
        f"| {TARGETS[name]} | {one.seconds / 60:.0f} | {one.inputs:,} | {one.slowest_s or 'below 1'} "
        f"| {one.peak_mb:,} | {'yes' if one.broken else 'none'} |"
        for name, one in found.items()
    ]
    return [
        "| what is read or written | minutes | inputs | slowest, s | memory, MB | exceptions, hangs |",
        "| --- | --- | --- | --- | --- | --- |",
        *rows,
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--seconds", type=int, default=600, help="of each target; 0: only tell what is in --folder"
    )
    parser.add_argument("--at-once", type=int, default=1)
    parser.add_argument("--only", nargs="*", choices=list(TARGETS), default=list(TARGETS))
    parser.add_argument("--folder", type=Path, help="where inputs are kept from one call to the next")
    parser.add_argument("--docs", type=Path, help="the page to write the figures into")
    arguments = parser.parse_args()
    folder = arguments.folder or Path(tempfile.mkdtemp(prefix="raf-fuzz-"))
    folder.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(arguments.at_once) as pool:
        if arguments.seconds:
            list(pool.map(lambda name: fuzz(name, arguments.seconds, folder), arguments.only))
    logs = {name: folder / f"{name}.log" for name in TARGETS}
    found = {name: told(log) for name, log in logs.items() if log.exists()}
    for name, one in found.items():
        print(name, *one, flush=True)
    if arguments.docs:
        write_block(arguments.docs, BEGIN, END, page(found), "Fuzzing")
    if any(one.broken for one in found.values()):
        print(f"the inputs: {folder}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
