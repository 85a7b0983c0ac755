"""`host_blocked`: a rank's process stands somewhere and does not come to the call."""

from __future__ import annotations

import polars as pl
import pytest
from msgspec.structs import replace
from support.reason import absent_rank, lost_dumps, no_dumps
from support.reason.building import WORLD, Call, Job, Step, Stop, case_of, loop
from support.reason.witnesses import (
    IN_ALL_REDUCE,
    IN_LOADER,
    LEAVING,
    Witnesses,
    at,
    best,
    blamed,
)

from rankandfile.model.code_read import CodeRead
from rankandfile.model.diagnosis import Verdict
from rankandfile.reason import diagnose, gather
from rankandfile.reason.conclusion import conclude
from rankandfile.reason.ranks.missing_dumps import reasons


def holding(file: str) -> Witnesses:
    witnesses = lost_dumps.lost().stack(2, [("spin", file, 0), *at(41, "check")])
    snapshots = witnesses.case.snapshots.with_columns(owns_gil=pl.lit(True))
    witnesses.case = replace(witnesses.case, snapshots=snapshots)
    return witnesses


def test_native_code_that_keeps_the_interpreters_lock() -> None:
    reason = reasons(gather(holding("/opt/app/kernels.so").case), [2])[2]
    assert (reason.why, reason.evidence[0][0]) == ("gil", "S")
    assert "which spin holds" in reason.words


def test_python_code_gives_the_lock_away() -> None:
    assert reasons(gather(holding("/workspace/data.py").case), [2])[2].why == "unknown"


def test_who_does_not_answer_the_debug_server_may_lack_the_lock() -> None:
    witnesses = lost_dumps.lost().stack(0, LEAVING)
    files = witnesses.case.stack_files.with_columns(unanswered=pl.lit([2], dtype=pl.List(pl.Int32)))
    witnesses.case = replace(witnesses.case, stack_files=files)
    reason = reasons(gather(witnesses.case), [2])[2]
    assert reason.why == "gil"
    assert "did not answer" in reason.words


def settings(verdict: Verdict) -> str:
    return " ".join(m.how for m in verdict.missing_evidence)


def test_who_is_behind_by_its_own_counters() -> None:
    verdict = best(no_dumps.all_gave_up(besides=(1,)).answered(1, 8, group="default_pg"))
    assert (verdict.cause, blamed(verdict)) == ("host_blocked", [1])
    assert verdict.sentence.startswith(
        "Ranks 0, 2 and 3 wait in the all_reduce (group default_pg [0-3], seq 9). Rank 1 had come to seq 8"
    )
    assert "TORCH_FR_BUFFER_SIZE" in settings(verdict)
    assert "TORCH_FR_DUMP_TEMP_FILE" in settings(verdict)
    assert len(verdict.missing_evidence) == 2


def test_a_monitored_barrier_names_who_did_not_come() -> None:
    witnesses = no_dumps.nothing().stack(2, at(10, "compress", "/workspace/archive.py"))
    witnesses.event("monitored_barrier", "messenger", 0, group_rank=0, about=[2], timeout_ms=2000)
    verdict = best(witnesses)
    assert (verdict.cause, blamed(verdict)) == ("host_blocked", [2])


def test_a_monitored_barrier_of_a_group_counts_in_the_group() -> None:
    """Writer 3 is the first of its group; which rank is its second, the line does not say."""
    witnesses = no_dumps.nothing().event("monitored_barrier", "messenger", 3, group_rank=0, about=[1])
    assert blamed(best(witnesses)) == []


def test_one_behind_and_one_that_raised() -> None:
    """Of the one that raised no watchdog speaks: that is no reason to give up on the other."""
    witnesses = (
        no_dumps.all_gave_up(besides=(1, 3)).answered(1, 8, group="default_pg").raised(3, "OSError: x")
    )
    verdict = best(witnesses)
    assert (verdict.cause, blamed(verdict)) == ("host_blocked", [1])


def test_a_stack_in_the_data_loader() -> None:
    verdict = best(absent_rank.absent().stack(2, IN_LOADER, IN_LOADER))
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("host_blocked", "supported", [2])
    doing = verdict.culprits[0].doing
    assert doing == "in queue.get ← next(loader), data.py:31, the same in 2 snapshots"
    assert verdict.location is not None
    assert (verdict.location.file, verdict.location.line) == ("/workspace/data.py", 31)
    assert "S1:1" in verdict.evidence
    assert [a.cause for a in verdict.alternatives] == ["host_slow"]


def test_the_programs_own_line_is_enough_where_the_dump_shows_no_call() -> None:
    assert best(absent_rank.absent().stack(2, at(10))).cause == "host_blocked"


def test_the_programs_own_line_is_not_enough_without_a_dump() -> None:
    """A wait for others, made in C, leaves no frame."""
    verdict = best(absent_rank.lost().stack(2, at(10), at(10), running=False))
    assert (verdict.cause, blamed(verdict)) == ("undetermined", [])


def test_without_a_dump_a_process_that_computes_waits_for_nobody() -> None:
    verdict = best(absent_rank.lost().stack(2, at(10), at(10), running=True))
    assert (verdict.cause, blamed(verdict)) == ("host_blocked", [2])


def test_a_thread_that_died_is_said_beside_the_wait() -> None:
    witnesses = (
        absent_rank.absent().raised(2, "ValueError: bad label", thread="Thread-3 (fill)").stack(2, IN_LOADER)
    )
    verdict = best(witnesses)
    assert verdict.cause == "host_blocked"
    assert "its thread Thread-3 (fill) had died of ValueError: bad label" in verdict.sentence


def test_alive_and_silent_is_held_up_somewhere() -> None:
    verdict = best(absent_rank.absent().exit(2, "SIGTERM").answered(2, 8))
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("host_blocked", "supported", [2])
    assert "raised" in [a.cause for a in verdict.alternatives]


def everybody(witnesses: Witnesses, *stopped: int) -> Witnesses:
    for rank in range(4):
        witnesses.exit(rank, "stopped" if rank in stopped else "running")
    return witnesses


def test_a_stopped_process_never_comes_to_the_call() -> None:
    verdict = best(everybody(absent_rank.absent(), 2).stack(2, at(10)))
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("host_blocked", "established", [2])
    doing = verdict.culprits[0].doing or ""
    assert doing.startswith(
        "stopped by a signal, since 08:00:00 UTC or before (kill -CONT 1002 lets it go on)"
    )
    assert "load, data.py:10" in doing and {"X2", "S0:1"} <= set(verdict.evidence)


def test_a_stopped_process_ends_no_call_that_it_has_joined() -> None:
    verdict = best(everybody(Witnesses(case_of(absent_rank.stalled())), 1))
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("host_blocked", "supported", [1])


def test_who_waits_for_another_is_no_culprit_for_being_stopped() -> None:
    verdict = best(everybody(absent_rank.absent(), 0).stack(2, IN_LOADER, IN_LOADER))
    assert (verdict.cause, blamed(verdict)) == ("host_blocked", [2])
    assert "stopped by a signal" not in verdict.sentence


def test_a_job_that_is_stopped_as_a_whole_hangs_for_nobodys_fault() -> None:
    assert blamed(best(everybody(Witnesses(case_of(absent_rank.stalled())), 0, 1, 2, 3))) == []


def test_the_trail_ends_in_two_places_and_one_of_them_is_certain() -> None:
    """gloo, two pairs: one waits for a rank in a full queue, the other for one whose line tells nothing."""
    body: dict[int, list[Step]] = {
        rank: [Call("a" if rank < 2 else "b", "all_reduce", 64, "tp.py:3")] for rank in range(4)
    }
    programs = {rank: loop(body[rank], 6) for rank in range(4)}
    for rank in (1, 3):
        programs[rank] = [*loop(body[rank], 4), Stop()]
    case = case_of(Job({"a": [0, 1], "b": [2, 3]}, programs, backend="gloo"))
    diagnosis = diagnose(Witnesses(case).stack(1, IN_LOADER).stack(3, at(10), running=False).case)
    assert {c.rank for v in diagnosis.verdicts for c in v.culprits} == {1}


BODY: list[Step] = [
    Call(WORLD, "broadcast", 8, "trainer.py:61"),
    Call(WORLD, "all_reduce", 64, "trainer.py:63"),
]


def holds_the_lock(asked: bool = False, format: str = "ring", last: int = 8) -> Witnesses:
    """Rank 2 computes after its 8th call; nobody asked for the end of that one. The others are in the 9th."""
    programs = {rank: loop(BODY, 6) for rank in range(4)}
    programs[2] = [*loop(BODY, 6)[:last], Stop()]
    case = case_of(Job({WORLD: [0, 1, 2, 3]}, programs, backend="gloo"))
    open_one = (pl.col("rank") == 2) & (pl.col("seq") == last) & (not asked)
    calls = case.calls.with_columns(
        pl.when(open_one).then(pl.lit("issued")).otherwise(
            pl.when(pl.col("state") == "ended").then(pl.lit("completed")).otherwise(pl.col("state"))
        ).cast(case.calls.schema["state"]).alias("state"),
        pl.when(open_one).then(False).otherwise("retired").alias("retired"),
    )  # fmt: skip
    dumps = case.dumps.with_columns(pl.lit(format).alias("format"), pl.lit("gloo").alias("backend"))
    return Witnesses(replace(case, calls=calls, dumps=dumps))


@pytest.mark.parametrize("asked", [True, False])
def test_who_holds_the_lock_is_named_whether_or_not_somebody_asked(asked: bool) -> None:
    verdict = best(holds_the_lock(asked).stack(2, at(10), at(10), running=True))
    assert (verdict.cause, blamed(verdict)) == ("host_blocked", [2]), verdict.sentence


def test_who_stands_in_the_call_waits_in_it() -> None:
    assert blamed(best(holds_the_lock().stack(2, IN_ALL_REDUCE, IN_ALL_REDUCE))) == []


def test_torchs_own_recorder_does_not_depend_on_the_lock() -> None:
    assert blamed(best(holds_the_lock(format="pickle").stack(2, at(10), at(10), running=True))) == []


def test_who_is_held_behind_its_own_last_call_of_that_line_has_not_gone_past_the_next() -> None:
    """A frame is handed over after each step, and all report after each third: rank 2's queue is full."""
    advance, report = (
        Call(WORLD, "all_gather", 40, "world.py:20"),
        Call(WORLD, "all_reduce", 1, "world.py:22"),
    )
    steps: list[Step] = [advance, advance, advance, report]
    programs: dict[int, list[Step]] = {rank: [*loop(steps, 5), advance, advance] for rank in range(4)}
    programs[2] = [*loop(steps, 5), advance, Stop()]
    witnesses = Witnesses(case_of(Job({WORLD: [0, 1, 2, 3]}, programs, backend="gloo"), waited_s=700))
    for rank in (0, 1, 3):
        witnesses.stack(
            rank,
            [
                ("all_gather", "/opt/torch/distributed/distributed_c10d.py", 3252),
                *at(20, "step", "/workspace/world.py"),
            ],
        )
    held = [("wait", "/usr/lib/python3.11/threading.py", 327), ("put", "/usr/lib/python3.11/queue.py", 140)]
    verdict = best(witnesses.stack(2, [*held, *at(22, "step", "/workspace/world.py")]))
    assert (verdict.cause, blamed(verdict)) == ("host_blocked", [2])


@pytest.mark.parametrize(("senders", "named"), [((0, 1), [3]), ((0, 1, 3), [])])
def test_in_code_of_its_own_is_held_who_is_in_no_transfer_either(
    senders: tuple[int, ...], named: list[int]
) -> None:
    """gloo keeps no sends and receives, but counts them: rank 3 makes none, or may be in one."""
    body: list[Step] = [Call(WORLD, "all_reduce", 64, "a.py:5"), Call(WORLD, "all_gather", 1, "a.py:9")]
    programs: dict[int, list[Step]] = {rank: loop(body, 6) for rank in range(4)}
    programs[3] = [*loop(body, 4), Stop()]
    case = case_of(Job({WORLD: [0, 1, 2, 3]}, programs, backend="gloo"))
    transfers = pl.when(pl.col("rank").is_in(senders)).then(pl.col("seq") * 3).otherwise(pl.col("seq"))
    case = replace(case, calls=case.calls.with_columns(op_id=transfers))
    held = [("parse", "/workspace/data.py", 9), ("main", "/workspace/train.py", 8)]
    assert blamed(best(Witnesses(case).stack(3, held, held))) == named


def test_who_made_no_recorded_call_yet_may_wait_in_transfers_like_the_others() -> None:
    """Two ranks mix with their neighbours still, and the others are in the first collective behind that."""
    last: list[Step] = [Call(WORLD, "all_gather", 8, "sgd.py:49")]
    programs: dict[int, list[Step]] = {rank: last if rank % 2 == 0 else [Stop()] for rank in range(4)}
    case = case_of(Job({WORLD: [0, 1, 2, 3]}, programs, backend="gloo"))
    case = replace(case, calls=case.calls.with_columns(op_id=pl.lit(89)))
    verdict = best(Witnesses(case).stack(1, at(23, "mix")).stack(3, at(23, "mix")))
    assert blamed(verdict) == [] and "which gloo does not record" in verdict.sentence


@pytest.mark.parametrize("others_wait", [True, False])
def test_who_waits_for_a_key_of_the_store_that_nobody_is_left_to_set_is_held_there(others_wait: bool) -> None:
    """A call may be pending on a device while its host does something else, as to set the key."""
    told = absent_rank.absent().stack(2, [("extended", "/workspace/borders.py", 26)])
    for rank in absent_rank.OTHERS:
        told.stack(rank, IN_ALL_REDUCE if others_wait or rank else IN_LOADER)
    code = CodeRead(lines={("/workspace/borders.py", 26): "head = self.store.get(self.name(month + 1))"})
    verdict = conclude(gather(told.case, code=code)).verdicts[0]
    held = [one for one in verdict.culprits if one.doing and "nobody is left who could set" in one.doing]
    assert ([one.rank for one in held] == [2]) is others_wait, verdict.sentence
    assert any("left out setting" in one.sentence for one in verdict.alternatives) is others_wait


@pytest.mark.parametrize(
    ("line", "store"),
    [("self.store.get(key)", True), ("tcp_store.wait([key])", True), ("self.feature_store.get(user)", False)],
)
def test_a_store_of_features_is_none_of_the_jobs(line: str, store: bool) -> None:
    told = absent_rank.absent().stack(2, [("extended", "/workspace/borders.py", 26)])
    facts = gather(told.case, code=CodeRead(lines={("/workspace/borders.py", 26): line}))
    assert (facts.hosts[2].op == "store") is store
