"""Ranks that took different paths: skipped, extra, swapped, replaced, left early; and what is no departure at all."""

from __future__ import annotations

import polars as pl
import pytest
from msgspec.structs import replace
from support.reason.building import WORLD, Call, Job, Step, Stop, case_of, loop
from support.reason.loops import BACKWARD, BODY, LOSS, NORM, others, verdict_of
from support.reason.witnesses import blamed

from rankandfile.model.diagnosis import Divergence
from rankandfile.reason import diagnose


def test_the_place_is_told_where_the_group_has_one_call_per_step() -> None:
    groups = {WORLD: [0, 1, 2, 3], "side": [0, 1, 2, 3]}
    body: list[Step] = [BACKWARD, NORM, Call("side", "all_gather", 8, "metrics.py:30")]
    programs: dict[int, list[Step]] = {rank: loop(body, 8) for rank in range(4)}
    programs[3] = [*loop(body, 5), BACKWARD, NORM]
    verdict = diagnose(case_of(Job(groups, programs, backend="gloo"))).verdicts[0]
    assert blamed(verdict) == [3]
    assert verdict.divergence is not None
    assert verdict.divergence.place == "the 6th call by this path"


def test_numbers_that_nothing_is_recorded_of_do_not_break_the_loop() -> None:
    """A monitored barrier of gloo takes two numbers of every member and leaves no record."""
    job = Job({WORLD: [0, 1, 2, 3]}, {**others(4), 1: loop(BODY, 6)}, backend="gloo")
    case = case_of(job)
    number = pl.col("seq") + pl.when(pl.col("seq") > 7).then(2).otherwise(0)
    verdict = diagnose(replace(case, calls=case.calls.with_columns(number.alias("seq")))).verdicts[0]
    assert blamed(verdict) == [1]
    assert verdict.divergence is not None
    assert (verdict.divergence.seq, verdict.divergence.place) == (21, "the 7th call by this path")


def test_the_place_is_told_where_no_two_steps_are_alike() -> None:
    """A metric every second step, a checkpoint every third: nothing repeats as a whole."""
    saved = Call(WORLD, "barrier", 1, "checkpoint.py:14")

    def steps(count: int) -> list[Step]:
        made: list[Step] = []
        for step in range(count):
            made += [BACKWARD, NORM, *([LOSS] if step % 2 else []), *([saved] if step % 3 == 2 else [])]
        return made

    verdict = verdict_of({**{rank: steps(11) for rank in range(4)}, 1: [*steps(9), BACKWARD]}, "gloo")
    assert blamed(verdict) == [1]
    assert verdict.divergence is not None
    assert verdict.divergence.place == "the 10th call by this path"


def test_two_ranks_the_loop_tells_who_departed() -> None:
    skipping: list[Step] = [*loop(BODY, 5), BACKWARD, LOSS, *loop(BODY, 2)]
    for swap in (False, True):
        pair = [loop(BODY, 8), skipping]
        programs = dict(enumerate(reversed(pair) if swap else pair))
        verdict = verdict_of(programs)
        assert blamed(verdict) == [0 if swap else 1]


def test_the_many_did_not_come() -> None:
    """One rank waits alone, and seven are done: nobody is blamed, both readings are named."""
    verdict = verdict_of({**others(8, 6), 0: [*loop(BODY, 6), Call(WORLD, "all_reduce", 1, "save.py:12")]})
    assert verdict.hang
    assert blamed(verdict) == []
    assert {a.culprits for a in verdict.alternatives} == {"0", "1-7"}


def test_a_skip_in_one_group_jams_another() -> None:
    """Rank 3 leaves out its TP call and goes on to the world's: a circle, and one culprit."""
    groups = {WORLD: [0, 1, 2, 3], "tp0": [0, 1], "tp1": [2, 3]}

    def body(rank: int) -> list[Step]:
        return [Call(f"tp{rank // 2}", "all_reduce", 2048, "layers.py:15"), NORM, LOSS]

    programs = {rank: loop(body(rank), 6) for rank in range(4)}
    programs[3] = [*loop(body(3), 4), NORM, LOSS, *body(3)]
    for backend in ("gloo", "nccl"):
        job = Job(groups, programs, backend=backend, descs={"tp0": "mesh_tp", "tp1": "mesh_tp"})
        verdict = diagnose(case_of(job)).verdicts[0]
        assert blamed(verdict) == [3], (backend, verdict.sentence)


def test_two_faults_are_two_verdicts() -> None:
    groups = {"a": [0, 1, 2, 3], "b": [4, 5, 6, 7]}
    programs: dict[int, list[Step]] = {}
    for rank in range(8):
        body: list[Step] = [Call("a" if rank < 4 else "b", "all_reduce", 64, "layers.py:15")]
        programs[rank] = loop(body, 3 if rank == 1 else 4 if rank == 6 else 6)
    found = diagnose(case_of(Job(groups, programs))).verdicts
    assert sorted(blamed(v) for v in found) == [[1], [6]]


def test_every_verdict_cites_evidence_that_resolves() -> None:
    job = Job({WORLD: [0, 1, 2, 3]}, {**others(4), 3: [*loop(BODY, 5), BACKWARD, LOSS]})
    case = case_of(job)
    diagnosis = diagnose(case)
    verdict = diagnosis.verdicts[0]
    cited = {*verdict.evidence, *(i for wait in verdict.waits for i in wait.evidence)}
    assert cited
    assert cited <= {e.id for e in diagnosis.evidence}
    assert all(case.evidence(i) is not None for i in cited)


def test_one_of_three_behind_the_one_call_of_all_rounds_so_far() -> None:
    """The loop has one call; whoever is behind it, alone, is off the way of all."""
    groups = {WORLD: [0, 1, 2]}
    begins, behind = Call(WORLD, "broadcast", 1, "main.py:20"), Call(WORLD, "all_gather", 9, "main.py:40")
    for before in ([], [begins]):
        programs: dict[int, list[Step]] = {
            rank: [*before, *loop([Call(WORLD, "all_reduce", 4, "main.py:30")], 9)] for rank in range(3)
        }
        programs[2] = [*programs[2][:-2], behind]
        verdict = diagnose(case_of(Job(groups, programs, backend="gloo"))).verdicts[0]
        assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("rank_conditional", "supported", [2])
        followed = (
            "Every earlier all_reduce at main.py:30 was followed by the call of ranks 0 and 1, on all ranks."
        )
        assert followed in verdict.sentence
        assert "early_exit" in {other.cause for other in verdict.alternatives}


def test_who_did_otherwise_in_earlier_rounds_is_not_told_to_have_done_as_the_others() -> None:
    """Rank 2 has gone to the gather right after the reduction before: no way of it is that of all rounds."""
    groups = {WORLD: [0, 1, 2]}
    step, gather = Call(WORLD, "all_reduce", 4, "main.py:30"), Call(WORLD, "all_gather", 9, "main.py:40")
    programs: dict[int, list[Step]] = {rank: [step, step, gather, *loop([step], 6)] for rank in range(3)}
    programs[2] = [*programs[2][:-2], gather]
    verdict = diagnose(case_of(Job(groups, programs, backend="gloo"))).verdicts[0]
    assert "Every earlier" not in verdict.sentence
    assert "In the rounds before" not in verdict.sentence


def test_who_is_ahead_in_the_end_is_told_only_where_the_others_never_make_the_call() -> None:
    often = Call(WORLD, "all_reduce", 6436, "tally.py:7")
    body: list[Step] = [BACKWARD]
    alone: dict[int, list[Step]] = {rank: loop(body, 8) for rank in range(4)}
    alone[1] = [*loop([*body, often], 3), *loop(body, 4)]
    others_too = {
        **alone,
        0: [*loop(body, 5), often, *loop(body, 2)],
        3: [*loop(body, 5), often, *loop(body, 2)],
    }
    told = [diagnose(case_of(Job({WORLD: [0, 1, 2, 3]}, p, backend="gloo"))) for p in (alone, others_too)]
    sentences = [one.verdicts[0].sentence for one in told]
    assert "from there on its calls are one ahead. " in sentences[0]
    assert "did not make there" in sentences[0]
    assert "ahead" not in sentences[1]


def test_a_rank_on_neither_side_is_told_with_its_own_call() -> None:
    """Rank 0 made one call from another place before: it is in no cohort of the parting, and has the call there."""
    step, probe = Call(WORLD, "all_reduce", 4, "fit.py:17"), Call(WORLD, "all_reduce", 8, "probe.py:5")
    metric = Call(WORLD, "all_reduce", 4, "metric.py:3")
    programs: dict[int, list[Step]] = {0: loop([step], 9), 1: loop([step], 8), 2: [*loop([step], 6), probe]}
    programs[0][2] = metric
    verdict = diagnose(case_of(Job({WORLD: [0, 1, 2]}, programs, backend="gloo"))).verdicts[0]
    assert verdict.divergence is not None
    assert all(one.call is not None for one in verdict.divergence.cohorts)


def test_two_ways_that_ask_for_the_same_call_put_nobody_out_of_step() -> None:
    """Each layer gathers from one of two lines, as each rank's own data has it; the calls agree, one by one."""
    begin, norm = Call(WORLD, "all_gather", 27, "train.py:48"), Call(WORLD, "all_reduce", 16, "train.py:50")
    lines = {way: Call(WORLD, "all_gather", 140, f"model.py:{line}") for way, line in (("a", 34), ("b", 36))}
    for ways in (
        {0: ("aaab", "aaaa", "abab", "aaaa", "babb"), 1: ("baaa", "abab", "abaa", "aabb", "abaa")},
        {0: ("aaa", "abb", "aab", "aba", "bba"), 1: ("aba", "bba", "bab", "aaa", "aaa")},
        {0: ("aaa", "aba", "aaa", "baa", "baa"), 1: ("aaa", "aba", "aaa", "aab", "aba")},
    ):
        programs: dict[int, list[Step]] = {
            rank: [call for step in steps for call in (begin, *map(lines.__getitem__, step), norm)]
            for rank, steps in ways.items()
        }
        programs[0].append(begin)
        verdict = diagnose(case_of(Job({WORLD: [0, 1]}, programs, backend="gloo"))).verdicts[0]
        assert verdict.divergence is not None
        assert (verdict.divergence.kind, verdict.divergence.seq) == ("absent", len(programs[0]))


def test_who_goes_another_way_for_good_with_the_same_calls_is_not_ahead() -> None:
    """Ranks run out of data one after the other, and add nothing from another line from then on; all that they ask for
    is the same, and they come to the same call. That one of them has left rounds out explains no wait."""
    own, nothing = (
        Call(WORLD, "all_reduce", 13, "moments.py:15"),
        Call(WORLD, "all_reduce", 13, "moments.py:20"),
    )
    anyone = Call(WORLD, "all_reduce", 1, "moments.py:36")
    rounds = {0: 10, 1: 12, 2: 8, 3: 6}
    programs: dict[int, list[Step]] = {
        rank: [call for turn in range(12) for call in (anyone, own if turn < had else nothing)] + [anyone]
        for rank, had in rounds.items()
    }
    programs[1] = [*programs[1][:-1], Stop()]
    verdict = diagnose(case_of(Job({WORLD: [0, 1, 2, 3]}, programs, backend="gloo"))).verdicts[0]
    assert verdict.divergence is not None
    assert (verdict.divergence.kind, blamed(verdict)) == ("absent", [1])


def test_what_a_rank_left_out_is_told_by_those_of_its_part_in_the_job() -> None:
    """Rank 0 gathers what the others have made, by ways of its own; rank 3 has begun the next round without both calls
    of this one. The first that it left out is one of a group that rank 0 is not in."""
    groups = {WORLD: [0, 1, 2, 3, 4], "actors": [1, 2, 3, 4]}
    learner: list[Step] = [
        Call(WORLD, op, 8, f"learner.py:{line}") for op, line in (("broadcast", 3), ("gather", 4))
    ]
    actor: list[Step] = [
        Call(WORLD, "broadcast", 8, "actor.py:35"),
        Call("actors", "all_reduce", 3, "actor.py:39"),
        Call(WORLD, "gather", 8, "actor.py:40"),
    ]
    programs = {0: loop(learner, 9), **{rank: loop(actor, 9) for rank in (1, 2, 4)}}
    programs[3] = [*loop(actor, 6), actor[0], *loop(actor, 2)]
    verdict = diagnose(case_of(Job(groups, programs, backend="gloo"))).verdicts[0]
    assert verdict.cause != "order_inversion" and blamed(verdict) == [3]
    assert verdict.divergence is not None and verdict.divergence.seq == 7
    assert "all_reduce at actor.py:39" in verdict.sentence


def test_of_two_ranks_who_reads_alone_what_a_library_broadcasts_has_made_a_call_too_many() -> None:
    """Both read it in every round before, and the one that does not any more departs from no plan of anybody's."""
    read = Call(WORLD, "broadcast", 1, "notes.py:8")
    body: list[Step] = [BACKWARD, NORM, read]
    programs = {0: loop(body, 6), 1: [*loop(body, 5), BACKWARD, NORM, BACKWARD]}
    case = case_of(Job({WORLD: [0, 1]}, programs, backend="gloo"))
    assert blamed(diagnose(case).verdicts[0]) == [1]
    at = case.frames.filter(pl.col("file").str.ends_with("notes.py"))["frame"].item()
    own = pl.col("frame") == at
    library = case.frames.filter(own).with_columns(
        pl.lit(99, case.frames.schema["frame"]).alias("frame"),
        pl.lit("log_dir", case.frames.schema["function"]).alias("function"),
        pl.lit("/site/lightning/pytorch/trainer/trainer.py", case.frames.schema["file"]).alias("file"),
    )
    inner = pl.when(pl.col("site") == at).then(pl.lit([99, at], case.stacks.schema["frames"]))
    under = replace(
        case,
        frames=pl.concat([case.frames, library]),
        stacks=case.stacks.with_columns(inner.otherwise(pl.col("frames")).alias("frames")),
    )
    verdict = diagnose(under).verdicts[0]
    assert (verdict.cause, blamed(verdict)) == ("extra_collective", [0])


def test_what_a_ring_has_lost_may_have_been_by_this_path_too() -> None:
    programs: dict[int, list[Step]] = {**others(4), 1: loop(BODY, 6)}
    case = case_of(Job({WORLD: [0, 1, 2, 3]}, programs, backend="gloo"), ring=9)
    place = diagnose(case).verdicts[0].divergence
    assert place is not None and (place.place or "").startswith("at least the ")


@pytest.mark.parametrize("twice", [False, True])
def test_one_evaluation_left_out_or_made_twice_that_asks_for_what_a_step_does(twice: bool) -> None:
    """It differs at one place only, and the last calls agree: still the rank is a call ahead, or behind."""
    step, score = Call(WORLD, "all_reduce", 1, "train.py:10"), Call(WORLD, "all_reduce", 1, "eval.py:5")
    usual: list[Step] = [*loop([*[step] * 5, score], 2), *[step] * 3]
    programs: dict[int, list[Step]] = dict.fromkeys(range(4), usual)
    programs[3] = [*usual[:11], *([score, score] if twice else []), *usual[12:]]
    verdict = diagnose(case_of(Job({WORLD: [0, 1, 2, 3]}, programs, backend="gloo"))).verdicts[0]
    cause = "extra_collective" if twice else "skipped_collective"
    assert (verdict.cause, blamed(verdict)) == (cause, [3])


@pytest.mark.parametrize(
    ("of_the_sum", "of_the_other", "each", "named"),
    [
        pytest.param(("caaac", "caaca"), ("aacca",), 2, [4, 5], id="four against two"),
        pytest.param(("ccaaac", "caaaca"), ("caacac",), 1, [2], id="two against one"),
        pytest.param(("caaac", "caaca"), ("aacca", "acaca"), 1, [], id="two against two"),
    ],
)
def test_ranks_that_ask_for_one_thing_in_the_last_call_are_on_one_side_whatever_led_them_there(
    of_the_sum: tuple[str, ...], of_the_other: tuple[str, ...], each: int, named: list[int]
) -> None:
    """Each takes the ways of an `if` in rounds of its own, and who took one first looks as if it were ahead."""
    ask = {way: Call(WORLD, "all_reduce", 64, f"serve.py:{line}") for way, line in (("a", 10), ("c", 20))}
    reply, other = Call(WORLD, "all_gather", 8, "serve.py:30"), Call(WORLD, "broadcast", 8, "serve.py:40")
    ends = [*((ways, ask["a"]) for ways in of_the_sum), *((ways, other) for ways in of_the_other)]
    programs: dict[int, list[Step]] = dict(
        enumerate(
            [*(call for way in ways for call in (ask[way], reply)), last]
            for ways, last in ends
            for _ in range(each)
        )
    )
    verdict = diagnose(case_of(Job({WORLD: [*programs]}, programs, backend="gloo"))).verdicts[0]
    assert blamed(verdict) == named
    if named:
        assert verdict.divergence is not None and verdict.divergence.seq == 2 * len(of_the_sum[0]) + 1


LAST = Call(WORLD, "all_reduce", 2, "trainer.py:90")


def departed(gradients: tuple[int, int], skips: int, instead: list[Step], backend: str) -> Divergence:
    """Each of four ranks sums its gradients with one other, then makes three calls of all; in the fourth round rank 3
    makes other calls instead of so many at its end."""
    groups = {WORLD: [0, 1, 2, 3], "a": [0, 1], "b": [2, 3]}
    programs: dict[int, list[Step]] = {}
    for rank in range(4):
        pair, count = "ab"[rank // 2], gradients[rank // 2]
        body: list[Step] = [*[Call(pair, "all_reduce", 64, "trainer.py:30")] * count, NORM, LOSS, LAST]
        programs[rank] = [*loop(body, 3), *(loop(body, 2) if rank < 3 else [*body[:-skips], *instead])]
    job = Job(groups, programs, backend, descs={"a": "mesh_dp", "b": "mesh_dp"})
    verdict = diagnose(case_of(job)).verdicts[0]
    assert blamed(verdict) == [3] and verdict.divergence is not None
    return verdict.divergence


def test_many_calls_too_many_that_make_few_others_fit_explain_nothing() -> None:
    """The other stage has fewer gradients, and that was so all the time: rank 3 saves where the others sum."""
    found = departed((2, 28), 3, [Call(WORLD, "broadcast", 8, "save.py:12")], "gloo")
    assert (found.kind, found.group, found.seq) == ("substituted", "0 [0-3]", 10)


@pytest.mark.parametrize(
    "behind",
    [
        pytest.param([LOSS, LAST], id="as many, to the end"),
        pytest.param(
            [LOSS, LAST, Call("b", "all_reduce", 64, "trainer.py:30"), NORM, NORM], id="more, not to the end"
        ),
    ],
)
def test_calls_left_out_that_make_enough_others_fit_explain_those(behind: list[Step]) -> None:
    found = departed((1, 1), 4, behind, "nccl")
    assert (found.kind, found.group, found.seq) == ("skipped", "mesh_dp [2,3]", 4)
