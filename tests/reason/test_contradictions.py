"""Sources that cannot both be right are shown side by side, with both places; neither is believed in silence."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl
from building import Call, Job, Step, Stop, case_of, loop
from witnesses import IN_ALL_REDUCE, IN_LOADER, Witnesses

from rankandfile.model.events import ROLES
from rankandfile.model.ledger import DISAGREE
from rankandfile.reason import diagnose, gather
from rankandfile.render.card import card

WORLD = "0"
BODY: list[Step] = [
    Call(WORLD, "all_reduce", 64, "trainer.py:63"),
    Call(WORLD, "all_gather", 8, "metrics.py:11"),
]


def behind(**more: Any) -> Witnesses:
    """Rank 2 ends at call 8; the others wait in call 9."""
    programs = {rank: loop(BODY, 6) for rank in range(4)}
    programs[2] = [*loop(BODY, 4), Stop()]
    return Witnesses(case_of(Job({WORLD: list(range(4))}, programs), **more))


def told(witnesses: Witnesses) -> list[str]:
    return [str(one) for one in gather(witnesses.case).contradictions]


def test_sources_that_agree_are_not_mentioned() -> None:
    agreeing = (
        behind().gave_up(0, 9).answered(2, 8).exit(2, "running").stack(2, IN_LOADER).stack(0, IN_ALL_REDUCE)
    )
    assert told(agreeing) == []


def test_a_log_that_has_come_further_than_the_dump() -> None:
    (one,) = gather(behind().answered(2, 12).case).contradictions
    assert one.ranks == (2,)
    assert "seq 12" in one.what and "ends at seq 8" in one.what
    assert [i[0] for i in one.evidence] == ["L", "D"]


def test_a_dump_cut_short_contradicts_nothing() -> None:
    assert told(behind(truncated=[2]).answered(2, 12)) == []


def test_a_watchdog_that_gave_up_on_what_the_dump_has_completed() -> None:
    (one,) = told(behind().gave_up(2, 5))
    assert "gave up on seq 5" in one and "the dump has it completed" in one


def test_a_list_that_says_running_of_a_process_that_the_kernel_killed() -> None:
    (one,) = gather(behind().exit(3, "running").exit(3, "SIGKILL", kind="kernel").case).contradictions
    assert "killed by SIGKILL" in one.what and "still there" in one.what
    assert one.evidence == ("X1", "X0")


def test_a_process_that_was_ended_with_the_job_was_there_before() -> None:
    assert told(behind().exit(3, "running").exit(3, "SIGTERM", kind="agent")) == []
    assert told(behind().exit(3, "SIGKILL").exit(3, "SIGKILL", role="echo", kind="agent")) == []


def test_why_a_process_ended_does_not_contradict_how() -> None:
    both = behind().exit(3, 1, kind="child_failed").exit(3, "running", kind="error_file")
    error = pl.col("kind").cast(pl.String) == "error_file"
    changed = both.case.exits.with_columns(
        state=pl.when(error).then(pl.lit("exited")).otherwise(pl.col("state").cast(pl.String)).cast(pl.Categorical),
        role=pl.when(error).then(pl.lit("echo")).otherwise(pl.col("role").cast(pl.String)).cast(ROLES),
    )  # fmt: skip
    both.case = replace(both.case, exits=changed)
    assert told(both) == []


def test_a_stack_in_a_collective_and_a_dump_without_an_open_call() -> None:
    (one,) = gather(behind().stack(2, IN_ALL_REDUCE).case).contradictions
    assert (one.ranks, [i[0] for i in one.evidence]) == ((2,), ["S", "D"])


def test_it_accuses_nobody_and_stands_in_the_document_and_on_the_card() -> None:
    witnesses = behind().exit(3, "running").exit(3, "SIGKILL", kind="kernel").answered(2, 12)
    steps: list[str] = []
    gather(witnesses.case, steps.append)
    assert sum(step.startswith("Contradiction: ") for step in steps) == 2
    document = diagnose(witnesses.case)
    notes = [note for note in document.notes if note.where == DISAGREE]
    assert [note.file for note in notes] == ["rank 3", "rank 2"]
    assert {"X0", "X1"} <= {evidence.id for evidence in document.evidence}
    assert "against" in shown(document)


def shown(document: Any) -> str:
    from io import StringIO

    from rich.console import Console

    console = Console(file=StringIO(), width=100)
    console.print(card(document))
    return console.file.getvalue()  # type: ignore[attr-defined,no-any-return]


def test_ranks_that_disagree_alike_are_said_once() -> None:
    both = behind()
    for rank in (0, 1):
        both = both.answered(rank, 20)
    (one,) = gather(both.case).contradictions
    assert one.ranks == (0, 1)
    assert len(one.evidence) <= 4
