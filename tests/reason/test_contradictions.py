"""Sources that cannot both be right are shown side by side, with both places; neither is believed in silence."""

from __future__ import annotations

from typing import Any

import polars as pl
from msgspec.structs import replace
from support.reason.building import Call, Job, Step, Stop, case_of, loop
from support.reason.witnesses import IN_ALL_REDUCE, IN_LOADER, Witnesses

from rankandfile.model.case import Case
from rankandfile.model.events import ROLES
from rankandfile.model.ledger import DISAGREE
from rankandfile.reason import diagnose, gather
from rankandfile.reason.verdict.nothing_waits import nothing_waits
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


def complete_alone(**more: Any) -> Case:
    """Rank 2 ends at call 8; the others have gone on and completed call 9, and nothing is unfinished."""
    case = behind(**more).case
    return replace(
        case, calls=case.calls.with_columns(state=pl.lit("completed").cast(case.calls["state"].dtype))
    )


def test_a_call_that_is_complete_although_a_member_never_issued_it_is_no_sign_of_health() -> None:
    case = complete_alone()
    verdict = diagnose(case).verdicts[0]
    assert (verdict.cause, verdict.hang, verdict.culprits) == ("undetermined", None, [])
    assert "contradict each other" in verdict.sentence
    assert "ends at number 8" in verdict.sentence
    (one,) = gather(case).contradictions
    assert one.ranks == (2,)
    assert "3 other members have completed call 9" in one.what
    assert [i.partition("#")[0][0] for i in one.evidence] == ["D", "D"]


def test_a_member_whose_dump_is_cut_short_or_was_written_before_contradicts_nothing() -> None:
    assert told(Witnesses(complete_alone(truncated=[2]))) == []
    case = complete_alone()
    early = pl.when(pl.col("rank") == 2).then(pl.col("last_ns")).otherwise(pl.col("written_ns"))
    case = replace(case, dumps=case.dumps.with_columns(written_ns=early))
    assert told(Witnesses(case)) == []
    assert diagnose(case).verdicts[0].cause == "no_hang"


def test_a_call_that_its_root_may_finish_alone_is_no_contradiction() -> None:
    alone = [Call(WORLD, "broadcast", 64, "a.py:5", early=True)]
    programs: dict[int, list[Step]] = {0: loop(alone, 3), 1: [*loop(alone, 2), Stop()]}
    assert told(Witnesses(case_of(Job({WORLD: [0, 1]}, programs)))) == []


def ras(witnesses: Witnesses, counts: dict[int, int], usual: int = 6, op: str = "AllReduce") -> Witnesses:
    """RAS says that so many of the four ranks launched the operation so often."""
    listed = [{"rank": rank, "count": count} for rank, count in counts.items()]
    majority = [{"ranks": 4 - len(counts), "count": usual}]
    return witnesses.event(
        "ras_mismatch", "fact", None, op=op, comm_id="5c1e", listed=listed, majority=majority
    )


def level() -> Witnesses:
    """All are stuck in one and the same call."""
    job = Job(
        {WORLD: list(range(4))}, dict.fromkeys(range(4), loop(BODY, 6)), stalled=frozenset({(WORLD, 9)})
    )
    return Witnesses(case_of(job))


def test_counts_of_ras_that_differ_where_the_dumps_are_level() -> None:
    (one,) = told(ras(level(), {3: 5}))
    assert one.startswith("rank 3: NCCL's RAS counts 6 launches of AllReduce on 3 ranks and 5 on rank 3")
    assert told(ras(behind(), {2: 4})) == []


def test_a_process_that_ras_takes_for_dead_and_a_list_says_is_there() -> None:
    witnesses = behind().exit(2, "running").event("ras_dead", "fact", None, processes=[{"pid": 1002}])
    (one,) = told(witnesses)
    assert one.startswith("rank 2: NCCL's RAS takes its process for dead")
    assert told(behind().exit(2, "SIGKILL").event("ras_dead", "fact", None, processes=[{"pid": 1002}])) == []


def test_what_ras_says_alike_is_evidence_of_the_verdict_and_nothing_else_is() -> None:
    alone = diagnose(behind().case).verdicts[0]
    verdict = diagnose(ras(behind(), {2: 4}).case).verdicts[0]
    assert (verdict.cause, [c.rank for c in verdict.culprits]) == (alone.cause, [2])
    assert (
        "RAS says the same: it counts 6 launches of AllReduce on 3 ranks and 4 on rank 2." in verdict.sentence
    )
    assert set(verdict.evidence) - set(alone.evidence) == {"L90:1"}
    other = diagnose(ras(behind(), {1: 4}).case).verdicts[0]
    assert (other.sentence, other.evidence) == (alone.sentence, alone.evidence)


def test_that_ras_gets_no_answer_of_a_killed_rank_fits() -> None:
    killed = behind().exit(2, "SIGKILL")
    verdict = diagnose(killed.event("ras_missing", "fact", None, processes=[{"pid": 1002}]).case).verdicts[0]
    assert verdict.cause == "killed"
    assert "RAS gets no answer from rank 2 either" in verdict.sentence


def ended_after_the_stack(waited_s: float, gave_up: bool = False) -> Any:
    """Rank 2's stack is in the last call that its dump has ended, and the others wait for it in the next one."""
    seen = behind(waited_s=waited_s).stack(2, IN_ALL_REDUCE)
    if gave_up:
        seen = seen.gave_up(0, 9)
    written = seen.case.dumps["written_ns"].max()
    files = seen.case.stack_files.with_columns(written_ns=pl.lit(written, dtype=pl.Int64) - 5_000_000_000)
    return diagnose(replace(seen.case, stack_files=files)).verdicts[0]


def test_a_job_that_moved_between_two_looks_accuses_nobody() -> None:
    verdict = ended_after_the_stack(6)
    assert (verdict.hang, verdict.culprits) == (None, [])
    assert "the job moved" in verdict.sentence


def test_a_stack_in_another_call_than_the_dump_has_open_is_of_another_moment() -> None:
    """On the hosts a rank is in the call that its recorder has open; a device's queue may be far behind its host."""
    elsewhere = [IN_ALL_REDUCE[0], ("train", "/workspace/trainer.py", 99)]
    for backend, against in (("gloo", [(0,)]), ("nccl", [])):
        programs = {rank: [*loop(BODY, 3), *([BODY[0]] if rank != 2 else [Stop()])] for rank in range(4)}
        seen = Witnesses(case_of(Job({WORLD: list(range(4))}, programs, backend=backend)))
        seen.stack(0, elsewhere)
        assert [one.ranks for one in gather(seen.case).contradictions if one.moved] == against


def test_what_stood_for_long_after_both_looks_is_a_hang() -> None:
    for verdict in (ended_after_the_stack(60), ended_after_the_stack(6, gave_up=True)):
        assert verdict.hang
        assert [one.rank for one in verdict.culprits] == [2]


def test_ended_calls_say_nothing_of_a_rank_without_a_dump_that_stands_in_one() -> None:
    """All recorded calls are over, and the one whose dump is lost is seen in a collective: not a word of health."""
    job = Job({WORLD: list(range(3))}, {rank: loop(BODY, 6) for rank in range(3)})
    case = case_of(job, lost=(1,))
    seen = Witnesses(case).stack(1, IN_ALL_REDUCE).case
    assert "no_hang" not in {verdict.cause for verdict in diagnose(seen).verdicts}
    # Also where the stacks are told to be older than the dumps, and so are not believed.
    found = nothing_waits(gather(seen))
    assert found.cause == "undetermined"
    assert "rank 1 left none" in found.sentence
    (unseen,) = diagnose(case_of(job, lost=(1,), waited_s=0.5)).verdicts
    assert unseen.cause == "no_hang", "the job was at work until its dumps were written"
