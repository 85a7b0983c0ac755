"""No command runs a file for being called like a module: not in the current folder, the evidence or the source."""

from __future__ import annotations

import importlib.metadata
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from support.capture.waiting import LONG_S
from support.tower.towers import running

import rankandfile
from rankandfile.evidence.load import load
from rankandfile.evidence.pack.writing import write

pytestmark = pytest.mark.slow

EXAMPLE = Path(__file__).parents[2] / "examples" / "early-stop"
SRC = Path(rankandfile.__file__).parent


_IMPORT = re.compile(r"^\s*(?:from (\w+)|import ([\w., ]+))", re.MULTILINE)


def _imported() -> set[str]:
    """Whatever any module of ours imports, installed or not."""
    files = [path for path in SRC.rglob("*.py") if "lab/programs" not in path.as_posix()]
    # Words of a sentence that begins so, too: more than enough.
    found = [one or many for path in files for one, many in _IMPORT.findall(path.read_text("utf-8"))]
    return {name for words in found for name in re.findall(r"[a-zA-Z_]\w*", words)}


def _names() -> list[str]:
    there = {*sys.stdlib_module_names, *importlib.metadata.packages_distributions(), *_imported()}
    there |= {"rankandfile", "ray", "sitecustomize", "torch", "usercustomize"}
    return sorted(name for name in there if name.isidentifier())


#: Those that start another Python, or read what somebody else has written, and the rest.
STARTING = (
    "diagnose ticket.zip",
    "case open ticket.zip -o opened",
    "diagnose evidence --src src --report report.html",
)
OTHERS = (
    "attach 999999999",
    "control run -- none.py",
    "explain early_exit",
    "explore evidence --help",
    "fix evidence --src src --diff",
    "lint src",
    "lint src --diff HEAD",
    "mcp --http 999.0.0.1:0 ticket.zip",
    "run --tower http://127.0.0.1:9 -- true",
    "top 999999999",
    "tower 999.0.0.1:0",
    "version",
    "lab list",
    "mcp ticket.zip",
    "show cohorts ticket.zip",
    "show evidence ticket.zip",
    "show groups evidence",
    "show progress evidence",
    "show timeline ticket.zip",
    "skill show",
    "case pack evidence -o packed.zip --redact",
    "case convert evidence -o case",
    "doctor",
    "fix evidence --src src",
    "fr-trace evidence",
    "investigate evidence --src src -o investigated",
    "report evidence -o page.html",
    "run -- true",
    "show calls ticket.zip",
    "show source evidence --src src",
    "show stacks evidence",
    "show waits evidence --jobs 2",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder to work in, with evidence, source and a ticket, and full of modules that say that they ran."""
    folder = tmp_path_factory.mktemp("planted")
    for name in ("evidence", "src"):
        shutil.copytree(EXAMPLE / name, folder / name)
    (folder / "spool").mkdir()
    write(load([EXAMPLE / "evidence"], folder / "spool", jobs=1), folder / "ticket.zip", redacted=None)
    names = _names()
    for place in (folder, folder / "evidence", folder / "src"):
        for name in names:
            (place / f"{name}.py").write_text(
                f"open({str(folder / 'ran.txt')!r}, 'a').write('{place.name}/{name}.py ')\n"
            )
    return folder


def run_all(folder: Path, commands: Sequence[str]) -> dict[str, int]:
    begin = folder.parent / f"{folder.name}-begin" / "raf.py"
    begin.parent.mkdir(exist_ok=True)
    begin.write_text("from rankandfile.cli.main import main\nmain()\n")
    running = {
        command: subprocess.Popen(
            [sys.executable, str(begin), *command.split()],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for command in commands
    }
    return {command: process.wait(LONG_S) for command, process in running.items()}


@pytest.mark.parametrize("commands", [STARTING, pytest.param(OTHERS, marks=pytest.mark.lab)])
def test_nothing_that_is_planted_runs(folder: Path, commands: Sequence[str]) -> None:
    statuses = run_all(folder, commands)
    ran = folder / "ran.txt"
    assert not ran.exists(), ran.read_text()[:500]
    odd = {command: status for command, status in statuses.items() if status not in (0, 1, 3)}
    # These have nothing to do here, and say so.
    refused = (
        "attach",
        "control",
        "fix evidence --src src --diff",
        "lint src --diff",
        "mcp --http",
        "top",
        "tower",
    )
    assert {command for command in odd if not command.startswith(refused)} == set()


@pytest.mark.lab
def test_a_tower_that_is_started_among_them_runs_none(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    with running(folder / "tower.db") as tower:
        assert tower.post("/api/v1/jobs/job/cases?name=ticket.zip", (folder / "ticket.zip").read_bytes()) in (
            201,
            404,
        )
        assert tower.get("/api/v1/jobs") is not None
    ran = folder / "ran.txt"
    assert not ran.exists(), ran.read_text()[:500]
