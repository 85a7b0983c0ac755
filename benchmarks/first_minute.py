"""What a newcomer waits for: how large the core install is, and how long the README's first command takes.

    python benchmarks/first_minute.py            writes docs/performance.md

The install goes into an environment of its own (it asks the package index); the command runs from there, as a user's
does, and the quickest of some runs counts: whatever else the machine does makes it slower, never quicker.
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from pages import write_block

ROOT = Path(__file__).parents[1]
BEGIN, END = "<!-- first minute: written by benchmarks/first_minute.py -->", "<!-- first minute: end -->"
EXAMPLE = ROOT / "examples" / "early-stop"
COMMANDS = {
    "`raf --version`": ["--version"],
    "`raf diagnose examples/early-stop/evidence`": ["diagnose", str(EXAMPLE / "evidence")],
    "the same with `--src examples/early-stop/src`": [
        "diagnose", str(EXAMPLE / "evidence"), "--src", str(EXAMPLE / "src"),
    ],
}  # fmt: skip
#: Of the installed packages, those that are named; the others are one line.
NAMED = 4


class Took(NamedTuple):
    wall: float
    processor: float
    """Of all its processes."""


def took(command: Sequence[str]) -> Took:
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(command)}: exit status {done.returncode}")
    return Took(wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def installed(folder: Path) -> Path:
    """The core install, without pip itself; its `bin`."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    pip = [folder / "bin" / "python", "-m", "pip"]
    subprocess.run([*pip, "install", "--quiet", ROOT], check=True)
    subprocess.run(
        [*pip, "uninstall", "--quiet", "--yes", "pip", "setuptools"], check=True, capture_output=True
    )
    return folder / "bin"


def sizes(packages: Path) -> dict[str, int]:
    """Name -> bytes on the disk, the largest first. What belongs to a package by name counts with it."""
    found: dict[str, int] = {}
    for path in packages.iterdir():
        name = path.name.split("-")[0].split(".")[0].strip("_").lower()
        name = "polars" if name.startswith("polars") else name
        files = path.rglob("*") if path.is_dir() else [path]
        found[name] = found.get(name, 0) + sum(one.stat().st_size for one in files if one.is_file())
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--repeat", type=int, default=9)
    repeat = parser.parse_args().repeat
    # Compiled once at the installation, as pip does it.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryDirectory() as folder:
        bin_ = installed(Path(folder))
        packages = next(Path(folder).glob("lib/python*/site-packages"))
        large = sizes(packages)
        runs = {
            name: min(took([str(bin_ / "raf"), *command]) for _ in range(repeat))
            for name, command in COMMANDS.items()
        }
    named = [f"{name} {size / 1e6:.0f}" for name, size in list(large.items())[:NAMED]]
    load, processors = os.getloadavg()[0], os.cpu_count() or 1
    alone = load <= processors
    lines = [
        f"The core install takes {sum(large.values()) / 1e6:.0f} MB on the disk ({', '.join(named)}, "
        f"{len(large) - NAMED} others {sum(list(large.values())[NAMED:]) / 1e6:.0f}).",
        "",
        f"{processors} processors, load {load:.1f}, Python {platform.python_version()}; the quickest of {repeat}"
        f"{'.' if alone else ': with so much other work, its wall time says nothing.'}",
        "",
        "| | wall time | processor time |",
        "| --- | ---: | ---: |",
        *(
            f"| {name} | {f'{one.wall:.2f} s' if alone else '-'} | {one.processor:.2f} s |"
            for name, one in runs.items()
        ),
    ]
    print("\n".join(lines))
    write_block(ROOT / "docs" / "performance.md", BEGIN, END, lines, "The first minute")


if __name__ == "__main__":
    main()
