"""The analysers that can be scored: this one, torch's own, and any command that prints a diagnosis."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import msgspec

from rankandfile.lab.diagnosed import diagnosed
from rankandfile.model.diagnosis import from_json
from rankandfile.own_python import own_python

from .answer import Answer, from_diagnosis
from .repair import repaired_copy

Analyser = Callable[[Path], Answer]

TIMEOUT = 120.0


class Run(NamedTuple):
    status: int | None
    """None: it took too long and was ended."""
    stdout: str
    stderr: str
    seconds: float
    peak_mib: float
    """Of the largest process of the run."""


def run(command: list[str], timeout: float = TIMEOUT) -> Run:
    began = time.perf_counter()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(command, stdout=out, stderr=err, stdin=subprocess.DEVNULL)
        late = threading.Event()

        def end() -> None:
            late.set()
            process.kill()

        timer = threading.Timer(timeout, end)
        timer.start()
        # wait4 and not wait: the usage of exactly this process and the children that it waited for.
        _, code, usage = os.wait4(process.pid, 0)
        timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(code)
        seconds = time.perf_counter() - began
        out.seek(0)
        err.seek(0)
        return Run(
            None if late.is_set() else process.returncode,
            out.read().decode("utf-8", "replace"),
            err.read().decode("utf-8", "replace"),
            seconds,
            usage.ru_maxrss / 1024,
        )


class Given(NamedTuple):
    """What of an incident one of Rank & File's own analysers is given."""

    folders: tuple[str, ...] = ()
    """Below `evidence/`; empty: all of it."""
    source: bool = False

    def paths(self, incident: Path) -> list[Path]:
        """What of it the incident left; nobody takes stacks of a job that ends."""
        evidence = incident / "evidence"
        found = [evidence / folder for folder in self.folders or ("",)]
        return [folder for folder in found if folder.is_dir() and any(folder.iterdir())]

    def src(self, incident: Path) -> list[Path]:
        return [incident / "src"] if self.source else []


OURS = {
    "raf": Given(),
    "raf-dumps": Given(("dumps",)),
    "raf-logs": Given(("logs",)),
    "raf-stacks": Given(("stacks", "logs")),
    "raf-src": Given(source=True),
    "raf-stacks-src": Given(("stacks", "logs"), source=True),
}


SEES_SOURCE = frozenset(name for name, given in OURS.items() if given.source)


def our_command(given: Given) -> Analyser:
    """Rank & File as a person starts it."""

    def analyse(incident: Path) -> Answer:
        words = [
            *own_python("from rankandfile.cli.main import main; main()"),
            "diagnose",
            *map(str, given.paths(incident)),
        ]
        words += [word for folder in given.src(incident) for word in ("--src", str(folder))]
        return _diagnosing([*words, "--format", "json"])

    return analyse


def in_this_process(given: Given) -> Analyser:
    """The same without a process for each incident: faster, and no memory is measured."""

    def analyse(incident: Path) -> Answer:
        began = time.perf_counter()
        answer = from_diagnosis(diagnosed(given.paths(incident), given.src(incident)))
        answer.seconds = time.perf_counter() - began
        return answer

    return analyse


def command(template: str) -> Analyser:
    """Any command that prints a ``rankandfile.diagnosis/1`` document; {evidence} and {src} are filled in."""

    def analyse(incident: Path) -> Answer:
        words = [
            word.replace("{evidence}", str(incident / "evidence")).replace("{src}", str(incident / "src"))
            for word in shlex.split(template)
        ]
        return _diagnosing(words)

    return analyse


def _diagnosing(words: list[str]) -> Answer:
    done = run(words)
    try:
        answer = from_diagnosis(from_json(done.stdout.encode()))
    except (msgspec.DecodeError, msgspec.ValidationError):
        lines = done.stderr.strip().splitlines() or ["printed no diagnosis"]
        answer = Answer(failed="took too long" if done.status is None else lines[-1][:200])
    answer.seconds, answer.peak_mib = done.seconds, done.peak_mib
    return answer


def fr_trace(incident: Path) -> Answer:
    """torch's own analyser, as it is, on the dumps as they are."""
    return _fr_trace(incident / "evidence" / "dumps")


def fr_trace_repaired(incident: Path) -> Answer:
    """torch's own analyser, given every help: gloo dumps completed as it needs them, missing ranks allowed."""
    with tempfile.TemporaryDirectory(prefix="raf-score-") as folder:
        copy = repaired_copy(incident / "evidence" / "dumps", Path(folder))
        return _fr_trace(copy, "--allow-incomplete-ranks")


_FR_TRACE = (
    "import runpy; runpy.run_module('torch.distributed.flight_recorder.fr_trace', run_name='__main__')"
)
_MISSING = re.compile(r"missing ranks: \{([\d, ]+)\}")
_CULPRIT = re.compile(r"Culprit rank (\d+)")
_SEQ = re.compile(r"sequence number: (\d+)")
_GROUP = re.compile(r"group info: ([^:\s]+)")
_FINDS = re.compile(r"Not all ranks joining|has errors|COLLECTIVE_TYPE_MISMATCH|error msg:")


def _fr_trace(dumps: Path, *options: str) -> Answer:
    done = run([*own_python(_FR_TRACE), str(dumps), *options])
    text = done.stdout + "\n" + done.stderr
    answer = Answer(seconds=done.seconds, peak_mib=done.peak_mib)
    if done.status != 0:
        lines = done.stderr.strip().splitlines() or ["no output"]
        answer.failed = "took too long" if done.status is None else lines[-1][:200]
        return answer
    culprits = {int(rank) for rank in _CULPRIT.findall(text)}
    for ranks in _MISSING.findall(text):
        culprits.update(int(rank) for rank in ranks.split(","))
    answer.culprits = sorted(culprits)
    # It never says that all is well; silence is all it has for that.
    answer.hang = bool(culprits or _FINDS.search(text)) or (None if "cannot decide" in text else False)
    found = _SEQ.search(text)
    if found:
        answer.seq = int(found[1])
        group = _GROUP.search(text)
        answer.group = group[1] if group else None
    return answer


NVRX = "nvidia_resiliency_ext.attribution.trace_analyzer.fr_attribution"
"""The analyser of dumps in NVIDIA's resiliency extension; its releases up to 0.4 have none."""
_NVRX = f"import runpy; runpy.run_module('{NVRX}', run_name='__main__')"
_NVRX_CELLS = 6


def nvrx(incident: Path) -> Answer:
    """NVIDIA's analyser, without its model, on dumps completed like those for torch's: it reads the same fields."""
    with tempfile.TemporaryDirectory(prefix="raf-score-") as folder:
        copy = repaired_copy(incident / "evidence" / "dumps", Path(folder))
        done = run([*own_python(_NVRX), "--fr-path", str(copy), "--pattern", "*"])
    answer = Answer(seconds=done.seconds, peak_mib=done.peak_mib)
    if done.status != 0:
        lines = done.stderr.strip().splitlines() or ["no output"]
        answer.failed = "took too long" if done.status is None else lines[-1][:200]
        return answer
    missing = _missing_by_nvrx(done.stdout + "\n" + done.stderr)
    answer.culprits = sorted({rank for _, ranks in missing for rank in ranks})
    answer.group = missing[0][0] if missing else None
    # Like torch's, it has nothing but silence for a job in which all is well.
    answer.hang = bool(missing)
    return answer


def _missing_by_nvrx(text: str) -> list[tuple[str, list[int]]]:
    """Group and ranks of each row below a head that ends with "Missing Ranks"; below one of completed ranks, none."""
    found: list[tuple[str, list[int]]] = []
    missing = False
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) != _NVRX_CELLS:
            continue
        if cells[-1].endswith(" Ranks"):
            missing = cells[-1] == "Missing Ranks"
        elif missing:
            found.append((cells[1].split(",")[0], [int(rank) for rank in re.findall(r"\d+", cells[-1])]))
    return found


ANALYSERS: dict[str, Analyser] = {
    **{name: our_command(given) for name, given in OURS.items()},
    "fr_trace": fr_trace,
    "fr_trace-repaired": fr_trace_repaired,
    "nvrx": nvrx,
}


def sees_only_dumps(name: str) -> bool:
    """Whether it is given no more than the dumps, and so cannot be asked for what only logs and stacks tell."""
    if name in OURS:
        return OURS[name].folders == ("dumps",)
    return "{evidence}" not in name.replace("{evidence}/dumps", "") and "{src}" not in name


def analyser(name: str, in_process: bool = False) -> Analyser:
    """The analyser of this name, or the one that runs this command."""
    if in_process and name in OURS:
        return in_this_process(OURS[name])
    return ANALYSERS.get(name) or command(name)
