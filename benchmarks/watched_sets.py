"""How soon the sentinel of `raf run` tells that ranks have parted, on programs that were not written for it: those of
opened blind sets in which ranks took different paths, each run once under `raf run` with timeouts of ten minutes.

    tar xf first-contact/round-10a.tar.xz && python benchmarks/watched_sets.py round-10a

Prints a line for each program: how long after the first call that the finding counts to it was told (the truth of a set
has no times: where the finding takes a later call for the first wrong one, this is too short), whether it accuses none
but ranks that are at fault by the truth, and whether both call paths are told. A program whose ranks part where no
collective is compared (sends and receives, a rank that stands still) has no such line; the verdict of the case tells
it, later.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from pathlib import Path
from typing import NamedTuple

import msgspec

from rankandfile.lab import truth
from rankandfile.lab.run import ScenarioError
from rankandfile.lab.run_under_raf import run_watched
from rankandfile.model.digest import Finding
from rankandfile.model.ranks import parse_ranks

FAMILY = "ranks took different paths"
#: Kinds of findings that say so.
PARTED = ("desync", "order", "missing")


class Told(NamedTuple):
    name: str
    after_s: float | None
    """None: nothing was told of it while it ran."""
    right: bool
    paths: bool


def told(incident: Path, found: Path) -> Told:
    known = truth.read(incident)
    name = f"{incident.parent.name}/{incident.name}"
    file = found / "watch.json"
    findings = msgspec.json.decode(file.read_bytes())["findings"] if file.is_file() else []
    of_paths = [one for each in findings if (one := msgspec.convert(each, Finding)).kind in PARTED]
    if not of_paths:
        return Told(name, None, False, False)
    first = min(of_paths, key=lambda one: one.time)
    named = {rank for one in of_paths if one.ranks for rank in parse_ranks(one.ranks)}
    paths = sum(bool(side.path) for side in first.sides) > 1
    return Told(name, first.time - first.since, bool(named) and named <= {*known.culprits}, paths)


def incidents(sets: list[Path]) -> list[Path]:
    every = [file.parent for each in sets for file in sorted(each.glob(f"*/{truth.FILE}"))]
    return [one for one in every if (known := truth.read(one)).hang and known.family == FAMILY]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sets", nargs="+", type=Path, metavar="SET")
    asked = parser.parse_args()
    done: list[Told] = []
    for incident in incidents(asked.sets):
        with tempfile.TemporaryDirectory() as folder:
            try:
                found = run_watched(incident, Path(folder) / incident.name)
            except ScenarioError as error:
                print(
                    f"{incident.parent.name}/{incident.name}: left out: {str(error).splitlines()[0][:90]}",
                    flush=True,
                )
                continue
            done.append(told(incident, found))
        one = done[-1]
        after = f"{one.after_s:.2f} s" if one.after_s is not None else "not told"
        print(f"{one.name}: {after}{', right ranks' * one.right}{', both paths' * one.paths}", flush=True)
    times = sorted(one.after_s for one in done if one.after_s is not None)
    if times:
        within = times[min(int(0.95 * len(times)), len(times) - 1)]
        print(
            f"{len(done)} programs: {len(times)} told while they ran, median {statistics.median(times):.2f} s, 95 % "
            f"within {within:.2f} s after the first call that they count to it; {sum(one.right for one in done)} "
            f"accuse somebody, and none but who is at fault, {sum(one.paths for one in done)} both paths"
        )


if __name__ == "__main__":
    main()
