"""`skipped_collective`: a rank went past a call that the others make."""

from __future__ import annotations

import polars as pl
import pytest
from msgspec.structs import replace
from support.reason import absent_rank, gloo_jobs, loops, lost_dumps, no_dumps, transfers
from support.reason.building import WORLD, Call, Job, Step, Stop, case_of, hidden, loop
from support.reason.witnesses import (
    C10D,
    IN_ALL_REDUCE,
    Frame,
    Witnesses,
    best,
    blamed,
)

from rankandfile.model.case import Case
from rankandfile.model.diagnosis import Verdict
from rankandfile.reason import diagnose
from rankandfile.reason.divergence.code_paths import has_left, relation


def test_another_call_under_the_same_number() -> None:
    """Three to one; and what it asked for follows in the others' loop, so it left one out."""
    verdict = best(lost_dumps.lost().gave_up(2, 9, "_ALLGATHER_BASE", 8))
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("skipped_collective", "supported", [2])


def test_what_the_others_ask_for_next_was_asked_too_early() -> None:
    """Two broadcasts have their root go on: the one whose next call is the odd one's tells that it left one out."""
    witnesses = no_dumps.nothing(5)
    for rank in (0, 1, 2):
        witnesses.gave_up(rank, 9, "BROADCAST", 8, group="default_pg")
    witnesses.gave_up(4, 10, "ALLREDUCE", 64, group="default_pg")
    witnesses.gave_up(3, 9, "ALLREDUCE", 64, group="default_pg")
    verdict = best(witnesses)
    assert (verdict.cause, blamed(verdict)) == ("skipped_collective", [3])


def test_a_past_that_went_both_ways_names_nobody() -> None:
    """Once the one call followed, and once another: which of two ranks goes on as before, that does not tell."""
    seldom, often = (
        Call(WORLD, "all_reduce", size, place) for size, place in ((2, "report.py:9"), (64, "step.py:5"))
    )
    once: list[Step] = [Call(WORLD, "broadcast", 6, place) for place in ("net.py:3", "net.py:4")]
    past: list[Step] = [*once[:1], often, *once[1:], often, seldom, often]
    programs: dict[int, list[Step]] = {0: [*past, often], 1: [*past, seldom]}
    verdict = diagnose(case_of(Job({WORLD: [0, 1]}, programs, backend="gloo"))).verdicts[0]
    assert (verdict.hang, blamed(verdict)) == (True, [])
    # Seen often enough, it does.
    rounds: list[Step] = [*[often, often, seldom] * 3, often]
    programs = {0: [*rounds, often], 1: [*rounds, seldom]}
    assert blamed(diagnose(case_of(Job({WORLD: [0, 1]}, programs, backend="gloo"))).verdicts[0]) == [1]


def test_a_stack_in_the_same_call_as_all_others_is_innocent() -> None:
    witnesses = absent_rank.lost()
    for rank in range(4):
        witnesses.stack(rank, IN_ALL_REDUCE)
    assert blamed(best(witnesses)) == []


def test_a_send_was_left_out() -> None:
    witnesses = gloo_jobs.transfers(44, 44, 20)
    assert best(witnesses.case).cause == "skipped_collective"
    witnesses.event("gloo_size_disagrees", "messenger", 2, "op.preamble.length <= op.nbytes. 384 vs 8")
    verdict = best(witnesses.case)
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("skipped_collective", "supported", [])


def pipeline(rank_1_at: Frame) -> Case:
    """Two groups of a kind; rank 1 came as far as rank 3, which made one more call, and stands in `rank_1_at`."""
    forward, backward = Call("tp", "all_reduce", 64, "a.py:5"), Call("tp", "all_reduce", 64, "a.py:9")

    def of(group: str, *steps: Call) -> list[Step]:
        return [step._replace(group=group) for step in steps]

    whole = (forward, forward, backward, backward)
    job = Job(
        {"1": [0, 1], "2": [2, 3], "3": [0, 2], "4": [1, 3]},
        {
            0: [*of("1", *whole, forward, forward)],
            1: [*of("1", *whole, forward), Stop()],
            2: [*of("2", *whole, forward, forward), Call("3", "all_reduce", 8, "g.py:2")],
            3: [*of("2", *whole, forward, forward), Call("4", "all_reduce", 8, "g.py:2")],
        },
        backend="gloo",
        descs={"1": "tp", "2": "tp", "3": "dp", "4": "dp"},
    )
    witnesses = Witnesses(hidden(case_of(job)))
    witnesses.stack(1, [("receive_gradient", "/workspace/transfer.py", 25), rank_1_at])
    return witnesses.case


def test_a_rank_that_stands_behind_a_call_went_past_it() -> None:
    verdict = best(pipeline(("step", "/workspace/a.py", 9)))
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("skipped_collective", "supported", [1])
    assert "went past the all_reduce at a.py:5" in verdict.sentence


@pytest.mark.parametrize(("waiter", "culprits"), [("all_reduce", [1]), ("at work", [])])
def test_beside_a_stack_of_who_waits_that_is_at_work_no_other_stack_is_of_the_dumps_moment(
    waiter: str, culprits: list[int]
) -> None:
    case = pipeline(("step", "/workspace/a.py", 9))
    inner: Frame = (
        ("all_reduce", C10D, 3252) if waiter == "all_reduce" else ("attend", "/workspace/net.py", 82)
    )
    verdict = best(Witnesses(case).stack(0, [inner, ("step", "/workspace/a.py", 5)]))
    assert blamed(verdict) == culprits, verdict.sentence


def looked_at_later(*stands: Frame) -> Verdict:
    """Rank 0 was elsewhere when the dumps were written; the stacks of all are of a moment when they had got on."""
    flag, gradient = Call(WORLD, "all_reduce", 1, "a.py:5"), Call(WORLD, "all_reduce", 64, "a.py:9")
    rounds = [*loop([flag, gradient], 4), flag]
    programs = {rank: [*rounds, *([flag] if rank else [Stop()])] for rank in range(4)}
    job = Job({WORLD: [0, 1, 2, 3]}, programs, backend="gloo")
    case = case_of(job, waited_s=2)
    # One round had more sends and receives than the others.
    case = replace(case, calls=case.calls.with_columns(op_id=pl.col("seq") * 3 + (pl.col("seq") > 4)))
    witnesses = Witnesses(case)
    for rank, stand in enumerate(stands):
        witnesses.stack(rank, [("all_reduce", C10D, 3252), stand])
    return best(witnesses)


GRADIENT, FLAG = ("step", "/workspace/a.py", 9), ("step", "/workspace/a.py", 5)


def test_who_stands_in_a_call_that_its_dump_would_have_is_no_proof_of_what_it_left_out() -> None:
    """The others' stacks agree with their dumps, or have got on as well."""
    for others in (FLAG, GRADIENT):
        verdict = looked_at_later(GRADIENT, others, others, others)
        assert (verdict.hang, blamed(verdict)) == (None, [])
        assert "the job moved" in verdict.sentence


def test_behind_the_last_call_and_on_the_same_line_further_out_it_is_on_its_way() -> None:
    """What a round does after its calls, on the same line of the loop further out, is no other round."""
    inside, after = ("average", "/workspace/a.py", 21), ("average", "/workspace/a.py", 23)
    step, census = ("train", "/workspace/t.py", 37), ("train", "/workspace/t.py", 39)
    case = Witnesses(Case()).stack(0, [inside, step], [("total", "/workspace/b.py", 12), census]).case
    case = Witnesses(case).stack(1, [after, step], [("average", "/workspace/a.py", 19), step]).case
    before, due, on_its_way, next_round = case.stacks["stack"].to_list()
    assert relation(case, [before], due, on_its_way) == "before"
    assert relation(case, [before], due, next_round) == "after"
    assert relation(case, [before], due, before) == "unknown"


def test_the_last_call_that_both_made_was_made_from_an_arm_of_each_ones_own() -> None:
    """Rank 0 gathers in another arm of `step` than its mates, and is further on in that: it has gone past nothing."""
    main, again = ("main", "/workspace/t.py", 61), ("main", "/workspace/t.py", 51)
    own, mates = [("step", "/workspace/w.py", 19), main], [("step", "/workspace/w.py", 23), main]
    now = [("plot", "/workspace/w.py", 27), ("step", "/workspace/w.py", 21), main]
    case = Witnesses(Case()).stack(0, own, mates).case
    case = Witnesses(case).stack(1, [("peers", "/workspace/x.py", 28), again], now).case
    ours, theirs, due, stands = case.stacks["stack"].to_list()
    assert relation(case, [ours, theirs], due, stands) == "before"
    assert relation(case, [theirs], due, stands) == "after", (
        "by its mate's arm alone it would be in the next round"
    )


def test_what_is_called_on_the_way_out_of_a_with_is_behind_its_body() -> None:
    """torch's Join answers there for ranks that have no batch left, while others are in the lines below the `with`."""
    leaves, main = ("study", "/workspace/t.py", 37), ("main", "/workspace/t.py", 56)
    out = ("__exit__", "/usr/lib/python3.11/contextlib.py", 586)
    inside = [("round", "/workspace/r.py", 11), ("study", "/workspace/t.py", 40), main]
    case = Witnesses(Case()).stack(0, [("round", "/workspace/r.py", 20), *inside[1:]], inside).case
    case = Witnesses(case).stack(1, [out, leaves, main], [("enter", "/workspace/r.py", 3), leaves, main]).case
    before, now, due, entering = case.stacks["stack"].to_list()
    assert relation(case, [before], due, now) == "unknown"
    assert relation(case, [before], entering, now) != "unknown"


def test_who_is_out_of_the_function_of_two_calls_has_left_it() -> None:
    log, main = ("log", "/workspace/t.py", 25), ("main", "/workspace/t.py", 46)
    later, share = ("log", "/workspace/t.py", 26), ("share", "/workspace/s.py", 7)
    case = Witnesses(Case()).stack(0, [log, main], [share, later, main]).case
    case = Witnesses(case).stack(1, [("step", "/workspace/p.py", 12), ("main", "/workspace/t.py", 42)]).case
    case = Witnesses(case).stack(2, [("read", "/workspace/r.py", 3), later, main]).case
    before, due, out, inside = case.stacks["stack"].to_list()
    assert has_left(case, before, due, out)
    assert not has_left(case, before, due, inside), "it is on its way to the call"
    assert not has_left(case, due, before, out), "it may have come round"


def test_a_rank_on_its_way_to_the_call_is_not_blamed() -> None:
    assert blamed(best(pipeline(("step", "/workspace/a.py", 3)))) == []


def test_a_place_where_its_like_never_were_tells_nothing() -> None:
    assert blamed(best(pipeline(("step", "/workspace/a.py", 77)))) == []


def stages(rounds: int, stands_at: int) -> Case:
    """Two stages of a pipeline; each second step ends in a sum over both. Rank 0 stands in an unrecorded transfer."""
    total = Call("pipe", "all_reduce", 2, "train.py:54")

    def step(group: str, calls: int) -> list[Step]:
        return [Call(group, "all_reduce", 64, "train.py:50")] * calls

    programs = {
        0: [*loop([*step("first", 4), total], rounds), *step("first", 4), Stop()],
        1: [*loop([*step("last", 6), total], rounds), *step("last", 6), total],
    }
    groups = {"first": [0], "last": [1], "pipe": [0, 1]}
    witnesses = Witnesses(hidden(case_of(Job(groups, programs, backend="gloo"))))
    witnesses.stack(
        0,
        [
            ("send", C10D, 2650),
            ("give", "/workspace/stage.py", 20),
            ("step", "/workspace/train.py", stands_at),
        ],
    )
    return witnesses.case


def test_a_stage_in_the_next_round_left_out_what_was_due_by_its_own_rounds() -> None:
    verdict = best(stages(3, 49))
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("skipped_collective", "supported", [0])


@pytest.mark.parametrize(
    ("rounds", "stands_at"),
    [(3, 52), (3, 50), (1, 49)],
    ids=["on its way", "in the call before", "one round before"],
)
def test_a_stage_that_may_be_on_its_way_has_skipped_nothing(rounds: int, stands_at: int) -> None:
    assert best(stages(rounds, stands_at)).cause == "undetermined"


SYNC = Call(WORLD, "all_reduce", 1, "optimizer.py:24")


def stage(rank: int, stages: int) -> list[Step]:
    """Activations go forward, then every stage swaps its numbers with both neighbours."""
    here: list[Step] = []
    for size, site in ((64, "pipeline.py:7"), (2, "numbers.py:4")):
        here += [Call("pp", "recv", size, f"{site}6", peer=rank - 1)] * (rank > 0)
        here += [Call("pp", "send", size, f"{site}0", peer=rank + 1)] * (rank < stages - 1)
    return here


def verdict_of(left_out: int | None, stages: int) -> Verdict:
    """The rank leaves out its second send of the first step, and goes on to the next; sizes that differ end nothing."""
    ranks = list(range(stages))
    programs = {rank: [SYNC, *loop(stage(rank, stages), 3), SYNC] for rank in ranks}
    if left_out is not None:
        programs[left_out] = [SYNC, *stage(left_out, stages)[:-1], *loop(stage(left_out, stages), 2), SYNC]
    return diagnose(case_of(Job({WORLD: ranks, "pp": ranks}, programs, backend="gloo"))).verdicts[0]


def test_halves_that_do_not_fit_are_said_and_nobody_is_blamed() -> None:
    verdict = verdict_of(2, 4)
    assert (verdict.cause, verdict.culprits) == ("size_mismatch", [])
    assert "skipped_collective" in {other.cause for other in verdict.alternatives}


def test_a_healthy_one() -> None:
    assert verdict_of(None, 4).cause == "no_hang"


def test_a_send_that_is_left_out_last_by_the_ranks_own_earlier_steps() -> None:
    """Nothing is seen to follow but a receive, and that is due later in the step: no call too many."""
    lines = {"send": 7, "recv": 9}

    def step(rank: int, activations: int) -> list[Step]:
        first, then = ("send", "recv") if rank == 0 else ("recv", "send")
        moves = [first] * activations + [then] * 3
        return [SYNC, *(Call("pp", op, 64, f"pipeline.py:{lines[op]}", peer=1 - rank) for op in moves)]

    programs = {rank: loop(step(rank, 3), 4) for rank in (0, 1)}
    programs[0] = [*loop(step(0, 3), 3), *step(0, 2)]
    verdict = diagnose(case_of(Job({WORLD: [0, 1], "pp": [0, 1]}, programs, backend="gloo"))).verdicts[0]
    assert (verdict.cause, [c.rank for c in verdict.culprits]) == ("skipped_collective", [0])


@pytest.mark.parametrize("backend", ["gloo", "nccl"])
@pytest.mark.parametrize("frames", [True, False])
def test_skipped(backend: str, frames: bool) -> None:
    skipping: list[Step] = [*loop(loops.BODY, 5), loops.BACKWARD, loops.LOSS, *loop(loops.BODY, 2)]
    verdict = loops.verdict_of({**loops.others(4), 3: skipping}, backend, frames=frames)
    assert (verdict.cause, blamed(verdict)) == ("skipped_collective", [3])
    assert verdict.divergence is not None
    assert (verdict.divergence.kind, verdict.divergence.seq, verdict.divergence.exact) == (
        "skipped",
        17,
        True,
    )
    place = "the 6th call by this path" if frames else "the 6th all_reduce of its kind in the group"
    assert verdict.divergence.place == place
    assert "one behind" in verdict.sentence


def test_only_the_call_sites_tell_a_shift_by_one() -> None:
    """The same operation and size everywhere: nothing mismatches, and one call is missing in the end."""
    body: list[Step] = [Call(WORLD, "all_reduce", 64, f"layers.py:{line}") for line in (10, 20, 30, 40)]
    skipping: list[Step] = [*loop(body, 5), body[0], body[2], body[3], *loop(body, 4)]
    verdict = loops.verdict_of({**{r: loop(body, 10) for r in range(4)}, 1: skipping})
    assert (verdict.cause, blamed(verdict)) == ("skipped_collective", [1])
    assert verdict.divergence is not None and verdict.divergence.seq == 22
    unseen = loops.verdict_of({**{r: loop(body, 10) for r in range(4)}, 1: skipping}, frames=False)
    assert blamed(unseen) == [1], "that it is one call short is certain all the same"


def test_the_ring_lost_the_beginning_of_the_shift() -> None:
    body: list[Step] = [Call(WORLD, "all_reduce", 64, f"layers.py:{line}") for line in (10, 20, 30, 40)]
    skipping: list[Step] = [*loop(body, 5), body[0], body[2], body[3], *loop(body, 14)]
    verdict = loops.verdict_of({**{r: loop(body, 20) for r in range(4)}, 1: skipping}, ring=30)
    assert (verdict.cause, blamed(verdict)) == ("skipped_collective", [1])
    assert verdict.divergence is not None and not verdict.divergence.exact
    assert "history before seq 51 is lost on ranks 0-3" in verdict.sentence
    assert (verdict.location, verdict.confidence) == (None, "supported"), "which call it was is lost"


def test_a_receive_is_left_out() -> None:
    stuck = transfers.job()
    broken = transfers.pipeline(1, 4)
    del broken[0]
    stuck.programs[1] = [*loop(transfers.pipeline(1, 4), 4), *broken]
    verdict = diagnose(case_of(stuck)).verdicts[0]
    assert (verdict.cause, blamed(verdict)) == ("skipped_collective", [1])


@pytest.mark.parametrize(
    "hidden_by", [[], ["ddp.py:48", "ddp.py:52"]], ids=["rounds alone", "calls made once"]
)
def test_a_row_of_like_calls_ends_as_in_the_rounds_before(hidden_by: list[str]) -> None:
    """Four of one kind lie between two of the other, and calls that were made once do not hide it."""
    often: Step = Call(WORLD, "all_reduce", 2, "meter.py:23")
    seldom: Step = Call(WORLD, "all_reduce", 3736, "train.py:49")
    once: list[Step] = [Call(WORLD, "broadcast", 6, place) for place in hidden_by]
    past: list[Step] = [*[often] * 3, seldom, often, *once, *[often] * 3, seldom, *[often] * 4]
    programs: dict[int, list[Step]] = {0: [*past, seldom, often], 1: [*past, often]}
    assert blamed(diagnose(case_of(Job({WORLD: [0, 1]}, programs, backend="gloo"))).verdicts[0]) == [1]


def test_of_several_that_its_last_call_leaves_behind_it_may_be_one_more_instead() -> None:
    """A line is logged after every fifth step; one rank logs after the third: nothing shows that it left any out."""
    step: list[Step] = [
        Call(WORLD, "all_reduce", 64, "train.py:10"),
        Call(WORLD, "all_reduce", 1, "train.py:10"),
    ]
    logged: list[Step] = [
        Call(WORLD, "all_gather", 1, "train.py:13"),
        Call(WORLD, "all_gather", 2, "train.py:13"),
    ]
    past = [*step * 5, *logged] * 2
    programs = {rank: [*past, *step * 5] for rank in (0, 1)} | {2: [*past, *step * 3, logged[0]]}
    verdict = diagnose(case_of(Job({WORLD: [0, 1, 2]}, programs))).verdicts[0]
    assert (verdict.cause, blamed(verdict)) == ("skipped_collective", [2])
    assert "extra_collective" in {other.cause for other in verdict.alternatives}
    assert "behind" not in verdict.sentence and "came after them in the rounds before" in verdict.sentence
