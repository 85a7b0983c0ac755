"""`size_mismatch`: ranks asked for different sizes in one call."""

from __future__ import annotations

from support.reason import data_parallel, loops, lost_dumps
from support.reason.building import WORLD, Call, Job, Step, case_of, loop
from support.reason.witnesses import TORCH, Witnesses, best, blamed

from rankandfile.model.claims import Differs, OtherCall
from rankandfile.model.diagnosis import Verdict
from rankandfile.reason import diagnose


def test_another_size_under_the_same_number() -> None:
    programs = {rank: loop(lost_dumps.BODY[:1], 6) for rank in range(4)}
    witnesses = Witnesses(
        case_of(Job({WORLD: [0, 1, 2, 3]}, programs, stalled=frozenset({(WORLD, 6)})), lost=[2])
    )
    assert blamed(best(witnesses.gave_up(2, 6, size=64))) == []
    other = Witnesses(
        case_of(Job({WORLD: [0, 1, 2, 3]}, programs, stalled=frozenset({(WORLD, 6)})), lost=[2])
    ).gave_up(2, 6, size=65)
    assert blamed(best(other)) == [2]


WAY = [
    ["all_reduce", f"{TORCH}/distributed/distributed_c10d.py", 3245],
    ["step", "/workspace/trainer.py", 63],
]


def told_by_its_watchdog(size: int, *, line: int) -> Verdict:
    """Rank 2 left no dump; its watchdog printed the stack of the call that the others made from line 63."""
    programs = {rank: loop(lost_dumps.BODY[:1], 6) for rank in range(4)}
    job = Job({WORLD: [0, 1, 2, 3]}, programs, stalled=frozenset({(WORLD, 6)}))
    witnesses = Witnesses(case_of(job, lost=[2])).gave_up(2, 6, size=size)
    frames = [WAY[0], [*WAY[1][:2], line]]
    said = {"group_name": "0", "group_desc": "0", "seq": 6, "op": "ALLREDUCE"}
    return best(witnesses.event("failed_stack", "fact", 2, frames=frames, **said))


def test_another_size_of_the_same_line_by_its_watchdog() -> None:
    verdict = told_by_its_watchdog(65, line=63)
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("size_mismatch", "supported", [2])
    assert any(isinstance(claim, Differs) for claim in verdict.claims)
    assert blamed(told_by_its_watchdog(64, line=63)) == []


def test_the_same_operation_from_another_line_by_its_watchdog() -> None:
    verdict = told_by_its_watchdog(65, line=70)
    assert (verdict.confidence, blamed(verdict)) == ("supported", [2])
    assert any(isinstance(claim, OtherCall) for claim in verdict.claims)


def test_an_operation_that_is_not_known_is_compared_by_name_and_said() -> None:
    new = Call(WORLD, "quantum_reduce", 8, "new.py:3")
    body: list[Step] = [new, loops.BACKWARD]
    odd: list[Step] = [*loop(body, 4), new._replace(size=9), loops.BACKWARD]
    job = Job({WORLD: [0, 1, 2, 3]}, {**{r: loop(body, 5) for r in range(4)}, 2: odd})
    assert diagnose(case_of(job)).verdicts[0].cause != "size_mismatch"
    job = Job(
        {WORLD: [0, 1, 2, 3]}, {**{r: loop(body, 6) for r in range(4)}, 2: [*loop(body, 4), *body[1:] * 2]}
    )
    diagnosis = diagnose(case_of(job))
    assert blamed(diagnosis.verdicts[0]) == [2]
    assert any("quantum_reduce" in str(note) and "by its name only" in note.what for note in diagnosis.notes)
    known = diagnose(case_of(Job({WORLD: [0, 1]}, loops.others(2))))
    assert not any("name only" in note.what for note in known.notes)


def test_two_ranks_and_nothing_tells() -> None:
    one: list[Step] = [loops.BACKWARD, loops.NORM]
    other: list[Step] = [loops.BACKWARD, loops.LOSS]
    verdict = loops.verdict_of({0: one, 1: other})
    assert blamed(verdict) == []
    assert {a.culprits for a in verdict.alternatives} == {"0", "1"}
    size = loops.verdict_of(
        {0: [loops.BACKWARD, loops.NORM], 1: [loops.BACKWARD, loops.NORM._replace(size=2)]}
    )
    assert (size.cause, blamed(size)) == ("size_mismatch", [])


def test_another_size_on_one_rank() -> None:
    verdict = data_parallel.only(
        case_of(data_parallel.world(4, {3: [*loop(data_parallel.STEP, 3), data_parallel.all_reduce(512)]}))
    )
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("size_mismatch", "established", [3])
    assert verdict.divergence is not None
    assert [c.call.detail for c in verdict.divergence.cohorts if c.call] == ["[1024] Float", "[512] Float"]


def slices_of(*rounds: list[int]) -> Verdict:
    """What each rank gives to an all_to_all and takes of it, round by round: it hangs in the last."""
    programs: dict[int, list[Step]] = {
        rank: [
            Call(WORLD, "all_to_all", site="a.py:9", sizes=([[had[rank], 8]], [[had[rank], 8]]))
            for had in rounds
        ]
        for rank in range(len(rounds[0]))
    }
    stalled = frozenset({(WORLD, len(rounds))})
    return diagnose(case_of(Job({WORLD: [*programs]}, programs, stalled=stalled))).verdicts[0]


def test_who_alone_has_another_amount_in_an_all_to_all_in_which_all_always_had_as_much() -> None:
    verdict = slices_of([64] * 4, [32] * 4, [64] * 4, [64, 64, 48, 64])
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("size_mismatch", "supported", [2])
    assert "rank 2 gives and takes 48 rows" in verdict.sentence.replace("Rank", "rank")
    assert "In the 3 calls of this line before" in verdict.sentence


def test_too_few_rounds_or_amounts_that_differed_before_or_two_against_two_blame_nobody() -> None:
    for rounds in (
        ([64] * 4, [64] * 4, [64, 64, 48, 64]),
        ([64] * 4, [64, 32, 64, 64], [64] * 4, [64] * 4, [64, 64, 48, 64]),
        ([64] * 4, [64] * 4, [64] * 4, [48, 64, 48, 64]),
    ):
        assert blamed(slices_of(*rounds)) == []


def test_amounts_that_no_equal_slices_come_to_were_given_sizes_of_their_own() -> None:
    verdict = slices_of([64] * 4, [64] * 4, [64] * 4, [6, 6, 5, 6])
    assert verdict.cause != "size_mismatch" and not blamed(verdict)
