"""What is published of the patches of opened sets: what held, what did not, what was not run, and what was refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from rankandfile.lab.blind.case import Case, CaseFile, lacks
from rankandfile.lab.blind.said_again import said_again
from rankandfile.lab.proofs_page import write_page
from rankandfile.lab.prove import Proof


def proof(case: str, title: str, words: str, *, held: bool, ran: bool = True) -> Proof:
    return Proof(
        scenario=f"round-0/{case}", what="remedy", origin="diagnosis", plain=False, held=held, ran=ran, title=title,
        words=words,
    )  # fmt: skip


def test_a_page_has_the_bad_figures_too(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    write_page(
        page,
        [
            proof("a", "Decide together", "finished, 9 calls, 3 of 3 lines as before", held=True),
            proof("b", "Decide together", "stuck, exit codes {}: 0 in barrier (a.py:3)", held=False),
            proof("c", "Decide together", "monai is not installed here", held=False, ran=False),
            proof("d", "", "Nothing shows that all ranks come to line 3", held=True),
            proof("e", "", "", held=True),
        ],
    )
    text = page.read_text()
    assert "5 programs that hang" in text
    assert "3 patches offered for 3 of them: 1 proved by a run, 1 that did not hold, 1 not run" in text
    assert "refused, with the reason, for 1; nothing to say of a patch for the other 1:" in text
    assert "| `round-0/b` | Decide together | **does not hold**: stuck" in text
    assert "| `round-0/c` | Decide together | not run: monai" in text
    assert "| `round-0/d` | Nothing shows that" in text


@pytest.mark.parametrize(
    ("patched", "again"),
    [
        ("12:31:09 step 1 loss 0.5, 3.1 it/s\nstep 2 loss 0.4\nstep 3 loss 0.3\n", 2),
        ("12:31:09 step 1 loss 0.5, 3.1 it/s\nstep 2 loss 0.7\n", 1),
    ],
)
def test_the_numbers_of_the_rounds_before_are_to_come_again(patched: str, again: int, tmp_path: Path) -> None:
    logs, control = tmp_path / "evidence" / "logs", tmp_path / "control"
    logs.mkdir(parents=True)
    control.mkdir()
    (logs / "job.log").write_text(
        "[default0]: 08:00:01 step 1 loss 0.5, 2.8 it/s\nbegins\nstep 2 loss 0.4\n"
        "[rank1]:[E1123 18:12:28.004720449 ProcessGroupNCCL.cpp:722] [Rank 1] Watchdog caught a timeout\n"
    )
    (control / "rank_0.log").write_text(patched)
    assert said_again(tmp_path / "evidence", control) == (again, 2)


def test_a_program_that_lacks_a_package_is_not_said_to_fail(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "train.py").write_text("import os\nfrom nowhere_to_be_had import Trainer\n")
    needs = ["a GPU", "json", "nowhere_to_be_had 1.2"]
    assert lacks(Case(tmp_path, CaseFile(kind="framework", ranks=2, needs=needs))) == "nowhere_to_be_had"
    assert lacks(Case(tmp_path, CaseFile(kind="framework", ranks=2, needs=needs[:2]))) == ""
