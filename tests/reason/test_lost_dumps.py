"""Ranks without a dump: what their watchdogs' counters stand in for, and why the dump is not there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest
from msgspec.structs import replace
from support.reason.building import SECOND, START, WORLD, Call, Job, Step, Stop, case_of, loop
from support.reason.lost_dumps import BODY, lost
from support.reason.witnesses import (
    C10D,
    IN_ALL_REDUCE,
    IN_BARRIER,
    LEAVING,
    Frame,
    Witnesses,
    at,
    best,
    blamed,
    suspected,
)

from rankandfile.model.diagnosis import Verdict
from rankandfile.model.ledger import NOBODYS
from rankandfile.reason import diagnose, gather
from rankandfile.reason.explain import explain
from rankandfile.reason.ranks.missing_dumps import absent_ranks, reasons


def test_counters_prove_that_it_is_behind() -> None:
    verdict = best(lost().answered(2, 8))
    assert blamed(verdict) == [2]
    assert verdict.divergence is not None
    assert (verdict.divergence.seq, verdict.divergence.kind) == (9, "absent")


def test_counters_prove_that_it_has_joined() -> None:
    """A dump that was lost is not a rank that never came: its own watchdog gave up on the same call."""
    verdict = best(lost().gave_up(2, 9))
    assert blamed(verdict) == []
    assert "left no complete dump" not in verdict.sentence


def test_counters_of_a_group_that_also_sends_say_nothing() -> None:
    """Sends and receives count apart, and a line does not say which of the two counters it means."""
    pair: list[Step] = [Call(WORLD, "send", 4, "pipe.py:5", peer=1)]
    other: list[Step] = [Call(WORLD, "recv", 4, "pipe.py:9", peer=0)]
    programs = {rank: loop(BODY, 6) for rank in range(4)}
    programs[0], programs[1] = [*pair, *programs[0]], [*other, *programs[1]]
    programs[2] = [*loop(BODY, 4), Stop()]
    witnesses = Witnesses(case_of(Job({WORLD: [0, 1, 2, 3]}, programs), lost=[2])).answered(2, 8)
    assert blamed(best(witnesses)) == []


def test_a_cut_dump_is_made_whole_by_counters() -> None:
    programs = {rank: loop(BODY, 6) for rank in range(4)}
    programs[2] = [*loop(BODY, 4), Stop()]
    case = case_of(Job({WORLD: [0, 1, 2, 3]}, programs), truncated=[2])
    assert blamed(best(Witnesses(case))) == []
    assert blamed(best(Witnesses(case).answered(2, 8))) == [2]


def all_cut() -> Witnesses:
    """Every file ends early: of the call that three ranks wait in nothing is left."""
    programs = {rank: loop(BODY, 6) for rank in range(4)}
    programs[2] = [*loop(BODY, 4), Stop()]
    return Witnesses(case_of(Job({WORLD: [0, 1, 2, 3]}, programs), truncated=range(4)))


def test_cut_dumps_in_which_nothing_waits_are_no_sign_of_health() -> None:
    verdict = best(all_cut())
    assert (verdict.hang, verdict.cause, suspected(verdict)) == (None, "undetermined", [])
    assert "the dumps of ranks 0-3 end early" in verdict.sentence
    assert any("py-spy dump" in one.how for one in verdict.missing_evidence)


def test_the_counters_of_cut_dumps_tell_who_is_behind() -> None:
    told = all_cut().counted(2, 8, 8)
    for rank in (0, 1, 3):
        told.counted(rank, 9, 8)
    verdict = best(told)
    assert (verdict.hang, blamed(verdict), suspected(verdict)) == (None, [], [2])
    assert "ranks 0, 1 and 3 had made call #9, which had not ended" in verdict.sentence
    assert "the last call of rank 2 was #8, and had ended" in verdict.sentence


def test_a_cut_dump_of_another_moment_is_not_behind() -> None:
    """The others have ended calls that it has not made: its dump was taken before theirs."""
    told = all_cut().counted(2, 1000, 1000)
    for rank in (0, 1, 3):
        told.counted(rank, 1037, 1036)
    verdict = best(told)
    assert (blamed(verdict), suspected(verdict)) == ([], [])


def test_counters_of_cut_dumps_suspect_no_majority() -> None:
    """One rank that made a call more is no sign against all others."""
    told = all_cut().counted(2, 9, 8)
    for rank in (0, 1, 3):
        told.counted(rank, 8, 8)
    assert suspected(best(told)) == []


def test_a_counter_that_lags_behind_its_own_calls_tells_of_no_open_one() -> None:
    programs = {rank: loop(BODY, 6) for rank in range(4)}
    told = Witnesses(case_of(Job({WORLD: [0, 1, 2, 3]}, programs), truncated=[1])).counted(0, 12, 11)
    verdict = best(told.counted(1, 12, 12).counted(2, 11, 11))
    assert told.case.calls.filter(pl.col("rank") == 0)["seq"].max() == 12
    assert (verdict.hang, suspected(verdict)) == (None, [])
    assert "By the counters" not in verdict.sentence


def test_a_job_that_ended_well_did_so_whatever_its_files_lost() -> None:
    told = all_cut()
    for rank in range(4):
        told.exit(rank, 0)
    assert best(told).cause == "no_hang"


@pytest.mark.parametrize(
    ("why", "words", "tell"),
    [
        ("died", "was killed by SIGKILL", lambda w: w.exit(2, "SIGKILL")),
        ("died", "exited with code 0", lambda w: w.exit(2, 0)),
        ("teardown", "stuck in its teardown", lambda w: w.stack(2, LEAVING)),
        ("teardown", "raised KeyError: -100", lambda w: w.raised(2, "KeyError: -100").exit(2, "SIGTERM")),
        ("gil", "interpreter's lock", lambda w: w.event("gil_not_acquired", "fact", 2)),
        ("late", "still writing", lambda w: w.event("dump_late", "fact", 2)),
        ("not_collected", "written to /tmp/x_2", lambda w: w.event("dump_written", "fact", 2, path="/tmp/x_2")),
        ("not_collected", "began to write", lambda w: w.event("dump_started", "fact", 2)),
        ("unreachable", "its host node01 failed", lambda w: _node_failed(w)),
        ("unknown", "nothing tells", lambda w: w),
    ],
)  # fmt: skip
def test_why_a_dump_is_missing(why: str, words: str, tell: object) -> None:
    witnesses = lost()
    assert callable(tell)
    tell(witnesses)
    facts = gather(witnesses.case)
    assert absent_ranks(facts) == [2]
    reason = reasons(facts, [2])[2]
    assert reason.why == why
    assert words in reason.words
    for evidence in reason.evidence:
        assert witnesses.case.evidence(evidence) is not None
    missing = diagnose(witnesses.case).verdicts[0].missing_evidence
    assert any(words in m.what for m in missing)


def _node_failed(witnesses: Witnesses) -> None:
    witnesses.event("slurm_node_failure", "fact", None, host="node01")
    exits = witnesses.exit(2, "running").case.exits.with_columns(host=pl.lit("node01"))
    witnesses.case = replace(witnesses.case, exits=exits)


def test_cut_and_set_aside() -> None:
    programs = {rank: loop(BODY, 6) for rank in range(4)}
    job = Job({WORLD: [0, 1, 2, 3]}, programs, stalled=frozenset({(WORLD, 11)}))
    facts = gather(case_of(job, truncated=[1]))
    assert reasons(facts, [1])[1].why == "truncated"
    case = case_of(job)
    stale = pl.when(pl.col("rank") == 1).then(pl.lit("an earlier attempt")).alias("set_aside")
    facts = gather(replace(case, dumps=case.dumps.with_columns(stale)))
    assert reasons(facts, [1])[1].words == "its file was set aside: an earlier attempt"
    assert explain(facts, 1).lines[0].startswith("Rank 1 is not seen: its file was set aside")


def test_a_dump_that_is_set_aside_is_not_said_to_be_missing() -> None:
    programs = {rank: loop(BODY, 6) for rank in range(4)}
    for stalled in (frozenset({(WORLD, 11)}), frozenset[tuple[str, int]]()):
        whole = case_of(Job({WORLD: [0, 1, 2, 3]}, programs, stalled=stalled), lost=[3], waited_s=700.0)
        copies = pl.when(pl.col("rank").is_in([1, 2])).then(pl.lit(f"ranks 1,2 {NOBODYS}")).alias("set_aside")
        kept = whole.calls.filter(~pl.col("rank").is_in([1, 2]))
        verdict = diagnose(replace(whole, calls=kept, dumps=whole.dumps.with_columns(copies))).verdicts[0]
        said = verdict.sentence.lower()
        assert "the dumps of ranks 1 and 2 are set aside" in said and "rank 3 left no" in said
        assert "every recorded call" not in said
        for one in verdict.missing_evidence if stalled else ():
            assert (
                "rank 1" not in one.what.split(":")[0] or "all of these files but one are copies" in one.how
            )


def test_a_dump_whose_rank_nothing_tells_may_be_the_missing_one() -> None:
    case = lost().case
    nobodys = case.dumps.tail(1).with_columns(
        pl.lit(99).cast(case.dumps["dump"].dtype).alias("dump"),
        pl.lit(None).cast(case.dumps["rank"].dtype).alias("rank"),
        pl.lit("nothing tells its rank").alias("set_aside"),
    )
    case = replace(case, dumps=pl.concat([case.dumps, nobodys]))
    reason = reasons(gather(case), [2])[2]
    assert (reason.why, reason.words) == ("unnamed", "the dump of which nothing tells the rank may be its")
    missing = diagnose(case).verdicts[0].missing_evidence
    assert any("may be its" in one.what and "nccl_trace_rank_3" in one.how for one in missing)


def test_explain_says_why_a_rank_is_not_seen() -> None:
    facts = gather(lost().event("dump_late", "fact", 2).case)
    lines = explain(facts, 2).lines
    assert lines[0].startswith("Rank 2 left no dump: it was still writing when its time was up.")


def test_explain_blames_a_rank_without_a_dump_where_its_end_is_known() -> None:
    explanation = explain(gather(lost().exit(2, "SIGKILL").case), 2)
    assert explanation.role == "culprit"


def looked_at(without_stacks: list[int]) -> Witnesses:
    """All processes were found alive, and the stacks taken of all but some."""
    witnesses = lost()
    for rank in range(4):
        witnesses.exit(rank, "running")
        if rank not in without_stacks:
            witnesses.stack(rank, IN_ALL_REDUCE)
    return witnesses


def test_a_living_process_that_gave_neither_dump_nor_stack_as_all_others_did_stands_still() -> None:
    verdict = best(looked_at([2]))
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("host_blocked", "supported", [2])
    assert "neither a dump nor a stack" in verdict.sentence


@pytest.mark.parametrize(
    "without", [[], [2, 3]], ids=["its stack is here", "others were not looked at either"]
)
def test_a_lost_dump_of_a_living_process_alone_blames_nobody(without: list[int]) -> None:
    assert blamed(best(looked_at(without))) == []


def on_hosts(witnesses: Witnesses, hosts: dict[int, str]) -> Witnesses:
    for rank in hosts:
        witnesses.exit(rank, "running")
    named = pl.col("rank").replace_strict(hosts, default=None, return_dtype=pl.String)
    witnesses.case = replace(witnesses.case, exits=witnesses.case.exits.with_columns(host=named))
    return witnesses


def two_lost() -> Witnesses:
    programs = {rank: loop(BODY, 6) for rank in range(4)}
    stalled = frozenset({(WORLD, 11)})
    return Witnesses(case_of(Job({WORLD: [0, 1, 2, 3]}, programs, stalled=stalled), lost=[2, 3]))


def test_a_whole_host_is_missing() -> None:
    facts = gather(on_hosts(two_lost(), {0: "node01", 1: "node01", 2: "node02", 3: "node02"}).case)
    found = reasons(facts, [2, 3])
    assert {reason.why for reason in found.values()} == {"not_collected"}
    assert "none of the 2 dumps of host node02" in found[2].words


def test_some_of_a_host_are_missing() -> None:
    facts = gather(on_hosts(two_lost(), {0: "node01", 2: "node01", 1: "node02", 3: "node02"}).case)
    assert {reason.why for reason in reasons(facts, [2, 3]).values()} == {"unknown"}


def test_a_rank_that_was_ended_before_it_wrote() -> None:
    reason = reasons(gather(lost().exit(2, "SIGTERM").case), [2])[2]
    assert (reason.why, reason.evidence) == ("ended", ("X0",))
    assert "ended from outside by SIGTERM" in reason.words


def test_a_rank_of_no_group_has_no_part_in_the_job() -> None:
    programs = {rank: loop(BODY, 6) for rank in range(4)}
    case = case_of(Job({WORLD: [0, 1, 2, 3]}, programs, stalled=frozenset({(WORLD, 11)})))
    facts = gather(replace(case, world_size=5))
    assert reasons(facts, [4])[4].why == "no_part"
    assert not any("rank 4" in missing.what for missing in diagnose(facts.case).verdicts[0].missing_evidence)


def one_elsewhere(*stacks: int) -> Witnesses:
    """Ranks 0, 1 and 3 are in an all_reduce, rank 2 in a barrier; nothing is recorded of rank 0, and no frames."""
    programs = {rank: loop(BODY, 6) for rank in range(4)}
    programs[2] = [*loop(BODY, 4), Call(WORLD, "barrier", 1, "parallel.py:52")]
    case = case_of(Job({WORLD: [0, 1, 2, 3]}, programs, backend="gloo"), lost=[0])
    bare = case.calls.with_columns(*(pl.lit(None, case.calls.schema[c]).alias(c) for c in ("site", "stack")))
    witnesses = Witnesses(replace(case, calls=bare))
    for rank in stacks:
        witnesses.stack(rank, IN_BARRIER if rank == 2 else IN_ALL_REDUCE)
    return witnesses


def test_whoever_stands_where_others_wait_is_one_of_them() -> None:
    verdict = best(one_elsewhere(0, 1, 2, 3))
    assert blamed(verdict) == [2]
    assert verdict.victims == "0,1,3"
    assert [wait.ranks for wait in verdict.waits] == ["0,1,3", "2"]


def test_nobody_is_said_to_be_waited_for_because_nothing_is_known_of_it() -> None:
    verdict = best(one_elsewhere(1, 2, 3))
    assert blamed(verdict) == []
    assert not any(wait.waits_for for wait in verdict.waits)
    assert verdict.divergence is not None
    assert {c.ranks: c.unknown for c in verdict.divergence.cohorts}["0"]


def in_a_circle(group: str) -> Verdict:
    """Ranks 0, 1 and 3 wait in a call of one group, by their dumps; rank 2 in one of another group, by its log: all of
    them from the same line. Who belongs to the groups is not recorded."""
    program: list[Step] = [
        Call("p", "all_reduce", 64, "comm.py:17"),
        Call("q", "all_reduce", 64, "comm.py:17"),
    ]
    programs = {rank: [*loop(program, 3), program[0]] for rank in range(4)}
    job = Job({"p": [0, 1, 2, 3], "q": [0, 1, 2, 3]}, programs, backend="gloo", stalled=frozenset({("p", 4)}))
    case = case_of(job, lost=[2])
    seen = case.groups.with_columns(
        members=pl.lit([0, 1, 3], pl.List(pl.Int32)), members_from=pl.lit("inferred")
    )
    witnesses = Witnesses(
        replace(case, groups=seen.cast({"members_from": case.groups["members_from"].dtype}))
    )
    for rank in range(4):
        witnesses.stack(rank, [("all_reduce", C10D, 3252), ("step", "/workspace/comm.py", 17)])
    return best(witnesses.gave_up(2, 4, group=group))


def test_who_waits_in_another_group_for_those_that_wait_may_be_the_one_they_wait_for() -> None:
    verdict = in_a_circle("q")
    assert verdict.cause != "network_stalled" and "in no recorded call" not in verdict.sentence, (
        verdict.sentence
    )
    assert blamed(verdict) in ([], [2])


def in_a_call_of_its_own(body: list[Step], frames: list[Frame], groups: dict[str, list[int]]) -> Verdict:
    """Ranks 0, 1 and 3 are in an all_reduce, for which rank 2 has not come; its dump is lost, its stack is here."""
    programs = {rank: [*loop(body, 4), BODY[0]] for rank in range(4)}
    programs[2] = [*loop(body, 4), Stop()]
    witnesses = Witnesses(case_of(Job(groups, programs), lost=[2]))
    for rank in (0, 1, 3):
        witnesses.stack(rank, IN_ALL_REDUCE)
    return best(witnesses.stack(2, frames))


EVERYONE = {WORLD: [0, 1, 2, 3]}
IN_METRICS: list[Frame] = [("all_gather", C10D, 3300), ("gathered", "/workspace/metrics.py", 11)]
IN_METRICS_NEW: list[Frame] = [("all_gather", C10D, 3300), ("sizes", "/workspace/metrics.py", 77)]
IN_SCATTER: list[Frame] = [("broadcast", C10D, 3151), ("share", "/workspace/weights.py", 7)]
SHARES = Call(WORLD, "broadcast", 8, "weights.py:7")


@pytest.mark.parametrize(("frames", "what"), [(IN_BARRIER, "parallel.py:52"), (IN_METRICS, "metrics.py:11")])
def test_whose_dump_is_lost_is_in_the_call_in_which_its_stack_stands(frames: list[Frame], what: str) -> None:
    verdict = in_a_call_of_its_own(BODY, frames, EVERYONE)
    assert blamed(verdict) == [2]
    assert what in verdict.sentence and "left no complete dump" not in verdict.sentence
    assert verdict.divergence is not None and verdict.divergence.seq == 9


def test_whoever_leaves_by_a_context_manager_of_the_whole_program_left_early() -> None:
    leaving: list[Frame] = [("barrier", C10D, 5356), ("__exit__", "/workspace/session.py", 38)]
    around: list[Frame] = [(f"step{n}", "/workspace/steps.py", n) for n in range(3)]
    assert in_a_call_of_its_own(BODY, leaving, EVERYONE).cause == "early_exit"
    # A timer's is left at each step.
    assert in_a_call_of_its_own(BODY, [*leaving, *around], EVERYONE).cause == "extra_collective"


def test_a_call_of_another_group_and_one_that_others_are_past_tell_nothing_of_whose_dump_is_lost() -> None:
    pairs = {**EVERYONE, "pair": [0, 1, 2, 3]}
    in_pairs: list[Step] = [BODY[0], Call("pair", "all_gather", 8, "metrics.py:11")]
    assert blamed(in_a_call_of_its_own(in_pairs, IN_METRICS, pairs)) == []
    # A call that nobody else made may be of a smaller group, whose other member left it out.
    assert blamed(in_a_call_of_its_own(BODY, IN_METRICS_NEW, {**EVERYONE, "pair": [0, 2]})) == []
    # The root of a broadcast goes on at once: who receives may be in it still when others are in the next call.
    assert blamed(in_a_call_of_its_own([*BODY, SHARES], IN_SCATTER, EVERYONE)) == []
    assert blamed(in_a_call_of_its_own([SHARES, *BODY], IN_SCATTER, EVERYONE)) == [2]


def test_whose_dump_is_lost_is_not_said_to_have_made_no_call() -> None:
    """Rank 3 is in a call of its own; by its log it has not come to the one of all ranks that 0 and 1 wait in."""
    groups = {**EVERYONE, "left": [0, 1], "right": [2, 3]}
    part = {rank: Call("left" if rank < 2 else "right", "all_reduce", 32, "expert.py:9") for rank in range(4)}
    programs: dict[int, list[Step]] = {rank: [*[part[rank], BODY[0]] * 5, part[rank]] for rank in range(4)}
    for rank in (0, 1):
        programs[rank] = [*programs[rank], BODY[0]]
    programs[3] = [*programs[3][:-1], Stop()]
    case = case_of(Job(groups, programs, backend="gloo"), lost=[3])
    inferred = case.groups.with_columns(
        members=pl.when(pl.col("name") == "right").then(pl.lit([2], pl.List(pl.Int32))).otherwise("members"),
        members_from=pl.when(pl.col("group") > 0).then(pl.lit("inferred")).otherwise("members_from"),
    )
    inferred = inferred.cast({"members_from": case.groups["members_from"].dtype})
    witnesses = Witnesses(replace(case, groups=inferred))
    for rank in (0, 1):
        witnesses.stack(rank, IN_ALL_REDUCE)
    witnesses.stack(3, [("all_gather", C10D, 3300), ("resize", "/workspace/expert.py", 26)])
    verdict = best(witnesses.answered(3, 5))
    assert "no call at all" not in verdict.sentence and "may still be in" not in verdict.sentence
    assert blamed(verdict) == [3]
    assert "never issued the all_reduce at trainer.py:63" in verdict.sentence, verdict.sentence


def test_a_stack_of_before_tells_nothing_of_the_call() -> None:
    """Rank 2 died since somebody looked; or its log counts calls behind the one that the others wait in."""

    def after(tell: Callable[[Witnesses], object]) -> Verdict:
        programs = {rank: [*loop(BODY, 4), BODY[0]] for rank in range(4)}
        programs[2] = [*loop(BODY, 4), Stop()]
        witnesses = Witnesses(case_of(Job(EVERYONE, programs), lost=[2]))
        for rank in (0, 1, 3):
            witnesses.stack(rank, IN_ALL_REDUCE)
        tell(witnesses.stack(2, IN_METRICS))
        return best(witnesses)

    assert "metrics.py:11" in after(lambda _: None).sentence
    assert after(lambda w: w.exit(2, "SIGKILL")).cause == "killed"
    assert "metrics.py:11" not in after(lambda w: w.answered(2, 12)).sentence


def test_of_two_calls_made_by_one_way_nothing_tells_in_which_a_rank_without_a_dump_is() -> None:
    """The root of the 4th broadcast went on to the 5th, from the same line; rank 1 is in the 4th still."""
    share = Call(WORLD, "broadcast", 9, "refresh.py:24")
    programs: dict[int, list[Step]] = {
        0: [*[share] * 3, share._replace(early=True), share],
        1: [share] * 4,
        2: [*[share] * 3, Stop()],
    }
    witnesses = Witnesses(case_of(Job({WORLD: [0, 1, 2]}, programs, backend="gloo"), lost=[2]))
    for rank in range(3):
        witnesses.stack(rank, [("broadcast", C10D, 3151), ("refresh", "/workspace/refresh.py", 24)])
    verdict = best(witnesses)
    assert len(verdict.waits) == 2 and not any("2" in wait.ranks.split(",") for wait in verdict.waits)


IN_ANOTHER: list[Frame] = [("all_reduce", C10D, 3252), ("mean_of", "/workspace/metrics.py", 39)]
IN_A_WRONG_ONE: list[Frame] = [("broadcast", C10D, 2900), ("keep", "/workspace/keeper.py", 20)]
MEAN = Call(WORLD, "all_reduce", 1, "metrics.py:39")
WAITS: list[Frame] = [("all_reduce", C10D, 3252), ("step", "/workspace/trainer.py", 63)]


def in_places(of_two: list[Frame], body: list[Step] = BODY, waited_s: float = 700.0) -> Witnesses:
    """All were looked at once; three stand in the call that their dumps have open, and the dump of rank 2 is lost."""
    programs = {rank: loop(body, 4) + body[:1] for rank in range(4)}
    programs[2] = [*loop(body, 4), Stop()]
    told = Witnesses(case_of(Job({WORLD: [0, 1, 2, 3]}, programs), lost=[2], waited_s=waited_s))
    for rank in (0, 1, 3):
        told.stack(rank, WAITS)
    return told.stack(2, of_two)


@pytest.mark.parametrize(
    ("elsewhere", "body"), [(IN_A_WRONG_ONE, BODY), (IN_ANOTHER, [*BODY[:1], MEAN, *BODY[1:]])]
)
def test_where_it_stands_tells_of_whom_all_others_lack_a_call(
    elsewhere: list[Frame], body: list[Step]
) -> None:
    """One look says nothing of a hang; that the others' calls have waited for too long, their dumps say."""
    verdict = best(in_places(elsewhere, body))
    assert (blamed(verdict), verdict.confidence, verdict.hang) == ([2], "supported", True)


@pytest.mark.parametrize(
    "stands",
    [
        # As many of its own as of the others: where it always makes this call from, nobody recorded.
        IN_ANOTHER,
        # Its host waits for the device, in whatever call that is.
        [("synchronize", "/venv/torch/cuda/__init__.py", 800), ("log", "/workspace/logs.py", 7)],
        WAITS,
    ],
)
def test_a_line_that_nobody_recorded_and_a_wait_for_a_device_are_no_other_call(stands: list[Frame]) -> None:
    assert blamed(best(in_places(stands))) == []


def test_a_stack_from_before_the_others_came_there_is_no_witness() -> None:
    told = in_places(IN_A_WRONG_ONE)
    files = told.case.stack_files.with_columns(written_ns=pl.lit(START - 60 * SECOND, pl.Int64))
    told.case = replace(told.case, stack_files=files)
    assert blamed(best(told)) == []


def test_a_wait_like_any_other_accuses_nobody_by_one_look() -> None:
    assert blamed(best(in_places(IN_A_WRONG_ONE, waited_s=0.01))) == []


@pytest.mark.parametrize("known", [True, False])
def test_of_two_the_one_whose_call_is_due_is_on_the_usual_way(known: bool) -> None:
    """What the other one makes instead all may be due to make for the first time, unless it was made before."""
    body: list[Step] = [*BODY, *([MEAN] if known else [])]
    programs = {0: loop(body, 5) + BODY[:1], 1: [*loop(body, 5), Stop()]}
    told = Witnesses(case_of(Job({WORLD: [0, 1]}, programs), lost=[1]))
    verdict = best(told.stack(0, WAITS).stack(1, IN_ANOTHER))
    assert (blamed(verdict), suspected(verdict)) == (([1], []) if known else ([], [1]))


def in_its_own_code(
    backend: str = "gloo",
    looks: int = 2,
    stands: list[Frame] | None = None,
    pair: bool = False,
    seen_before: bool = False,
    waited_s: float = 700.0,
) -> Witnesses:
    """Three stand in the call that their dumps have open; the dump of rank 2 is lost, and its stack stays in its own
    code. `pair`: there is another group, which has made no call."""
    programs = {rank: loop(BODY, 4) + BODY[:1] for rank in range(4)}
    programs[2] = [*loop(BODY, 4), Stop()]
    groups = {**EVERYONE, "pair": [0, 2]} if pair else EVERYONE
    told = Witnesses(case_of(Job(groups, programs, backend=backend), lost=[2], waited_s=waited_s))
    for rank in range(4):
        told.stack(rank, *[(stands or at(41)) if rank == 2 else WAITS] * looks)
    if seen_before:
        early = told.case.stack_files.with_columns(written_ns=pl.lit(START - 60 * SECOND, pl.Int64))
        told.case = replace(told.case, stack_files=early)
    return told


def test_who_stands_on_a_line_that_is_nobodys_has_not_come_to_the_call_of_gloo() -> None:
    """Processes carry gloo's calls: had it joined, it would stand where the others do."""
    verdict = best(in_its_own_code())
    assert (verdict.hang, verdict.cause, verdict.confidence) == (True, "host_blocked", "supported")
    assert blamed(verdict) == [2] and "data.py:41" in verdict.sentence


@pytest.mark.parametrize(
    "told",
    [
        {"backend": "nccl"},
        {"seen_before": True},
        {"pair": True},
        {"looks": 1},
        {"waited_s": 0.01},
        {"stands": at(63, "step", "/workspace/trainer.py")},
        {"stands": at(11, "gathered", "/workspace/metrics.py")},
    ],
    ids=["a device may carry it", "seen before the others came", "it may be in another group's call",
         "it may move", "a wait like any other", "the others' own line", "a line of an earlier call"],
)  # fmt: skip
def test_who_may_have_come_or_gone_on_from_its_own_line_is_only_suspected(told: dict[str, Any]) -> None:
    verdict = best(in_its_own_code(**told))
    assert (blamed(verdict), verdict.confidence) == ([], "hypothesis")
    assert "2" in {other.culprits for other in verdict.alternatives}


@pytest.mark.parametrize(
    ("group", "lost", "named"),
    [
        ([0, 1, 2, 3, 4, 5], [2, 3], [2, 3]),  # between the others: without both it is no row
        ([0, 1, 2, 3], [2, 3], []),  # one of them may have no part in it
        ([0, 1, 2, 3, 4, 5], [2, 5], []),
    ],
)
def test_who_makes_a_row_of_the_members_that_are_recorded_belongs_to_the_group(
    group: list[int], lost: list[int], named: list[int]
) -> None:
    """Nobody recorded who belongs to it. All that left a dump wait in one call; two that left none stand elsewhere."""
    parts = Call("t", "all_gather", 64, "layout.py:23")
    programs: dict[int, list[Step]] = {rank: [*loop([parts], 5)] for rank in group}
    programs |= {rank: [*loop([parts], 4), Stop()] for rank in lost}
    told = Witnesses(
        case_of(Job({"t": group}, programs, backend="gloo"), lost=lost, members=False, waited_s=700.0)
    )
    for rank in group:
        inside: list[Frame] = [("all_gather", C10D, 4287), ("collect", "/workspace/layout.py", 23)]
        beside: list[Frame] = [("all_reduce", C10D, 3252), ("add", "/workspace/layout.py", 18)]
        stack = beside if rank in lost else inside
        told.stack(rank, stack, stack)
    assert blamed(best(told)) == named


def test_of_two_that_stand_in_two_calls_one_may_wait_for_the_other() -> None:
    parts = Call("t", "all_gather", 64, "layout.py:23")
    programs: dict[int, list[Step]] = {rank: loop([parts], 5) for rank in range(6)}
    programs |= {rank: [*loop([parts], 4), Stop()] for rank in (2, 3)}
    job = Job({"t": [*range(6)]}, programs, backend="gloo")
    told = Witnesses(case_of(job, lost=[2, 3], members=False, waited_s=700.0))
    for rank in range(6):
        at = {2: ("all_reduce", 3252, "add", 18), 3: ("broadcast", 3048, "share", 30)}
        op, inside, name, line = at.get(rank, ("all_gather", 4287, "collect", 23))
        stack: list[Frame] = [(op, C10D, inside), (name, "/workspace/layout.py", line)]
        told.stack(rank, stack, stack)
    assert blamed(best(told)) == []
