"""The check of claims: what cites nothing, or says more than it cites, does not pass."""

from __future__ import annotations

import re

import pytest

from rankandfile.agent.bench import Bench
from rankandfile.agent.claims import check
from rankandfile.agent.playbook import investigate
from rankandfile.agent.registry import call


@pytest.mark.parametrize(
    "sentence",
    [
        "Rank 2 made the barrier #85 at parallel.py:52. [D2#84]",
        "Ranks 1 and 3 ended the broadcast #85 of default_pg. [D1#84]",
        "Rank 2 is the culprit. [D2#84]",
        "Rank 1 is a victim. [D1#85]",
        "Rank 1 is not the culprit. [D1#85]",
        "It is decided by `if self.out_of_patience():`. [trainer.py:40]",
        "The watchdog of rank 0 gave up after 600077 milliseconds. [L1:16]",
    ],
)
def test_what_the_evidence_says_passes(early_stop: Bench, sentence: str) -> None:
    assert check(sentence, early_stop) == []


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("Rank 2 left the loop.", "cites nothing"),
        ("Rank 2 made the barrier. It left the loop. [D2#84]", "cites nothing"),
        ("Rank 2 made the barrier. [D2#84] And so the job hung.", "cites nothing"),
        ("- Rank 2 made the barrier.\n- [D2#84]", "cites nothing"),
        ("Rank 2 made the barrier. [D2#9999]", "no evidence D2#9999"),
        ("Rank 2 made the barrier. [T3]", "no evidence T3"),
        ("Rank 1 made the barrier. [D2#84]", "does not speak of rank 1"),
        ("Ranks 0-3 made the barrier. [D2#84]", "does not speak of ranks 0,1,3"),
        ("Rank two made the barrier. [D2#84]", "written as a number"),
        ("Rank 2 made the barrier #811. [D2#84]", "does not have 811"),
        ("Rank 2 made the all_reduce #85. [D2#84]", "has no allreduce"),
        ("Rank 2 made the barrier at parallel.py:53. [D2#84]", "does not name parallel.py:53"),
        ("Rank 2 made the barrier in evaluate.py. [D2#84]", "does not name evaluate.py"),
        ("Rank 2 raised a ValueError. [D2#84]", "does not say valueerror"),
        ("Rank 2 was killed by SIGKILL. [D2#84]", "does not say sigkill"),
        ("The condition is `if rank == 2:`. [trainer.py:40]", "does not read `if rank == 2:`"),
        ("The condition is there. [trainer.py:4000]", "no evidence trainer.py:4000"),
        ("The password is in it. [../../secret.py:1]", "no evidence"),
        ("Rank 1 is the culprit. [D1#85]", "no verdict blames rank 1"),
        ("The hang was caused by rank 0. [D0#84]", "no verdict blames rank 0"),
        ("Rank 2 is innocent. [D2#84]", "no verdict excuses rank 2"),
        ("## Rank 1 did it", "a heading that claims"),
        ("```python trainer.py:40\n            if rank == 2:\n```", "line 40 of trainer.py reads otherwise"),
        ("```python\nif rank == 2:\n```", "does not say where"),
        ("```python /etc/passwd.py:1\nroot\n```", "no file"),
        (
            "```diff\n--- a/trainer.py\n+++ b/trainer.py\n@@ -40,1 +40,1 @@\n-if x:\n+if y:\n```",
            "does not fit",
        ),
    ],
)
def test_what_it_does_not_say_is_found(early_stop: Bench, text: str, says: str) -> None:
    assert any(says in problem.what for problem in check(text, early_stop)), check(text, early_stop)


def test_a_refuted_question_supports_nothing_that_it_asked(early_stop: Bench) -> None:
    """Or whoever wants to blame rank 9 would only have to ask about it."""
    asked = {"cause": "killed", "culprits": "9", "evidence": ["D2#84"]}
    results = {"T1": call(early_stop, "propose_verdict", asked).result}
    assert check("Rank 9 is the culprit. [T1]", early_stop, results)


def changed(document: str, pattern: str, to: str) -> str:
    """The first place that a sentence has the pattern, changed."""
    head, tail = document.split("## What it means")
    return f"{head}## What it means{re.sub(pattern, to, tail, count=1)}"


@pytest.mark.parametrize(
    ("pattern", "to"),
    [
        (r"cohort 2: rank 0", "cohort 2: rank 7"),
        (r"-->86 all_reduce", "-->87 all_reduce"),
        pytest.param(r"-->85 broadcast", "-->85 reduce_scatter", marks=pytest.mark.lab),
        pytest.param(r"trainer\.py:60", "trainer.py:61", marks=pytest.mark.lab),
        (r"\[D0#84, T3\]", "[D0#8400, T3]"),
        pytest.param(r" \[D1#85, T3\]", "", marks=pytest.mark.lab),
        (r"Rank 2 is blamed", "Rank 1 is blamed"),
        (r"if self\.out_of_patience\(\):", "if self.converged():"),
        pytest.param(r"log\.info\(", "log.warning(", marks=pytest.mark.lab),
        pytest.param(r"for epoch in range", "for step in range", marks=pytest.mark.lab),
    ],
)
def test_one_change_to_a_true_document_is_found(early_stop: Bench, pattern: str, to: str) -> None:
    found = investigate(early_stop)
    false = changed(found.document, pattern, to)
    assert false != found.document
    assert check(found.document, early_stop, found.journal.results) == []
    assert check(false, early_stop, found.journal.results)
