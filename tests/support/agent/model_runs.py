"""`raf investigate --model` as a person would run it, and what may never come of it, whatever the model does."""

from __future__ import annotations

import hashlib
import io
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rankandfile.agent.bench import Bench
from rankandfile.agent.claims import check
from rankandfile.agent.llm.report import ABOUT
from rankandfile.agent.registry import call
from rankandfile.agent.result import Result
from rankandfile.cli.program import application
from support.agent.model_server import Plays, Server, serving
from support.places import EARLY_STOP


@dataclass
class Done:
    status: int
    answer: dict[str, Any]
    said: str
    document: str
    steps: list[dict[str, Any]]
    folder: Path

    @property
    def model(self) -> dict[str, Any]:
        found: dict[str, Any] = self.answer["model"]
        return found

    @property
    def checked(self) -> str:
        """What the document says of the job."""
        return self.document.partition(ABOUT)[0]


@contextmanager
def environment(values: dict[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def command(arguments: list[str]) -> tuple[int, str, str]:
    """In this process: loading the libraries anew for each run would take most of the time."""
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        status = application()(arguments, standalone_mode=False)
    out.seek(0)
    return int(status or 0), out.read(), err.getvalue()


def asked(
    server: Server, protocol: str, folder: Path, *more: str, incident: Path = EARLY_STOP, model: str = ""
) -> Done:
    arguments = ["investigate", str(incident / "evidence"), "--src", str(incident / "src"), "--jobs", "1"]
    arguments += ["-o", str(folder), "--format", "json", "--model", model or server.model(protocol), *more]
    with environment(server.environment()):
        status, out, err = command(arguments)
    lines = [json.loads(line) for line in (folder / "investigation.jsonl").read_text().splitlines()]
    document = (folder / "investigation.md").read_text()
    return Done(status, json.loads(out), err, document, [one for one in lines if "step" in one], folder)


def investigated(
    plays: Plays, protocol: str, folder: Path, *more: str, incident: Path = EARLY_STOP
) -> tuple[Done, Server]:
    with serving(plays) as server:
        return asked(server, protocol, folder, *more, incident=incident), server


def assert_nothing_false(done: Done, bench: Bench) -> None:
    """The verdict of the rules is delivered, and what the document says beyond it holds."""
    assert done.status == 1
    rules = done.answer["diagnosis"]["verdicts"]
    assert [v["sentence"] for v in rules] == [v.sentence for v in bench.diagnosis.verdicts]
    assert [c["rank"] for v in rules for c in v["culprits"]] == sorted(bench.culprits)
    assert " ".join(bench.diagnosis.verdicts[0].sentence.split()[:6]) in done.document
    results = answered(done, bench)
    assert check(done.checked, bench, results) == []
    verdict = done.model["verdict"]
    if verdict is not None and verdict["accepted"]:
        assert verdict["stance"] != "disagrees"
        assert verdict["culprits"] == ",".join(map(str, sorted(bench.culprits)))


def answered(done: Done, bench: Bench) -> dict[str, Result]:
    """The steps of the file, asked again: each digest is that of its answer."""
    results: dict[str, Result] = {}
    for number, step in enumerate(done.steps, 1):
        assert step["step"] == f"T{number}"
        if step["refused"] is None:
            found = call(bench, step["tool"], step["arguments"]).result
            digest = hashlib.sha256(found.text.encode()).hexdigest()
            assert step["digest"] == f"sha256:{digest}"
            results[step["step"]] = found
    return results


_opened: list[str] = []
_watching: list[bool] = []


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if _watching and event == "open" and isinstance(arguments[0], (str, bytes)):
        _opened.append(os.fsdecode(arguments[0]))


sys.addaudithook(_hook)


@contextmanager
def opening_watched() -> Iterator[Callable[[], None]]:
    """Gives what starts the watch; `files_opened` are those that this process opened since then."""
    _opened.clear()
    try:
        yield lambda: _watching.append(True)
    finally:
        _watching.clear()


def files_opened() -> list[str]:
    """By their real paths."""
    return [os.path.realpath(one) for one in _opened]
