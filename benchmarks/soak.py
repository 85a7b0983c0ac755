"""A job under `raf run` for an hour, and random faults all the time: what it does must be what it does without.

    python benchmarks/soak.py --faults 300 --minutes 60 --results soak.jsonl --docs docs/reliability.md

Each round draws a plan (`soaking/plans.py`): something that happens around a job of two or three ranks of gloo, faults
of its ranks, and a launcher that starts them again. The job runs once without `raf`, and once with `raf run` in front
of it; where they differ, up to three times more without, for some jobs do not come out the same each time. Compared
are the exit code, every line of output, the files that it made, what is left of files and processes, and the records
that the rings of the case have (`soaking/checks.py`). As root on Linux, each has a /dev/shm and a disk
for temporary files of its own, which can be filled; else those faults are left out, and the page says so.

Ends after so many faults or minutes, whatever comes first. What was done until then is in the results, one line for a
round, and a later call with the same file goes on there. `--again` runs those rounds anew in which something did not
hold, once it is mended: the page counts how often. `--minutes 0` writes the page only.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import tempfile
import time
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pages import write_block
from soaking.checks import wrong
from soaking.place import Outcome, Place, private_mounts
from soaking.plans import MOUNTED, Plan, plan_of, plans

BEGIN, END = "<!-- soak: written by benchmarks/soak.py -->", "<!-- soak: end -->"
HERE = Path(__file__).parent
#: How often a job is run without raf before its outcome with it counts as another.
MORE_ALONE = 3


class Soak:
    def __init__(self, folder: Path, mounted: bool, keep: Path | None) -> None:
        self._folder, self._mounted, self._keep = folder, mounted, keep
        self._clock = folder / "clock_step.so"
        source = HERE / "soaking" / "clock_step.c"
        subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-o", str(self._clock), str(source)], check=True)
        self._without: dict[str, Outcome] = {}

    def round(self, plan: Plan, number: int) -> dict[str, Any]:
        """One line of the results."""
        without = self._alone(plan)
        place = Place(self._folder / "watched", plan, self._clock, self._mounted)
        try:
            watched = place.run(watched=True)
            found = wrong(plan, without, watched, place.case)
            # A launcher that ends a rank may or may not cut off its last words: the job alone has several outcomes.
            for _ in range(MORE_ALONE):
                if not any(one.startswith("outcome") for one in found):
                    break
                found = wrong(plan, self._alone(plan, anew=True), watched, place.case)
            if found and self._keep is not None:
                shutil.copytree(
                    place.folder, self._keep / f"round_{number}", ignore=shutil.ignore_patterns("filler")
                )
        finally:
            place.close()
        return {
            "plan": asdict(plan),
            "kinds": plan.kinds,
            "wrong": found,
            "seconds": round(watched.seconds, 1),
            "said": watched.said[-3000:] if found else "",
        }

    def _alone(self, plan: Plan, anew: bool = False) -> Outcome:
        """The same plan without raf: of equal plans once."""
        key = repr(plan)
        if anew or key not in self._without:
            place = Place(self._folder / "alone", plan, self._clock, self._mounted)
            try:
                self._without[key] = place.run(watched=False)
            finally:
                place.close()
        return self._without[key]


def soak(arguments: argparse.Namespace) -> None:
    mounted = private_mounts()
    done = _read(arguments.results)
    end = time.monotonic() + 60 * arguments.minutes
    faults = sum(len(line["kinds"]) for line in done)
    drawn = plans(arguments.seed, mounted)
    for _ in done:
        next(drawn)
    with tempfile.TemporaryDirectory(prefix="soak-", dir=arguments.work) as folder:
        under = Soak(Path(folder), mounted, arguments.keep)
        for number, line in enumerate(done) if arguments.again else ():
            if line["wrong"]:
                done[number] = _timed(under, plan_of(line["plan"]), number, mounted)
                done[number]["mended"] = [*line.get("mended", []), *line["wrong"]]
                arguments.results.write_text("".join(json.dumps(one) + "\n" for one in done))
        while faults < arguments.faults and time.monotonic() < end:
            plan = next(drawn)
            line = _timed(under, plan, len(done), mounted)
            done.append(line)
            faults += plan.count
            with arguments.results.open("a") as file:
                file.write(json.dumps(line) + "\n")


def _timed(under: Soak, plan: Plan, number: int, mounted: bool) -> dict[str, Any]:
    began = time.monotonic()
    line = under.round(plan, number) | {"mounted": mounted}
    line["all_seconds"] = round(time.monotonic() - began, 1)
    print(number + 1, plan.around, line["kinds"], line["seconds"], *line["wrong"], flush=True)
    return line


def _read(results: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in results.read_text().splitlines()] if results.exists() else []


def page(done: list[dict[str, Any]]) -> list[str]:
    """The marked block: what was tried, how often, and what did not hold."""
    kinds = Counter(kind for line in done for kind in line["kinds"])
    bad = Counter(name for line in done for name in {one.partition(":")[0] for one in line["wrong"]})
    mended = sum(bool(line.get("mended")) for line in done)
    minutes = sum(line["all_seconds"] for line in done) / 60
    rows = [f"| {kind} | {count} |" for kind, count in sorted(kinds.items(), key=lambda one: -one[1])]
    left_out = sorted(set(MOUNTED) - kinds.keys()) if not all(line["mounted"] for line in done) else []
    names = {
        "outcome": "the job's exit code, output or files were other than without `raf`",
        "left": "a file or a process was left",
        "lost": "a record from before a fault was missing",
        "unsaid": "nothing was recorded, and it was not said; or a traceback",
        "blamed": "somebody innocent was named",
    }
    return [
        f"{len(done)} jobs under `raf run`, and the same without, with {sum(kinds.values())} faults, in {minutes:.0f} "
        "minutes on two processors that had other work."
        + (
            f" {mended} of them were run again, after what did not hold in them had been repaired."
            if mended
            else ""
        ),
        *([f"Not tried for want of root: {', '.join(left_out)}."] if left_out else []),
        "",
        "| what did not hold | jobs |",
        "| --- | --- |",
        *(f"| {what} | {bad[name]} |" for name, what in names.items()),
        "",
        "| fault | times |",
        "| --- | --- |",
        *rows,
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--faults", type=int, default=300)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--results", type=Path, default=Path("soak.jsonl"))
    parser.add_argument(
        "--again", action="store_true", help="run again the rounds in which something did not hold"
    )
    parser.add_argument(
        "--keep", type=Path, help="keep here what rounds have left in which something did not hold"
    )
    parser.add_argument("--work", type=Path, help="where jobs run")
    parser.add_argument("--docs", type=Path, help="the page to write the figures into")
    arguments = parser.parse_args()
    arguments.results = arguments.results.absolute()
    arguments.work = arguments.work and arguments.work.absolute()
    soak(arguments)
    if arguments.docs:
        write_block(arguments.docs, BEGIN, END, page(_read(arguments.results)), "The soak")


if __name__ == "__main__":
    main()
