"""The tools over a case: bounded, cited, read-only, and right."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import polars as pl
import pytest
from msgspec import structs

from rankandfile.agent.bench import Bench
from rankandfile.agent.registry import TOOLS, call
from rankandfile.agent.result import LONGEST_LINE, PAGE_CHARACTERS
from rankandfile.agent.tool import ToolError
from rankandfile.source.files.tree import open_tree

pytestmark = pytest.mark.slow


def ask(bench: Bench, tool: str, **arguments: Any) -> str:
    return call(bench, tool, arguments).result.text


def outcome(bench: Bench, **claim: Any) -> str:
    return ask(bench, "test_hypothesis", **claim).partition(":")[0]


@pytest.mark.parametrize("tool", TOOLS.values(), ids=TOOLS)
def test_a_tool_says_what_it_is_for_and_what_it_takes(tool: Any) -> None:
    schema = tool.schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["type"] == "object" and "cursor" in schema["properties"]
    assert len(tool.description) > 40
    json.dumps(schema)


@pytest.mark.parametrize("tool", ["overview", "progress", "cohorts", "waits", "divergence", "stacks", "logs"])
def test_every_id_that_an_answer_cites_exists(early_stop: Bench, tool: str) -> None:
    found = call(early_stop, tool, {}).result
    assert found.evidence
    assert all(early_stop.case.evidence(one) is not None for one in found.evidence)
    assert all(one in found.text for one in found.evidence)


def test_pages_together_are_the_whole_answer_and_each_is_bounded(simulated: Callable[[str], Bench]) -> None:
    bench = simulated("skip-nonfinite-3d")
    pages, cursor = [], 0
    while True:
        found = call(bench, "calls", {"group": "mesh_tp", "ranks": "0-3", "cursor": cursor}).result
        pages.append(found.text)
        assert len(found.text) <= PAGE_CHARACTERS + LONGEST_LINE
        if found.more is None:
            break
        assert found.more > cursor
        cursor = found.more
    lines = [line for page in pages for line in page.splitlines()]
    assert len(pages) > 2 and len(lines) == len(set(lines))


def test_ranks_that_did_the_same_are_one_line(early_stop: Bench) -> None:
    text = ask(early_stop, "calls", group="default_pg", seq="85")
    assert "ranks 1,3" in text and "barrier" in text
    assert "Ranks 1,3: in backward" in ask(early_stop, "stacks")


def test_the_code_is_found_read_and_explained(early_stop: Bench) -> None:
    ran = "/workspace/train/trainer.py"
    assert "trainer.py:40:             if self.out_of_patience():" in ask(
        early_stop, "source", file=ran, first=40, last=40
    )
    assert "trainer.py:79-80" in ask(early_stop, "definition", name="Trainer.out_of_patience")
    assert "trainer.py:40: if self.out_of_patience():" in ask(early_stop, "callers", name="out_of_patience")
    assert "trainer.py:42:" in ask(early_stop, "control_flow", file="trainer.py", line=40)
    assert "can differ between ranks" in ask(early_stop, "why_differs", file="trainer.py", line=40)


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ({"kind": "no_call_after", "ranks": "2", "group": "default_pg", "seq": 85}, "holds"),
        ({"kind": "no_call_after", "ranks": "rank 2", "group": "0", "seq": 84}, "refuted"),
        ({"kind": "no_call_after", "ranks": "0-3", "group": "default_pg", "seq": 85}, "refuted"),
        ({"kind": "no_call_after", "ranks": "17", "group": "default_pg", "seq": 85}, "undecided"),
        ({"kind": "made_call", "ranks": "0,1,3", "group": "default_pg", "seq": 85, "op": "broadcast"}, "holds"),
        ({"kind": "made_call", "ranks": "0", "group": "0", "seq": 85, "file": "trainer.py", "line": 59}, "holds"),
        ({"kind": "made_call", "ranks": "2", "group": "default_pg", "seq": 85, "op": "broadcast"}, "refuted"),
        ({"kind": "made_call", "ranks": "2", "group": "default_pg", "seq": 86}, "refuted"),
        ({"kind": "same_call", "ranks": "0,1,3", "group": "default_pg", "seq": 85}, "holds"),
        ({"kind": "same_call", "ranks": "0-3", "group": "default_pg", "seq": 85}, "refuted"),
        ({"kind": "waits_for", "ranks": "1,3", "other": "2"}, "holds"),
        ({"kind": "waits_for", "ranks": "2", "other": "1"}, "refuted"),
        ({"kind": "stands_in", "ranks": "2", "file": "parallel.py", "line": 52}, "holds"),
        ({"kind": "stands_in", "ranks": "2", "file": "trainer.py"}, "refuted"),
        ({"kind": "log_says", "ranks": "0-3", "text": "watchdog caught"}, "holds"),
        ({"kind": "log_says", "ranks": "0-3", "text": "out of memory"}, "undecided"),
        ({"kind": "ended", "ranks": "0-3"}, "refuted"),
    ],
    ids=str,
)  # fmt: skip
def test_a_claim_holds_or_is_refuted_or_stays_open(
    early_stop: Bench, claim: dict[str, Any], expected: str
) -> None:
    assert outcome(early_stop, **claim) == expected


def test_what_no_dump_proves_stays_open(simulated: Callable[[str], Bench]) -> None:
    """A lost dump is no proof that its rank did not call."""
    bench = simulated("peers-dump-lost")
    group = bench.case.groups["name"][0]
    assert outcome(bench, kind="no_call_after", ranks="2", group=group, seq=1) == "undecided"
    assert outcome(bench, kind="made_call", ranks="2", group=group, seq=10_000) == "undecided"
    assert outcome(bench, kind="no_call_after", ranks="0,1,3", group=group, seq=1) == "refuted"


def proposal(**other: Any) -> dict[str, Any]:
    fine = {"cause": "early_exit", "culprits": "2", "confidence": "supported", "file": "trainer.py", "line": 40,
            "condition": "if self.out_of_patience():", "evidence": ["D2#84", "D0#84"]}  # fmt: skip
    return fine | other


def test_a_verdict_that_the_case_supports_is_accepted(early_stop: Bench) -> None:
    assert ask(early_stop, "propose_verdict", **proposal()).startswith(
        "accepted: early_exit of rank 2 (supported)"
    )


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"culprits": "1"}, "and so victims, are rank 1"),
        ({"culprits": "2,9"}, "about rank 9"),
        ({"evidence": ["D2#84", "D7#1"]}, "no evidence D7#1"),
        ({"evidence": []}, "cites nothing"),
        ({"cause": "gremlins"}, "is no cause"),
        ({"line": 41}, "line 41 of trainer.py reads"),
        ({"condition": "if rank == 2:"}, "line 40 of trainer.py reads"),
        ({"file": "/etc/passwd"}, "no file '/etc/passwd'"),
        ({"cause": "host_blocked"}, "no more than a hypothesis"),
    ],
)
def test_a_verdict_that_it_does_not_support_is_not(
    early_stop: Bench, wrong: dict[str, Any], says: str
) -> None:
    text = ask(early_stop, "propose_verdict", **proposal(**wrong))
    assert text.startswith("not accepted") and says in text


@pytest.mark.parametrize(
    ("tool", "arguments", "says"),
    [
        ("rm", {}, "there is no tool 'rm'"),
        ("source", {"file": "/etc/passwd"}, "no readable file"),
        ("source", {"file": "../../../../etc/passwd"}, "no readable file"),
        ("source", {}, "missing required field `file`"),
        ("source", {"file": "trainer.py", "first": 10_000}, "lines"),
        ("calls", {"ranks": "all"}, "not a rank"),
        ("calls", {"shell": "id"}, "unknown field"),
        ("calls", {"group": "tp"}, "no group 'tp'"),
        ("calls", {"cursor": -1}, "cursor"),
        ("logs", {"around": "L99:1"}, "no evidence"),
        ("test_hypothesis", {"kind": "made_call", "ranks": "1"}, "needs group and seq"),
        (
            "why_differs",
            {"file": "trainer.py", "line": 40, "expression": "import os"},
            "no Python expression",
        ),
        ("git_log", {"file": "trainer.py", "count": "x"}, "Expected `int`"),
        ("explain", {"rank": 999}, "no rank 999"),
        ("why_differs", {"file": "trainer.py", "line": 40, "expression": "rank == 1"}, "no such expression"),
    ],
)
def test_a_question_that_cannot_be_answered_says_how_to_ask(
    early_stop: Bench, tool: str, arguments: dict[str, Any], says: str
) -> None:
    with pytest.raises(ToolError, match=says):
        call(early_stop, tool, arguments)


def test_raw_lines_come_only_from_what_the_case_was_read_from(early_stop: Bench, tmp_path: Path) -> None:
    assert "Watchdog caught" in ask(early_stop, "logs", around="L1:16")
    secret = tmp_path / "secret.txt"
    secret.write_text("token 12345\n")
    logs = early_stop.case.logs.with_columns(pl.lit(str(secret)).alias("source"))
    facts = structs.replace(early_stop.facts, case=structs.replace(early_stop.case, logs=logs))
    hostile = replace(early_stop, facts=facts)
    text = ask(hostile, "logs", around="L1:1")
    assert "12345" not in text and "not at hand" in text


def test_history_is_that_of_the_repository_and_nothing_it_configures_runs(
    early_stop: Bench, tmp_path: Path
) -> None:
    ran = tmp_path / "ran"
    folder = tmp_path / "train"
    folder.mkdir()
    (folder / "trainer.py").write_text("a = 1\nb = 2\n")
    (folder / ".gitattributes").write_text("*.py diff=evil filter=evil\n")
    for words in (
        ("init", "-q"),
        ("config", "user.name", "A Person"),
        ("config", "user.email", "person@example.com"),
        ("add", "."),
        ("commit", "-q", "-m", "Make a and b"),
        ("config", "diff.evil.textconv", f"touch {ran};cat"),
        ("config", "filter.evil.clean", f"touch {ran};cat"),
        ("config", "log.showSignature", "true"),
        ("config", "gpg.program", f"touch {ran}"),
    ):
        subprocess.run(["git", "-C", str(folder), *words], check=True, capture_output=True)
    bench = replace(early_stop, tree=open_tree([folder]), folders=(folder,))
    assert "A Person: Make a and b" in ask(bench, "git_log", file="trainer.py")
    blamed = ask(bench, "git_blame", file="trainer.py", first=2)
    assert "b = 2" in blamed and "a = 1" not in blamed
    assert not ran.exists()
