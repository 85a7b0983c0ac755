"""Plain values of options are taken by hand, and mean what Typer's own reading of them means."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.cli.raf_runs import Raf
from support.places import EARLY_STOP
from typer.main import get_command

from rankandfile.cli.program import application
from rankandfile.cli.typed.plain_values import UNSURE, plainly
from rankandfile.cli.typed.wrong_values import what_is_wrong

VALUES = [
    "",
    "0",
    "1",
    "-1",
    "7",
    "1.5",
    "1e3",
    "007",
    " 7",
    "+7",
    "1_000",
    "nan",
    "inf",
    "text",
    "json",
    "JSON",
    "True",
]
VALUES += ["true", "x", "/", "/nowhere/at/all", "~", "a\nb", "9" * 30]


def options() -> Iterator[Any]:
    """Every option and argument of every command."""
    waiting = [get_command(application())]
    while waiting:
        command: Any = waiting.pop()
        waiting += getattr(command, "commands", {}).values()
        yield from command.params


def read(param: Any, value: object) -> object:
    try:
        return param.get_runtime_param().coerce(value, param=param, ctx=None)
    except Exception as error:
        return error


def test_a_value_taken_by_hand_is_what_typer_makes_of_it() -> None:
    if not all(hasattr(param, "type_descriptor") for param in options()):
        pytest.skip("another Typer, which is left as it is")
    taken = 0
    for param in options():
        kind, rules = param.type_descriptor.annotation, param.type_descriptor.parameter_info
        several = param.multiple or param.nargs == -1
        for value in [*VALUES, True, 1, 2.5, param.default]:
            given = [value, "1"] if several and isinstance(value, str) else value
            found = plainly(given, kind, rules)
            if found is not UNSURE:
                theirs = read(param, given)
                assert (type(found), found) == (type(theirs), theirs), (param.name, given)
                taken += 1
    assert taken > 500


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--jobs", "0", "0 is less than 1"),
        ("--jobs", "x", "'x' is not a whole number"),
        ("--format", "foo", "'foo' is none of text, github, json, junit, markdown, sarif"),
        ("--limit-seconds", "nan-", "'nan-' is not a number"),
    ],
)
def test_what_is_not_allowed_is_said_in_our_words(raf: Raf, option: str, value: str, said: str) -> None:
    done = raf("diagnose", EARLY_STOP / "evidence", option, value)
    assert done.status == 2 and option in done.err and said in done.err


def test_no_value_that_is_refused_is_said_in_the_words_of_a_library() -> None:
    """Of every option of every command: Pydantic speaks of inputs that should be valid."""
    refused = 0
    for param in options():
        kind, rules = param.type_descriptor.annotation, param.type_descriptor.parameter_info
        several = param.multiple or param.nargs == -1
        for value in (*VALUES, "-99999", "9" * 12):
            theirs = read(param, given := [value] if several else value)
            # A switch takes none.
            if isinstance(theirs, Exception) and kind is not bool:
                assert what_is_wrong(given, kind, rules), (param.name, given, theirs)
                refused += 1
    assert refused > 100


def test_a_short_run_loads_no_validators(tmp_path: Path) -> None:
    seen = "import sys, atexit; atexit.register(lambda: print(*sys.modules))"
    code = f"{seen}; from rankandfile.cli.main import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "diagnose", EARLY_STOP / "evidence", "--src", EARLY_STOP / "src"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    loaded = {name.partition(".")[0] for name in done.stdout.splitlines()[-1].split()}
    assert done.returncode == 1 and "polars" in loaded
    assert not loaded & {"pydantic", "libcst", "jinja2", "textual", "torch"}
