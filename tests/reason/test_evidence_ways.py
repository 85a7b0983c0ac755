"""What stacks and messages add where calls leave it open: where the ways part, what was gone past, what did not fit."""

from __future__ import annotations

from support.reason.building import Call, Job, Step, Stop, case_of, hidden, loop
from support.reason.witnesses import C10D, Frame, Witnesses, best, blamed

from rankandfile.model.case import Case
from rankandfile.reason.divergence.code_paths import relation

WORLD = "0"
STEP: list[Step] = [Call(WORLD, "all_reduce", 64, "a.py:5"), Call(WORLD, "all_gather", 8, "a.py:9")]


def test_two_ranks_part_and_nobody_is_blamed_but_the_place_is_named() -> None:
    """One makes a call that the other does not: either may be wrong, and both were in `step` (see building.py)."""
    case = case_of(
        Job(
            {WORLD: [0, 1]},
            {
                0: [*loop(STEP, 1), Call(WORLD, "broadcast", 4, "a.py:21")],
                1: [*loop(STEP, 1), Call(WORLD, "barrier", 1, "a.py:30")],
            },
            backend="gloo",
        )
    )
    verdict = best(case)
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("rank_conditional", "supported", [])
    assert "part in step, a.py, at lines 21 and 30" in verdict.sentence


def test_the_stacks_name_the_place_where_the_recorder_kept_no_frames() -> None:
    case = case_of(
        Job(
            {WORLD: [0, 1]},
            {
                0: [*loop(STEP, 1), Call(WORLD, "broadcast", 4)],
                1: [*loop(STEP, 1), Call(WORLD, "barrier", 1)],
            },
            backend="gloo",
        ),
        frames=False,
    )
    witnesses = Witnesses(case)
    assert best(case).cause == "undetermined"
    witnesses.stack(0, [("broadcast", C10D, 3151), ("step", "/workspace/a.py", 21)])
    witnesses.stack(1, [("barrier", C10D, 5356), ("step", "/workspace/a.py", 30)])
    assert best(witnesses.case).cause == "rank_conditional"


def shuffled(orders: dict[int, list[int]]) -> Case:
    """Each rank makes calls of these sizes from one line, and the host runs ahead."""
    programs: dict[int, list[Step]] = {
        rank: [Call(WORLD, "all_reduce", size, "sync.py:18") for size in sizes]
        for rank, sizes in orders.items()
    }
    return case_of(Job({WORLD: sorted(orders)}, programs))


def test_every_rank_has_an_order_of_its_own() -> None:
    verdict = best(shuffled({0: [16, 32, 64], 1: [32, 16, 64], 2: [64, 32, 16]}))
    assert (verdict.cause, blamed(verdict)) == ("order_inversion", [0, 1, 2])


def test_where_two_agree_the_third_has_not_an_order_of_its_own() -> None:
    verdict = best(shuffled({0: [16, 32, 64], 1: [16, 32, 64], 2: [64, 32, 16]}))
    assert set(blamed(verdict)) <= {2}


def test_other_sizes_are_no_other_order() -> None:
    verdict = best(shuffled({0: [16, 32], 1: [32, 17], 2: [64, 16]}))
    assert verdict.cause != "order_inversion"


def test_several_are_done_with_a_broadcast_that_others_wait_in() -> None:
    programs: dict[int, list[Step]] = {
        rank: [*loop(STEP, 2), Call(WORLD, "broadcast", 64, "best.py:29", early=rank in (0, 3))]
        for rank in range(4)
    }
    job = Job({WORLD: [0, 1, 2, 3]}, programs, stalled=frozenset({(WORLD, 5)}))
    verdict = best(case_of(job))
    assert (verdict.cause, blamed(verdict)) == ("root_mismatch", [])
    assert verdict.confidence == "hypothesis"
    assert "network_stalled" in {a.cause for a in verdict.alternatives}


def gloo(stuck_at: int | None = None, ranks: int = 3, op: str = "all_reduce") -> Witnesses:
    body: list[Step] = [Call(WORLD, op, 64, "a.py:5")]
    programs = {rank: loop(body, 4) for rank in range(ranks)}
    return Witnesses(
        case_of(Job({WORLD: list(range(ranks))}, programs, backend="gloo", stalled=frozenset({(WORLD, 4)})))
    )


INSIDE: list[Frame] = [("all_reduce", C10D, 3252), ("step", "/workspace/a.py", 5)]


def test_every_host_stands_in_the_call_that_gloo_does_not_finish() -> None:
    witnesses = gloo()
    for rank in range(3):
        witnesses.stack(rank, INSIDE)
    verdict = best(witnesses.case)
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("network_stalled", "supported", [])


def test_a_host_that_stands_elsewhere_takes_that_away() -> None:
    witnesses = gloo()
    for rank in range(3):
        witnesses.stack(rank, INSIDE if rank else [("all_reduce", C10D, 3252), ("log", "/workspace/b.py", 8)])
    assert best(witnesses.case).cause != "network_stalled"


def test_a_message_of_another_size_than_expected() -> None:
    witnesses = gloo(op="all_to_all").event(
        "gloo_size_disagrees", "messenger", 1, "op.preamble.length <= op.nbytes. 1024 vs 896"
    )
    verdict = best(witnesses.case)
    assert (verdict.cause, blamed(verdict)) == ("split_mismatch", [])
    assert "rank 1 got a message of another size" in verdict.sentence


def transfers(*lines: int) -> Witnesses:
    """Every call has ended long ago, and each rank sits in a receive."""
    programs = {rank: loop(STEP, 2) for rank in range(len(lines))}
    case = hidden(case_of(Job({WORLD: list(range(len(lines)))}, programs, backend="gloo")))
    witnesses = Witnesses(case)
    for rank, line in enumerate(lines):
        witnesses.stack(rank, [("recv", C10D, 2799), ("receive", "/workspace/transfer.py", line)])
    return witnesses


def test_all_receive_at_one_line() -> None:
    verdict = best(transfers(44, 44, 44).case)
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("order_inversion", "hypothesis", [])


def test_a_send_was_left_out() -> None:
    witnesses = transfers(44, 44, 20)
    assert best(witnesses.case).cause == "skipped_collective"
    witnesses.event("gloo_size_disagrees", "messenger", 2, "op.preamble.length <= op.nbytes. 384 vs 8")
    verdict = best(witnesses.case)
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("skipped_collective", "supported", [])


def test_one_rank_outside_of_a_transfer_may_be_the_one_that_all_wait_for() -> None:
    witnesses = transfers(44, 44, 44)
    witnesses.stack(2, [("load", "/workspace/data.py", 12)])
    assert best(witnesses.case).cause == "undetermined"


def test_hidden_transfers_of_a_job_that_ended_well_hang_in_nothing() -> None:
    programs = {rank: loop(STEP, 2) for rank in range(3)}
    witnesses = Witnesses(hidden(case_of(Job({WORLD: [0, 1, 2]}, programs, backend="gloo"))))
    assert best(witnesses.case).hang
    for rank in range(3):
        witnesses.exit(rank, 0)
    verdict = best(witnesses.case)
    assert (verdict.hang, verdict.cause) == (False, "no_hang")
    assert "exited with code 0" in verdict.sentence


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


def test_a_rank_on_its_way_to_the_call_is_not_blamed() -> None:
    assert blamed(best(pipeline(("step", "/workspace/a.py", 3)))) == []


def test_a_place_where_its_like_never_were_tells_nothing() -> None:
    assert blamed(best(pipeline(("step", "/workspace/a.py", 77)))) == []
