"""What the linter says of real projects, and what a change does to it: every finding is labelled by hand in
`lint_noise.toml`.

    python benchmarks/lint_noise.py FOLDER [PROJECT...]

fetches the pinned releases into the folder (once), reads each, and prints findings that are new (not labelled yet),
those that are gone, time, and the precision by the labels.
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
import time
import zipfile
from collections import Counter
from pathlib import Path

from rankandfile.model.lint import Flagged
from rankandfile.source.lint.run import lint

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

LABELS = Path(__file__).with_name("lint_noise.toml")
Key = tuple[str, str, str]


def main(folder: Path, names: list[str]) -> int:
    known = tomllib.loads(LABELS.read_text(encoding="utf-8"))
    counts: Counter[tuple[str, str]] = Counter()
    lines, changed = 0, False
    for project in known["project"]:
        name = f"{project['name']} {project['version']}"
        if names and project["name"] not in names:
            continue
        package = fetched(folder, project["name"], project["version"]) / project["package"]
        labels: dict[Key, str] = {
            (one["file"], one["rule"], one["code"]): one["label"]
            for one in known["finding"]
            if one["project"] == name
        }
        began = time.monotonic()
        report = lint([package])
        took = time.monotonic() - began
        said: dict[Key, Flagged] = {
            (inside(each.file, package.parent), each.rule, each.code): each for each in report.flagged
        }
        print(f"{name}: {report.files} files, {report.lines:,} lines, {took:.0f} s, {len(said)} found")
        for key in said.keys() - labels.keys():
            print("  new ", *key, said[key].severity)
        for key in labels.keys() - said.keys():
            print("  gone", *key, labels[key])
        changed = changed or said.keys() != labels.keys()
        counts.update((each.severity, labels.get(key, "unlabelled")) for key, each in said.items())
        lines += report.lines
    for severity, label in sorted(counts):
        print(f"{severity} {label}: {counts[severity, label]}")
    false = sum(count for (_severity, label), count in counts.items() if label == "false")
    every = sum(counts.values())
    if every:
        print(
            f"precision {(every - false) / every:.0%}; "
            f"{false / lines * 100_000:.2f} false in 100,000 lines of {lines:,}"
        )
    return 1 if changed else 0


def fetched(folder: Path, name: str, version: str) -> Path:
    """Where the release lies unpacked."""
    place = folder / f"{name}-{version}"
    if place.is_dir():
        return place
    loads = folder / "downloads" / f"{name}-{version}"
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", f"{name}=={version}"]
    subprocess.run([*command, "--no-build-isolation", "--dest", str(loads)], check=True)
    archive = next(loads.iterdir())
    if archive.suffix == ".whl":
        zipfile.ZipFile(archive).extractall(place)
    else:
        with tarfile.open(archive) as packed:
            packed.extractall(loads, filter="data")
        archive.with_name(archive.name.removesuffix(".tar.gz")).rename(place)
    return place


def inside(file: str, top: Path) -> str:
    return Path(file).resolve().as_posix().removeprefix(f"{top.resolve().as_posix()}/")


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
