"""Adding one is one file and nothing else: a new file of each kind, put into a copy of the package, works in `raf`.

A kind is a row of `DOORS`: where its file goes, the file, the command that meets it, and what that command then says.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import rankandfile

pytestmark = pytest.mark.slow

EXAMPLE = Path(__file__).parents[1] / "examples" / "early-stop"
EVIDENCE, SOURCE = str(EXAMPLE / "evidence"), str(EXAMPLE / "src")


class Door(NamedTuple):
    file: str
    """Where it goes, within the package."""
    text: str
    command: tuple[str, ...]
    """What follows `raf`. `{here}` is a folder of the test's own."""
    says: str
    stdin: str = ""
    needs: str = ""
    """A library without which the command says nothing."""


FORMAT = '''
"""Counts: how many verdicts there are."""

def write(diagnosis, in_tree):
    return f"{len(diagnosis.verdicts)} verdict counted"
'''

CHECK = '''
"""Is the moon full?"""

def check(subject):
    yield subject.finding("useless", "the moon is not looked at", "look up")
'''

COMMAND = '''
"""``raf hello-there``."""

def hello_there(name: str = "you") -> None:
    """Greet whoever is on call."""
    print(f"hello, {name}")
'''

EDIT = '''
"""Say that the ranks may part here."""

from rankandfile.source.remedies.pattern import PATHS, Draft, Pattern, spelling

def make(place, plain):
    edits = spelling(place, plain).edits
    edits.before(place.node, "print('the ranks may part here')")
    return Draft(edits, "Say it", "It is said.")

{name} = Pattern("say_it", PATHS, make)
ORDER = 1
'''

TOOL = '''
"""The weather where the job ran."""

from rankandfile.agent.result import line
from rankandfile.agent.tool import Arguments, Tool

def weather(bench, asked):
    """What the weather was like when the job hung."""
    yield line("It rained.")

TOOL = Tool(weather, Arguments)
'''

LIST_TOOLS = """\
{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},\
"clientInfo":{"name":"test","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
"""

DOORS = {
    "an output": Door(
        "render/formats/count.py", FORMAT, ("diagnose", EVIDENCE, "--format", "count"), "1 verdict counted\n"
    ),
    "a check of the doctor": Door(
        "doctor/checks/full_moon.py", CHECK, ("doctor",), "the moon is not looked at -> look up"
    ),
    "its word": Door(
        "doctor/checks/full_moon.py", CHECK, ("doctor", "--format", "json"), '"check": "full-moon"'
    ),
    "a command": Door(
        "cli/commands/hello_there.py", COMMAND, ("hello-there", "--name", "Ada"), "hello, Ada\n"
    ),
    "its help": Door(
        "cli/commands/hello_there.py", COMMAND, ("--help",), "hello-there  Greet whoever is on call."
    ),
    "a command of a group": Door(
        "cli/commands/show/hello_there.py", COMMAND, ("show", "hello-there"), "hello, you\n"
    ),
    "a fix pattern": Door(
        "source/remedies/patterns/say_it.py",
        EDIT.format(name="PATTERN"),
        ("fix", EVIDENCE, "--src", SOURCE),
        "+            print('the ranks may part here')",
    ),
    "a probe": Door(
        "source/probes/say_it.py",
        EDIT.format(name="PROBE"),
        ("fix", EVIDENCE, "--src", SOURCE, "--probe"),
        "+            print('the ranks may part here')",
    ),
    "a tool of the investigation": Door(
        "agent/tools/weather.py",
        TOOL,
        ("mcp", EVIDENCE),
        "What the weather was like when the job hung.",
        stdin=LIST_TOOLS,
        needs="mcp",
    ),
}


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package that is found before the installed one."""
    home = tmp_path_factory.mktemp("house")
    shutil.copytree(Path(rankandfile.__file__).parent, home / "rankandfile")
    return home


@pytest.fixture
def dropped(house: Path, kind: str) -> Iterator[Door]:
    door = DOORS[kind]
    path = house / "rankandfile" / door.file
    assert not path.exists()
    path.write_text(door.text, encoding="utf-8")
    yield door
    path.unlink()


@pytest.mark.parametrize("kind", DOORS)
def test_a_new_file_is_all_that_is_added(house: Path, tmp_path: Path, dropped: Door) -> None:
    if dropped.needs:
        pytest.importorskip(dropped.needs)
    process = subprocess.Popen(
        [sys.executable, "-m", "rankandfile", *(word.format(here=tmp_path) for word in dropped.command)],
        env={**os.environ, "PYTHONPATH": str(house), "COLUMNS": "160", "PYTHONIOENCODING": "utf-8"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        cwd=tmp_path,
    )
    assert process.stdin is not None and process.stdout is not None
    said = ""
    if dropped.stdin:
        # A server need not answer whoever has hung up: its input stays open until the last question is answered.
        process.stdin.write(dropped.stdin)
        process.stdin.flush()
        while (line := process.stdout.readline()) and '"id":2' not in line:
            said += line
        said += line
    said += process.communicate()[0]
    assert dropped.says in said, said
