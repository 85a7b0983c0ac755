#!/usr/bin/env python3
"""Score an analyser of hung distributed jobs on this benchmark. Needs Python 3.10 or later, and nothing else.

  python score.py run 'mytool --json {evidence} --source {src}' --answers answers/
  python score.py marks answers/

`run` gives each task to the command, in a temporary folder with its evidence and no truth, keeps what it prints in
answers/FORM/CASE.json, and scores it. `{src}` is filled in for tasks with sources; else its word is left out, and an
option right before it; a word like `{hung:--it-hangs}` is given as `--it-hangs` where the job's owner says that it
hangs, and else left out. `marks` scores answers that were made elsewhere.

An answer is one JSON object. Every key may be left out:

  hang        true, false, or null where it cannot say
  culprits    ranks that are named, e.g. [2]
  confidence  of the culprits: "certain", "likely", or "possible": then an innocent is not blamed, but suspected
  suspects    further ranks that may be it
  cause       one of the causes in README.md
  file, line  the line of the program that decides; condition_line, if the condition stands on another one
  calls       where the ranks parted: the call sites, [{"file": "train.py", "line": 40}, ...]
  group, seq  the same call by its group and its number there, from 1

A document of the schema rankandfile.diagnosis/1 is understood as well.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
TASKS = "benchmark.json"
#: Whenever it was that somebody copied the files: all of them at once.
COPIED_NS = 1_700_000_000 * 10**9
QUESTIONS = {
    "hang": "hang or not",
    "culprits": "culprits exact",
    "nobody": "healthy, nobody named",
    "innocent": "innocent blamed",
    "suspects": "suspects right",
    "cause": "cause",
    "file": "file",
    "line": "line",
    "condition": "condition",
    "call": "earliest call",
    "abstained": "abstained",
    "failed": "no answer",
}

Json = dict[str, Any]
Mark = dict[str, "bool | None"]


class Task(NamedTuple):
    case: Json
    form: str

    @property
    def name(self) -> str:
        return str(self.case["name"])

    @property
    def given(self) -> Json:
        return dict(self.case["forms"][self.form])

    def answer_in(self, answers: Path) -> Path:
        return answers / self.form.replace("'", "").replace(" ", "-") / f"{self.name}.json"


def tasks(benchmark: Path, forms: Iterable[str] = (), only: str = "") -> list[Task]:
    document = json.loads((benchmark / TASKS).read_text(encoding="utf-8"))
    cases = [case for case in document["cases"] if case["name"].startswith(only)]
    return [Task(case, form) for form in document["forms"] if not forms or form in forms for case in cases]


def lay_out(benchmark: Path, task: Task, into: Path) -> tuple[Path, Path | None]:
    """The task's evidence, and its sources if it has any, copied without the truth; times as they were, or lost."""
    evidence = into / "evidence"
    for name in task.given["files"]:
        target = evidence / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(benchmark / "cases" / task.name / "evidence" / name, target)
        at = task.case["times"][name] if task.given["times"] else COPIED_NS
        os.utime(target, ns=(at, at))
    evidence.mkdir(exist_ok=True)
    if not task.given["source"]:
        return evidence, None
    shutil.copytree(benchmark / "cases" / task.name / "src", into / "src")
    return evidence, into / "src"


def words_of(template: str, evidence: Path, src: Path | None, hung: bool = False) -> list[str]:
    """`hung`: the job is said to hang."""
    words: list[str] = []
    for word in shlex.split(template):
        if word.startswith("{hung:"):
            words += [word[len("{hung:") : -1]] if hung else []
        elif "{src}" in word and src is None:
            if words and words[-1].startswith("-"):
                words.pop()
        else:
            words.append(word.replace("{evidence}", str(evidence)).replace("{src}", str(src)))
    return words


def run(benchmark: Path, task: Task, template: str, limit_s: float, answers: Path) -> None:
    """Ask the command once, and keep its answer."""
    with tempfile.TemporaryDirectory(prefix="hang-task-") as scratch:
        words = words_of(template, *lay_out(benchmark, task, Path(scratch)), task.given["said_to_hang"])
        began = time.perf_counter()
        try:
            done = subprocess.run(words, capture_output=True, timeout=limit_s, check=False, cwd=scratch)
            answer = answer_printed(done.stdout, done.stderr)
        except (OSError, subprocess.TimeoutExpired) as error:
            answer = {"failed": f"{type(error).__name__}: {error}"[:200]}
        answer["seconds"] = round(time.perf_counter() - began, 3)
    file = task.answer_in(answers)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(answer), encoding="utf-8")


def answer_printed(out: bytes, err: bytes) -> Json:
    try:
        answer = json.loads(out)
    except ValueError:
        lines = err.decode("utf-8", "replace").strip().splitlines() or ["it printed no JSON"]
        return {"failed": lines[-1][:200]}
    return answer if isinstance(answer, dict) else {"failed": "what it printed is no JSON object"}


def plain(answer: Json) -> Json:
    """A diagnosis document in the plain form; a plain answer stays as it is."""
    if "verdicts" not in answer:
        return answer
    verdicts = answer["verdicts"]
    if not verdicts:
        return {"failed": "no verdict"}
    best, named = verdicts[0], [verdict for verdict in verdicts if verdict.get("culprits")]
    sure = [one for one in named if one.get("confidence") in ("established", "supported")]
    alternatives = [other["culprits"] for verdict in verdicts for other in verdict.get("alternatives", [])]
    others = [rank for words in alternatives for rank in ranks(words)]
    others += [rank["rank"] for verdict in verdicts for rank in verdict.get("suspects") or []]
    decided = best["cause"] != "undetermined" or best.get("hang")
    point = best.get("divergence") or {}
    waits = best.get("waits") or [{}]
    place: Json = next((v["location"] for v in verdicts if (v.get("location") or {}).get("line")), {})
    return {
        "hang": any(verdict.get("hang") for verdict in verdicts) if decided else None,
        "culprits": [one["rank"] for verdict in named for one in verdict["culprits"]],
        "sure": [one["rank"] for verdict in sure for one in verdict["culprits"]],
        "suspects": others,
        "cause": None if best["cause"] == "undetermined" else best["cause"],
        "file": place.get("file"),
        "line": place.get("line"),
        "condition_line": place.get("condition_line"),
        "calls": [call for one in point.get("cohorts", []) if (call := one.get("call") or {}).get("line")],
        "group": point.get("group") or waits[0].get("group"),
        "seq": point.get("seq"),
        "seconds": answer.get("seconds"),
    }


def ranks(text: str) -> list[int]:
    """ "0-2,5" as 0, 1, 2, 5."""
    pairs = [part.partition("-") for part in text.split(",") if part]
    return [rank for first, _, last in pairs for rank in range(int(first), int(last or first) + 1)]


def mark(task: Task, truth: Json, answer: Json) -> Mark:
    """What is right; None where a question does not arise."""
    said, failed = plain(answer), "failed" in plain(answer)
    culprits, guilty, hang = set(said.get("culprits") or []), set(truth["culprits"]), said.get("hang")
    sure = set(said.get("sure", culprits if said.get("confidence") != "possible" else ()))
    guessed = (culprits | set(said.get("suspects") or [])) - sure
    silent = False if failed and not truth["hang"] else None
    exact = not failed and any(culprits == set(one) for one in truth["accepted_culprits"][task.form])
    causes, places = truth["causes"][task.form], truth["places"][task.form]
    own = {said.get("line"), said.get("condition_line")}
    condition = said.get("condition_line") or said.get("line")
    there = [place for place in places or [] if ends_with(said.get("file"), place["file"])]
    return {
        "hang": silent if hang is None else hang == truth["hang"],
        "culprits": exact if truth["hang"] else None,
        "nobody": None if truth["hang"] else not failed and not culprits,
        "innocent": bool(sure - guilty),
        "suspects": guilty <= guessed and len(guessed) < truth["ranks"]
        if truth["hang"] and not sure and guessed
        else None,
        "cause": None if causes is None else said.get("cause") in causes,
        "file": None if places is None else bool(there),
        "line": None if places is None else any(place["line"] in own for place in there),
        "condition": None if places is None else any(place["line"] == condition for place in there),
        "call": None if truth["call"] is None else same_call(truth["call"], said),
        "abstained": not failed and not culprits and hang is not False,
        "failed": failed,
    }


def same_call(wanted: Json, said: Json) -> bool:
    group = said.get("group") or ""
    known = {group, group.split(" ")[0], group.split(":")[0]} & set(wanted["groups"])
    if wanted["seq"] and said.get("seq") == wanted["seq"] and known:
        return True
    sites = [(site["file"], site["line"]) for site in wanted["sites"]]
    found = [(site.get("file"), site.get("line")) for site in said.get("calls") or []]
    return bool(sites) and all(
        any(line == at and ends_with(path, file) for path, at in found) for file, line in sites
    )


def ends_with(path: str | None, file: str) -> bool:
    return bool(path) and f"/{path}".replace("\\", "/").endswith(f"/{file}")


def share(values: Iterable[bool | None]) -> str:
    """Right/asked, with Wilson's 95 % interval."""
    asked = [value for value in values if value is not None]
    n, right, z = len(asked), sum(asked), 1.96
    if not n:
        return "-"
    p = right / n
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    spread = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    low, high = max(0.0, min(p, middle - spread)), min(1.0, max(p, middle + spread))
    return f"{right}/{n} ({p:.0%}, {low:.0%}-{high:.0%})"


def marks_of(benchmark: Path, wanted: Iterable[Task], answers: Path) -> Iterator[tuple[Task, Json, Mark]]:
    for task in wanted:
        truth = json.loads((benchmark / "cases" / task.name / "truth.json").read_text(encoding="utf-8"))
        file = task.answer_in(answers)
        answer = (
            json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {"failed": "not answered"}
        )
        yield task, answer, mark(task, truth, answer)


def table(done: list[tuple[Task, Json, Mark]]) -> Iterator[str]:
    yield f"| evidence | cases | {' | '.join(QUESTIONS.values())} | s |"
    yield f"|{' --- |' * (len(QUESTIONS) + 3)}"
    for form in dict.fromkeys(task.form for task, _, _ in done):
        mine = [(answer, marks) for task, answer, marks in done if task.form == form]
        values = [share(marks[question] for _, marks in mine) for question in QUESTIONS]
        seconds = sum(answer.get("seconds") or 0.0 for answer, _ in mine) / len(mine)
        yield f"| {form} | {len(mine)} | {' | '.join(values)} | {seconds:.1f} |"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    modes = parser.add_subparsers(dest="mode", required=True)
    running = modes.add_parser("run", help="ask a command, and score what it prints")
    running.add_argument("command", help="with {evidence} and {src} in it")
    running.add_argument("--answers", type=Path, required=True, help="folder to keep the answers in")
    running.add_argument("--limit-s", type=float, default=300.0, help="seconds for one answer (default: 300)")
    running.add_argument("--jobs", type=int, default=1, help="tasks at a time (default: 1)")
    marking = modes.add_parser("marks", help="score answers that were made elsewhere")
    marking.add_argument("answers", type=Path)
    for mode in (running, marking):
        mode.add_argument("--form", action="append", default=[], help="only this form; may be repeated")
        mode.add_argument("--only", default="", help="only cases whose name begins like this")
        mode.add_argument("--benchmark", type=Path, default=HERE, help="its folder (default: this file's)")
        mode.add_argument("-o", "--output", type=Path, help="write each task's marks as JSON")
    given = parser.parse_args()
    wanted = tasks(given.benchmark, given.form, given.only)
    if not wanted:
        parser.error("no task of this form and name")
    if given.mode == "run":
        with ThreadPoolExecutor(given.jobs) as pool:
            asked = [
                pool.submit(run, given.benchmark, task, given.command, given.limit_s, given.answers)
                for task in wanted
            ]
            for number, one in enumerate(asked, 1):
                one.result()
                sys.stderr.write(f"\r{number}/{len(asked)}")
        sys.stderr.write("\n")
    done = list(marks_of(given.benchmark, wanted, given.answers))
    sys.stdout.write("".join(f"{line}\n" for line in table(done)))
    if given.output:
        rows = [{"case": task.name, "form": task.form, **marks} for task, _, marks in done]
        given.output.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
