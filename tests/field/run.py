"""The field corpus: programs with real frameworks, run under `raf run`, and what was answered held against the truth.

    PYTHON=/venv/with/frameworks/bin/python python tests/field/run.py [--healthy] [--keep FOLDER] [NAME ...]

A program's `case.toml` says on how many ranks it runs, the line that a person would change (a file and a part of the
line's text), lines that are as good or lie near, the causes that are true, and the change that makes it healthy.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

try:
    import tomllib
except ImportError:  # Python 3.10
    import tomli as tomllib

PROGRAMS = Path(__file__).parent / "programs"
ROOT = Path(__file__).parents[2]
PYTHON = str(Path(os.environ.get("PYTHON", sys.executable)).absolute())


@dataclass(frozen=True)
class Answer:
    name: str
    seconds: float
    said: str
    """What `raf run` printed."""
    verdict: dict[str, object]
    score: str
    """right, near, file, wrong, none; of a healthy twin: quiet or alarm."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--healthy", action="store_true", help="run the healthy twins")
    parser.add_argument("--keep", type=Path, help="leave the cases and the output there")
    parser.add_argument("--stall", default="6")
    options = parser.parse_args()
    keep = options.keep or Path(tempfile.mkdtemp(prefix="field-"))
    names = options.names or sorted(p.name for p in PROGRAMS.iterdir() if (p / "case.toml").is_file())
    answers = [one(name, keep, options.healthy, options.stall) for name in names]
    for answer in answers:
        print(f"{answer.name:24} {answer.score:6} {answer.seconds:5.0f} s")
    bad = ("wrong", "alarm", "none", "differs")
    return int(any(word in answer.score for answer in answers for word in bad))


def one(name: str, keep: Path, healthy: bool, stall: str) -> Answer:
    case = tomllib.loads((PROGRAMS / name / "case.toml").read_text())
    folder = keep / (f"{name}-healthy" if healthy else name)
    shutil.rmtree(folder, ignore_errors=True)
    source = folder / "src"
    shutil.copytree(PROGRAMS / name, source)
    if healthy:
        change(source, case["healthy"])
    launch = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(case["ranks"])]
    raf = [PYTHON, "-m", "rankandfile"]
    begun = time.monotonic()
    run = [*raf, "run", "--stall", stall, "--on-hang", "dump-and-kill", "--out", str(folder / "case"), "--"]
    told = call([*run, PYTHON, *launch, case.get("main", "train.py")], source)
    seconds = time.monotonic() - begun
    (folder / "said.txt").write_text(told)
    verdicts = {}
    for how, more in (("alone", []), ("src", ["--src", str(source)])):
        printed = call(
            [*raf, "diagnose", str(folder / "case" / "evidence"), *more, "--format", "json"], source
        )
        (folder / f"{how}.json").write_text(printed)
        found = parsed(printed)
        verdicts[how] = (found.get("verdicts") or [{}])[0]
    score = healthy_score(verdicts["alone"], told) if healthy else scored(case, source, verdicts)
    if not healthy and gist(verdicts["alone"]) != gist(verdicts["src"]):
        print(f"{name}: alone {gist(verdicts['alone'])}, with the tree {gist(verdicts['src'])}")
        score += " differs"
    print(f"=== {name} {score}", flush=True)
    return Answer(name, seconds, told, verdicts["alone"], score)


def change(source: Path, made: dict[str, str]) -> None:
    path = source / made["file"]
    text = path.read_text()
    if text.count(made["old"]) != 1:
        raise SystemExit(f"{path}: the text to change stands there {text.count(made['old'])} times")
    path.write_text(text.replace(made["old"], made["new"]))


def call(command: list[str], folder: Path) -> str:
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "src"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "OMP_NUM_THREADS": "1",
    }
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=300,
        check=False,
    )
    return done.stdout


def parsed(printed: str) -> dict[str, object]:
    start = printed.find("{")
    try:
        return json.loads(printed[start:]) if start >= 0 else {}
    except ValueError:
        return {}


def healthy_score(verdict: dict, told: str) -> str:
    """A job that ended well leaves no evidence; one that is diagnosed after all may only say that it does not hang."""
    return "alarm" if verdict.get("hang") or "raf: ending the job" in told else "quiet"


def gist(verdict: dict) -> tuple[object, ...]:
    """What a person goes by, which is to be the same with and without the source tree."""
    place = verdict.get("location") or {}
    file = str(place.get("file")).rsplit("/", 1)[-1]
    return verdict.get("cause"), file, place.get("line"), place.get("condition")


def scored(case: dict, source: Path, verdicts: dict) -> str:
    return "/".join(line_score(case, source, verdict) for verdict in verdicts.values())


def line_score(case: dict, source: Path, verdict: dict) -> str:
    place = verdict.get("location") or {}
    if not place.get("file"):
        return "none"
    file, line = place["file"].rsplit("/", 1)[-1], place["line"]
    text = (
        next((p.read_text().splitlines()[line - 1] for p in source.rglob(file)), "")
        if (source / file).is_file()
        else ""
    )
    if file == case["line"][0] and case["line"][1] in text:
        return "right"
    for near in case.get("near", []):
        where, _, part = near.partition(":")
        if file == where and part in text:
            return "near"
    return "wrong"


if __name__ == "__main__":
    sys.exit(main())
