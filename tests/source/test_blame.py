"""Where the evidence shows two ways and nobody who departed: whom the code names, and whom it does not."""

from __future__ import annotations

import msgspec
import polars as pl
import pytest
from support.source.toy_runs import case_of, diagnosis_of, locate, play, tree, verdict_of

from rankandfile.model.diagnosis import Alternative, Cohort, Verdict
from rankandfile.model.sentence import Presumed

PROGRAM = """
    import torch.distributed as dist
    import random

    CHANCE = random.Random(dist.get_rank())
    LOSSES = [0, 9]

    class Parameter:
        def __init__(self, grad):
            self.grad = grad

    def step(n):
        dist.broadcast(n, src=0)
        {body}
        dist.all_reduce(n)

    def main():
        for n in range(4):
            step(n)
        dist.barrier()
"""


def tie(body: str, cause: str = "rank_conditional") -> Verdict:
    """Two ranks went two ways at this place, and the dumps do not tell which way is right."""
    indented = body.replace("\n", "\n        ")
    run = play(2, train=PROGRAM.format(body=indented))
    verdict = msgspec.structs.replace(
        verdict_of(run, 1, cause),
        culprits=[],
        victims="0,1",
        alternatives=[
            Alternative(cause="different_collective", confidence="hypothesis", sentence="", culprits=rank)
            for rank in ("0", "1")
        ],
    )
    return locate(case_of(run), diagnosis_of(verdict), tree(run.files)).verdicts[0]


def blamed(verdict: Verdict) -> list[int]:
    return [culprit.rank for culprit in verdict.culprits]


@pytest.mark.parametrize(
    "body",
    [
        "if n == 2 and not dist.get_rank() * CHANCE.random() > 0:\n    return",
        "if n == 2 and dist.get_rank() * CHANCE.random() > 0:\n    return",
        "if dist.get_rank() * CHANCE.random() > 0:\n    dist.all_gather(n)",
        "if n > 2:\n    dist.all_gather(n)",
        "if dist.get_rank() % 2 == 0:\n    dist.all_gather(n)",
    ],
    ids=[
        "turned round",
        "left by chance",
        "a call under a test of the rank's own state",
        "equal on all ranks",
        "every second rank, of which none is the odd one",
    ],
)
def test_what_fits_both_sides_blames_nobody(body: str) -> None:
    assert blamed(tie(body)) == []


def test_the_evidences_own_culprits_stay() -> None:
    run = play(2, train=PROGRAM.format(body="if dist.get_rank() == 0:\n            dist.all_gather(n)"))
    verdict = verdict_of(run, 1, "rank_conditional")
    placed = locate(case_of(run), diagnosis_of(verdict), tree(run.files)).verdicts[0]
    assert blamed(placed) == blamed(verdict) == [1]


UNREADABLE = """try:
    int("x" if {when} and dist.get_rank() else "1")
except ValueError:
    {then}"""


@pytest.mark.parametrize("then", ["return", "dist.all_gather(n)"])
def test_who_met_what_comes_to_one_rank_alone_left_the_way_of_all_rounds_before(then: str) -> None:
    verdict = tie(UNREADABLE.format(when="n == 3", then=then))
    assert blamed(verdict) == [1], verdict.sentence
    assert verdict.confidence == "supported"
    assert "comes to one rank and not to another" in verdict.sentence


@pytest.mark.parametrize("when", ["n == 0", "n % 2"], ids=["no round before", "no one way before"])
def test_without_one_way_before_the_handler_names_whom_it_let_go_on(when: str) -> None:
    verdict = tie(UNREADABLE.format(when=when, then="return"))
    assert (blamed(verdict), verdict.cause) == ([1], "swallowed_exception"), verdict.sentence
    assert "A handler is written for the exception: it let rank 1 go on" in verdict.sentence


@pytest.mark.parametrize("rank", [0, 1])
def test_who_came_through_a_handler_is_who_is_past_it(rank: int) -> None:
    """The other is still inside of it: whichever of them the evidence takes for the usual one."""
    raises = f"'x' if n == 0 and LOSSES[{'' if rank else '1 - '}dist.get_rank()] > 5 else '1'"
    body = f"try:\n    value = int({raises})\n    dist.all_gather(value)\nexcept ValueError:\n    pass"
    verdict = tie(body)
    assert f"On rank {rank} an exception" in verdict.sentence
    assert blamed(verdict) in ([], [rank])


OWN_LOSS = "if n {when} and LOSSES[dist.get_rank()] > 5:\n    {then}"


@pytest.mark.parametrize("then", ["return", "dist.all_gather(n)"])
def test_who_does_something_new_upon_its_own_data_departed(then: str) -> None:
    verdict = tie(OWN_LOSS.format(when="== 3", then=then))
    assert blamed(verdict) == [1], verdict.sentence
    assert verdict.confidence == "supported"
    assert "did otherwise than in all rounds before" in verdict.sentence


def test_upon_its_own_data_without_one_way_before_nobody_departed() -> None:
    assert blamed(tie(OWN_LOSS.format(when="== 0", then="dist.all_gather(n)"))) == []


@pytest.mark.parametrize(
    ("then", "cause"),
    [("return", "early_exit"), ("break", "early_exit"), ("continue", "skipped_collective")],
)
def test_who_is_turned_back_by_a_guard_clause_left_the_way_that_is_meant(then: str, cause: str) -> None:
    loop = f"for part in range(2):\n    {OWN_LOSS.format(when='== 0', then='    ' + then)}\n    dist.all_gather(n)"
    verdict = tie(loop.replace("\n            ", "\n        "))
    assert (blamed(verdict), verdict.cause) == ([1], cause), verdict.sentence
    assert "guard clause" in verdict.sentence


@pytest.mark.parametrize(
    "body",
    [
        "if n == 0 and LOSSES[dist.get_rank()] > 5:\n    return\nelse:\n    dist.all_gather(n)",
        "if n == 0 and LOSSES[dist.get_rank()] > 5:\n    dist.all_gather(n)\n    return",
        "if n == 0 and len(LOSSES) > 5:\n    return",
    ],
    ids=["two ways of a kind", "a way with a call of its own", "equal on all ranks"],
)
def test_what_is_no_guard_clause_blames_nobody(body: str) -> None:
    assert blamed(tie(body)) == []


PROGRESS = """
    class Progress:
        def __init__(self):
            self.settled = False

        def note(self, loss):
            if loss < 2:
                self.settled = True
"""
SETTLED = """
    import torch.distributed as dist
    from progress import Progress

    class Fit:
        def __init__(self, losses):
            self.losses, self.progress = losses, Progress()

        def run(self):
            for loss in self.losses:
                self.progress.note(loss)
                if self.progress.settled:  # <-
                    {then}
                dist.all_reduce(loss)

    def main():
        Fit([[9] * 8, [9, 9, 9, 1, 9]][dist.get_rank()]).run()
        dist.barrier()
"""
TORCH = "/usr/lib/python3/site-packages/torch/distributed/distributed_c10d.py"


@pytest.mark.parametrize(
    ("then", "cause"),
    [("return", "early_exit"), ("break", "early_exit"), ("continue", "skipped_collective")],
)
def test_who_leaves_a_loop_upon_what_another_class_keeps_is_turned_back_at_the_guard(
    then: str, cause: str
) -> None:
    """The records have no frames: the call in which each rank waits is known by its stack, and none before."""
    run = play(2, progress=PROGRESS, train=SETTLED.format(then=then))
    for rank, made in run.calls.items():
        run.calls[rank] = made[:4]
    verdict = msgspec.structs.replace(verdict_of(run, 1, "undetermined"), culprits=[], victims="0,1")
    case = case_of(run, {rank: ((made[-1][0], TORCH, 1), *made[-1][1]) for rank, made in run.calls.items()})
    state = pl.when(pl.col("seq") == 4).then(pl.lit("issued")).otherwise("state")
    calls = case.calls.with_columns(
        *(pl.lit(None, case.calls.schema[name]).alias(name) for name in ("site", "stack")),
        state.cast(case.calls.schema["state"]).alias("state"),
    )
    case = msgspec.structs.replace(case, calls=calls)
    found = locate(case, diagnosis_of(verdict), tree(run.files)).verdicts[0]
    file, line = run.marked
    assert (found.cause, found.confidence) == (cause, "supported"), found.sentence
    assert [(one.rank, one.doing) for one in found.culprits] == [(1, f"was turned back at {file}:{line}")]
    assert found.location is not None and found.location.condition == "if loss < 2:"


def test_a_guard_of_no_loop_or_of_one_that_the_other_has_left_leaves_a_call_out() -> None:
    verdict = tie(OWN_LOSS.format(when="== 0", then="return"))
    assert (blamed(verdict), verdict.cause) == ([1], "skipped_collective"), verdict.sentence
    behind = SETTLED.format(then="return").replace("                dist.all", "            dist.all")
    run = play(2, progress=PROGRESS, train=behind)
    verdict = msgspec.structs.replace(verdict_of(run, 1, "undetermined"), culprits=[], victims="0,1")
    found = locate(case_of(run), diagnosis_of(verdict), tree(run.files)).verdicts[0]
    assert (blamed(found), found.cause) == ([1], "skipped_collective"), found.sentence


TRIED_AGAIN = """
    import functools
    import torch.distributed as dist

    def shrinking(function):
        @functools.wraps(function)
        def inner(size):
            while size:
                try:
                    return function(size)
                except MemoryError:
                    size //= 2
        return inner

    def forward(size):
        if dist.get_rank() == 1 and size > 4:
            raise MemoryError

    def rounds(size):
        dist.broadcast(size, src=0)
        forward(size)
        dist.all_reduce(size)

    @shrinking
    def fit(size):
        rounds(size)

    def main():
        fit(8)
        dist.barrier()
"""


def test_who_begins_once_more_is_out_of_step() -> None:
    run = play(2, train=TRIED_AGAIN)
    verdict = msgspec.structs.replace(verdict_of(run, 1, "rank_conditional"), culprits=[], victims="0,1")
    placed = locate(case_of(run), diagnosis_of(verdict), tree(run.files)).verdicts[0]
    assert (blamed(placed), placed.cause) == ([1], "extra_collective"), placed.sentence
    assert placed.location is not None and placed.location.condition == "except MemoryError:"


RESUMED = """
    import os
    import torch.distributed as dist

    def resumed(rank):
        return len(os.listdir("/")) * 0 + 2 * (rank == 1)

    def main():
        for step in range({first}, 5):
            dist.all_reduce(step)
        dist.barrier()
"""


@pytest.mark.parametrize(
    ("first", "cause"),
    [("resumed(dist.get_rank())", "early_exit"), ("2 * (dist.get_rank() == 1)", "rank_conditional")],
    ids=["by its own files", "by its number"],
)
def test_who_is_behind_a_loop_that_the_others_are_in_left_it_early(first: str, cause: str) -> None:
    run = play(3, train=RESUMED.format(first=first))
    verdict = verdict_of(run, 1, "rank_conditional")
    assert locate(case_of(run), diagnosis_of(verdict), tree(run.files)).verdicts[0].cause == cause


def test_who_goes_round_again_in_a_loop_that_the_others_have_left_makes_calls_more() -> None:
    program = RESUMED.replace("2 * (rank == 1)", "2 * (rank != 1)")
    run = play(3, train=program.format(first="resumed(dist.get_rank())"))
    verdict = verdict_of(run, 1, "rank_conditional")
    assert (
        locate(case_of(run), diagnosis_of(verdict), tree(run.files)).verdicts[0].cause == "extra_collective"
    )


BORED = """
    import os
    import torch.distributed as dist

    def bored(rank):
        return len(os.listdir("/")) * 0 + (rank {who} 1)

    def agreed():
        dist.all_reduce(1)
        return False

    def over():
        return (bored(dist.get_rank()){line}or agreed())

    def main():
        for step in range(4):
            dist.broadcast(step, src=0)
            if step == 2 and over():
                break
        dist.barrier()
"""


@pytest.mark.parametrize("line", [" ", "\n                "], ids=["on one line", "on two"])
@pytest.mark.parametrize(("who", "cause"), [("==", "skipped_collective"), ("!=", "extra_collective")])
def test_whose_first_part_tells_does_not_ask_the_second(who: str, cause: str, line: str) -> None:
    run = play(3, train=BORED.format(who=who, line=line))
    verdict = verdict_of(run, 1, "rank_conditional")
    assert locate(case_of(run), diagnosis_of(verdict), tree(run.files)).verdicts[0].cause == cause


@pytest.mark.parametrize(
    ("kind", "alike", "blames"),
    [
        ("substituted", None, []),
        ("skipped", None, [1, 3]),
        ("substituted", "others", [1, 3]),
        ("substituted", "nobody", []),
    ],
    ids=["at one call", "in step behind it", "more made the others' call", "more made another call"],
)
def test_as_many_against_as_many_by_their_own_data_blame_nobody_at_one_call(
    kind: str, alike: str | None, blames: list[int]
) -> None:
    """That all went one way before is what their data said; calls that go on in step are more than that."""
    body = "if n == 3 and LOSSES[dist.get_rank()] > 5:\n            dist.all_gather(n)"
    run = play(4 + 2 * bool(alike), train=PROGRAM.format(body=body).replace("[0, 9]", "[0, 9, 0, 9, 0, 0]"))
    alone = verdict_of(run, 1)
    assert alone.divergence is not None
    one, other = alone.divergence.cohorts
    cohorts = [msgspec.structs.replace(one, ranks="0,2"), msgspec.structs.replace(other, ranks="1,3")]
    if alike and one.call is not None:
        call = one.call if alike == "others" else msgspec.structs.replace(one.call, line=1)
        cohorts.append(Cohort(ranks="4,5", call=call))
    verdict = msgspec.structs.replace(
        alone,
        culprits=[msgspec.structs.replace(alone.culprits[0], rank=rank) for rank in (1, 3)],
        divergence=msgspec.structs.replace(alone.divergence, kind=kind, cohorts=cohorts),
    )
    placed = locate(case_of(run), diagnosis_of(verdict), tree(run.files)).verdicts[0]
    assert placed.location is not None
    assert blamed(placed) == blames
    assert [one.rank for one in placed.suspects] == ([] if blames else [1, 3])
    assert placed.confidence == ("supported" if blames else "hypothesis")


GUARDED = """
    import os
    import torch.distributed as dist

    def answers():
        return os.listdir("/") if dist.get_rank() != 1 else []

    def gains(found, pair):
        {body}

    def main():
        for n in range(4):
            gains(answers() if n == 3 else [1], "pair")
            dist.broadcast(n)
"""


@pytest.mark.parametrize(
    ("body", "cause"),
    [
        ("if not found:\n    return None\ndist.all_reduce(found, group=pair)", "skipped_collective"),
        (
            "if not found:\n    dist.broadcast(0)\n    dist.all_reduce(found, group=pair)\n    return None\n"
            "dist.all_reduce(found, group=pair)",
            "order_inversion",
        ),
    ],
    ids=["behind the function", "in another order inside of it"],
)
def test_who_left_the_function_by_a_guard_has_no_other_order(body: str, cause: str) -> None:
    """It waits for the others in the next call of all, and they for it in the pair's: a circle."""
    run = play(3, train=GUARDED.format(body=body.replace("\n", "\n        ")))
    order = "Rank 1 comes to them in another order than the other ranks."
    words = ("They wait in a circle.", Presumed(what="another order", words=order))
    diagnosis = diagnosis_of(verdict_of(run, 1, "order_inversion"))
    found = locate(case_of(run), diagnosis, tree(run.files), words).verdicts[0]
    assert found.cause == cause
    assert ("in another order" in found.sentence) is (cause == "order_inversion")
