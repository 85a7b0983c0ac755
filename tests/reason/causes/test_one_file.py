"""A cause is one file: a new one, put into a copy of the package, is found, named, advised on and has its page."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import rankandfile

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
EVIDENCE = str(ROOT / "examples" / "early-stop" / "evidence")

CAUSE = '''
"""The moon was full when the ranks stopped."""

from __future__ import annotations

from rankandfile.model.advice import FIRST_LOGGER
from rankandfile.model.causes import Cause
from rankandfile.model.diagnosis import Remedy
from rankandfile.reason.finder import finder
from rankandfile.reason.toolbox import Facts, WaitEnd, call_phrase, first_pending
from rankandfile.reason.verdict.finding import Finding

CAUSE = Cause(
    word="full_moon",
    family="fabric",
    meaning="The moon was full.",
    help="Nobody knows why. Look up.",
    remedies=(Remedy(title="Wait for the new moon", text="It takes two weeks."),),
    anti_advice=(FIRST_LOGGER,),
    title="The moon is full",
    page="Tides reach the racks, and the links between them get wet.",
)


@finder(precedence=1)
def by_the_calendar(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    call = first_pending(facts, wait_end)
    if call is None:
        return None
    return Finding(
        cause=CAUSE.word,
        confidence="established",
        sentence=f"The moon shone on the {call_phrase(facts, call)}.",
    )
'''


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Of a process that uses the copy."""
    folder = tmp_path_factory.mktemp("copy")
    copy = shutil.copytree(
        Path(rankandfile.__file__).parent,
        folder / "rankandfile",
        ignore=shutil.ignore_patterns("__pycache__", "programs"),
    )
    (copy / "reason" / "causes" / "full_moon.py").write_text(CAUSE, encoding="utf-8")
    return {**os.environ, "PYTHONPATH": str(folder), "NO_COLOR": "1", "COLUMNS": "120"}


def raf(environment: dict[str, str], *command: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "rankandfile", *command], cwd=environment["PYTHONPATH"],
        env=environment, capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


def test_it_is_found_with_what_it_advises(environment: dict[str, str]) -> None:
    verdict: dict[str, Any] = json.loads(raf(environment, "diagnose", EVIDENCE, "--format", "json"))[
        "verdicts"
    ][0]
    assert (verdict["cause"], verdict["family"]) == ("full_moon", "fabric")
    assert verdict["sentence"].startswith("The moon shone on the broadcast at trainer.py:59")
    assert [one["title"] for one in verdict["remedies"]] == ["Wait for the new moon"]
    assert verdict["anti_advice"][0].startswith("Do not blame")


def test_it_is_on_the_card(environment: dict[str, str]) -> None:
    shown = raf(environment, "diagnose", EVIDENCE)
    assert shown.startswith("HANG: full moon")
    assert "Wait for the new moon" in shown


def test_it_is_a_rule_of_sarif(environment: dict[str, str]) -> None:
    told = json.loads(raf(environment, "diagnose", EVIDENCE, "--format", "sarif"))["runs"][0]
    rules = told["tool"]["driver"]["rules"]
    (rule,) = (rule for rule in rules if rule["id"] == "full_moon")
    assert rule["shortDescription"]["text"] == "The moon was full."
    assert rules[told["results"][0]["ruleIndex"]] == rule


def test_it_has_a_page_and_a_place_in_the_navigation(environment: dict[str, str]) -> None:
    script = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from making import causes\n"
        "print(causes.page('full_moon'), causes.index(), causes.navigation())"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(ROOT / "docs")],
        env=environment, capture_output=True, encoding="utf-8", check=True,
    )  # fmt: skip
    page = done.stdout.partition("# Causes")[0]
    assert page.startswith("# The moon is full\n")
    for words in ("**The moon was full.** Nobody knows why.", "Tides reach", "* **Wait for the new moon.**"):
        assert words in page
    assert "| [`full_moon`](full_moon.md) | The moon was full. |" in done.stdout
    after_the_others = (
        "peer_unreachable.md\n          - full_moon: causes/full_moon.md\n      - Start and end:"
    )
    assert after_the_others in done.stdout
