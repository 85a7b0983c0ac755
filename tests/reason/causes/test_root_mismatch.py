"""`root_mismatch`: ranks take different ranks for the root of a call."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.reason import gloo_jobs
from support.reason.building import WORLD, Call, Job, Step, case_of, loop
from support.reason.witnesses import C10D, Witnesses, best, blamed

from rankandfile.model.case import Case
from rankandfile.model.diagnosis import Verdict
from rankandfile.pipeline import Options
from rankandfile.pipeline import diagnose as conclude
from rankandfile.reason import diagnose


def broadcasting(*roots: int | None, in_a_later_call: tuple[int, ...] = ()) -> Verdict:
    """All wait in one broadcast, and name these roots in their stacks."""
    ranks = list(range(len(roots)))
    call = Call(WORLD, "broadcast", 64, "a.py:7")
    job = Job(
        {WORLD: ranks},
        {rank: loop([call], 3) for rank in ranks},
        stalled=frozenset({(WORLD, 3)}),
        backend="gloo",
    )
    witnesses = Witnesses(case_of(job))
    for rank, root in enumerate(roots):
        op = "all_reduce" if rank in in_a_later_call else "broadcast"
        asked = None if root is None else f"{op}: src={root}\n{op}: group_src={root}"
        witnesses.stack(rank, [(op, C10D, 3151), ("adopt", "/workspace/a.py", 7)], asked=asked)
    return diagnose(witnesses.case).verdicts[0]


def test_the_one_that_names_another_root() -> None:
    verdict = broadcasting(0, 0, 2, 0)
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("root_mismatch", "supported", [2])
    assert "rank 2 takes 2 for the root" in verdict.sentence
    assert verdict.divergence is not None
    assert [cohort.ranks for cohort in verdict.divergence.cohorts] == ["0,1,3", "2"]


def test_two_that_disagree_blame_nobody() -> None:
    verdict = broadcasting(0, None, 2, None)
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("root_mismatch", "established", [])
    assert [other.culprits for other in verdict.alternatives][:2] == ["0", "2"]


def test_all_that_take_each_other_for_the_root_are_out_of_line() -> None:
    """As in a circle of waits: none of them sends. Where one takes itself for it, that one may be right."""
    assert blamed(broadcasting(1, 0)) == [0, 1]
    assert blamed(broadcasting(1, 2, 0)) == [0, 1, 2]
    assert blamed(broadcasting(0, 1)) == []
    assert blamed(broadcasting(1, 1)) == []
    assert "None of them takes itself for it" in broadcasting(1, 0).sentence


def test_agreement_and_another_functions_arguments_prove_nothing() -> None:
    assert broadcasting(0, 0, 0, 0).cause != "root_mismatch"
    assert blamed(broadcasting(0, 0, 2, 0, in_a_later_call=(2,))) == []


def test_several_are_done_with_a_broadcast_that_others_wait_in() -> None:
    programs: dict[int, list[Step]] = {
        rank: [*loop(gloo_jobs.STEP, 2), Call(WORLD, "broadcast", 64, "best.py:29", early=rank in (0, 3))]
        for rank in range(4)
    }
    job = Job({WORLD: [0, 1, 2, 3]}, programs, stalled=frozenset({(WORLD, 5)}))
    verdict = best(case_of(job))
    assert (verdict.cause, blamed(verdict)) == ("root_mismatch", [])
    assert verdict.confidence == "hypothesis"
    assert "network_stalled" in {a.cause for a in verdict.alternatives}


@pytest.mark.parametrize(
    ("odd", "value", "told"),
    [((3,), "3", [3]), ((0, 3), "3", []), ((3,), "40", [])],
    ids=["one", "as many as the others", "what is no rank of the job"],
)
def test_who_disagrees_the_logs_may_tell(odd: tuple[int, ...], value: str, told: list[int]) -> None:
    """What all wrote alike until then: whom they take for the best."""
    programs: dict[int, list[Step]] = {
        rank: [*loop(gloo_jobs.STEP, 2), Call(WORLD, "broadcast", 64, "best.py:29", early=rank in (0, 2))]
        for rank in range(4)
    }
    job = Job({WORLD: [0, 1, 2, 3]}, programs, stalled=frozenset({(WORLD, 5)}))
    witnesses = Witnesses(case_of(job))
    for rank in odd:
        said = {"others": 4 - len(odd), "other": "best is 1", "before": 2, "value": value, "usual": "1"}
        witnesses.event("value_differs_now", "fact", rank, f"best is {value}", **said)
    verdict = best(witnesses)
    assert (verdict.cause, blamed(verdict)) == ("root_mismatch", told)
    assert verdict.confidence == ("supported" if told else "hypothesis")
    assert ('Rank 3 wrote "best is 3"' in verdict.sentence) is bool(told)


def one_is_done(backend: str) -> Verdict:
    """Of three members that joined a broadcast."""
    programs: dict[int, list[Step]] = {
        rank: [*loop(gloo_jobs.STEP, 2), Call(WORLD, "broadcast", 64, "best.py:29", early=rank == 2)]
        for rank in range(3)
    }
    job = Job({WORLD: [0, 1, 2]}, programs, stalled=frozenset({(WORLD, 5)}), backend=backend)
    return best(case_of(job))


def test_on_hosts_not_even_one_is_done_while_two_that_joined_wait_on() -> None:
    verdict = one_is_done("gloo")
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("root_mismatch", "hypothesis", [])
    # With devices it may be the root, and done as soon as its data is on the way.
    assert one_is_done("nccl").cause != "root_mismatch"


RANKS = range(4)


def gather(is_root: bool) -> Call:
    out = [[8]] * 4 if is_root else []
    return Call(WORLD, "gather", 8, "metrics.py:11", sizes=([[8]], out))


def verdict_of(roots_at_the_end: set[int], rounds: int = 3) -> Verdict:
    """Rank 0 gathers for some rounds; then those named believe to be the root, and nobody gets on."""
    programs: dict[int, list[Step]] = {
        rank: [*loop([gather(rank == 0)], rounds), gather(rank in roots_at_the_end)] for rank in RANKS
    }
    job = Job({WORLD: list(RANKS)}, programs, stalled=frozenset({(WORLD, rounds + 1)}))
    return diagnose(case_of(job)).verdicts[0]


def test_a_second_root_is_named() -> None:
    verdict = verdict_of({0, 2})
    assert (verdict.cause, blamed(verdict), verdict.confidence) == ("root_mismatch", [2], "supported")
    assert verdict.divergence is not None
    assert (verdict.divergence.seq, verdict.divergence.kind) == (4, "argument")


def test_the_root_that_gave_up_its_part_is_named() -> None:
    verdict = verdict_of(set())
    assert (verdict.cause, blamed(verdict)) == ("root_mismatch", [0])


def test_without_earlier_rounds_nobody_is_named() -> None:
    verdict = verdict_of({0, 2}, rounds=0)
    assert (verdict.cause, blamed(verdict)) == ("root_mismatch", [])
    assert {a.culprits for a in verdict.alternatives} == {"0", "2"}


def test_one_root_is_as_it_should_be() -> None:
    assert verdict_of({0}).cause != "root_mismatch"
    assert verdict_of({1}).cause != "root_mismatch"


def test_the_root_of_a_broadcast_is_not_recorded() -> None:
    programs: dict[int, list[Step]] = {
        rank: loop([Call(WORLD, "broadcast", 8, "a.py:1")], 4) for rank in RANKS
    }
    verdict = diagnose(
        case_of(Job({WORLD: list(RANKS)}, programs, stalled=frozenset({(WORLD, 4)})))
    ).verdicts[0]
    assert (verdict.cause, blamed(verdict)) == ("undetermined", [])
    assert "root_mismatch" in {a.cause for a in verdict.alternatives}


def passing(table: int, roots: dict[int, int]) -> Verdict:
    """Ranks 0 and 2 wait in the first of so many broadcasts of a line, rank 3 in the second; they name these roots."""
    one = Call(WORLD, "broadcast", 64, "a.py:7")
    body: list[Step] = [Call(WORLD, "all_gather", 1, "a.py:3"), *[one] * table]
    stuck: list[Step] = [*loop(body, 3), body[0], one]
    past: list[Step] = [*stuck[:-1], one._replace(early=True), one]
    programs: dict[int, list[Step]] = {rank: past if rank in (1, 3) else stuck for rank in range(4)}
    job = Job(
        {WORLD: [0, 1, 2, 3]}, programs, backend="gloo", stalled=frozenset({(WORLD, 3 * (table + 1) + 2)})
    )
    witnesses = Witnesses(case_of(job))
    for rank, root in roots.items():
        asked = f"broadcast: src={root}\nbroadcast: group_src={root}"
        witnesses.stack(rank, [("broadcast", C10D, 3151), ("adopt", "/workspace/a.py", 7)], asked=asked)
    return diagnose(witnesses.case).verdicts[0]


def test_who_is_further_on_in_the_same_row_of_calls_is_a_witness() -> None:
    verdict = passing(2, {0: 3, 2: 2, 3: 3})
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("root_mismatch", "supported", [2])
    assert "Rank 3 is in a later one of the same line by now" in verdict.sentence


def test_where_each_may_have_its_turn_the_next_call_proves_nothing() -> None:
    assert blamed(passing(4, {0: 3, 2: 2, 3: 3})) == []


def with_variables(now: int, *, next_line: int = 12, alone: bool = False) -> list[int]:
    """Ranks 0 and 2 wait in a gather, each as its root; 1 and 3 are done with it and wait in the call after it. A
    variable of the function that made both is as the argument was, and `now` in those that are done."""
    gathered = Call(WORLD, "gather", 64, "a.py:7", sizes=([[64]], []))
    body: list[Step] = [gathered, Call(WORLD, "broadcast", 64, f"a.py:{next_line}")]
    stuck: list[Step] = [*loop([*body, body[1]] if alone else body, 3), gathered]
    past: list[Step] = [*stuck[:-1], gathered._replace(early=True), body[1]]
    job = Job(
        {WORLD: [0, 1, 2, 3]},
        {rank: past if rank in (1, 3) else stuck for rank in range(4)},
        backend="gloo",
        stalled=frozenset({(WORLD, 10 if alone else 7)}),
    )
    witnesses = Witnesses(case_of(job))
    for rank in range(4):
        done = rank in (1, 3)
        op, line, chief = ("broadcast", next_line, now) if done else ("gather", 7, rank)
        asked = f"broadcast: src={now}" if done else f"gather: dst={rank}\ngather: group_dst={rank}"
        witnesses.stack(
            rank,
            [(op, C10D, 3151), ("step", "/workspace/a.py", line)],
            asked=asked,
            variables=f"step: rank: {rank}\nstep: chief: {chief}",
        )
    return blamed(best(witnesses))


def test_of_one_that_is_done_the_variable_tells_that_the_root_came_from() -> None:
    assert with_variables(0) == [2]
    assert with_variables(2) == [0]
    # What it was given since is none of the roots in question.
    assert with_variables(1) == []
    assert with_variables(64) == []


def test_a_variable_tells_nothing_of_another_run_of_the_function() -> None:
    """Who stands further up in it has begun it anew; and so may who makes the later call without the former, too."""
    assert with_variables(0, next_line=5) == []
    assert with_variables(0, alone=True) == []


def test_who_asked_for_another_size_is_not_in_the_same_turn() -> None:
    """Of rank 2 there is no dump: its watchdog tells what it asked for."""
    ranks = [0, 1, 2, 3]
    call = Call(WORLD, "broadcast", 64, "a.py:7")
    job = Job(
        {WORLD: ranks},
        {rank: loop([call], 3) for rank in ranks},
        stalled=frozenset({(WORLD, 3)}),
        backend="gloo",
    )
    for size, one_call in ((64, True), (256, False)):
        witnesses = Witnesses(case_of(job, lost=[2]))
        for rank in ranks:
            root = 2 if rank == 2 else 0
            asked = f"broadcast: src={root}\nbroadcast: group_src={root}"
            witnesses.stack(rank, [("broadcast", C10D, 3151), ("adopt", "/workspace/a.py", 7)], asked=asked)
        witnesses.gave_up(2, 3, "BROADCAST", size)
        assert (best(witnesses).cause == "root_mismatch") is one_call


def without_dumps(*numbers: int) -> Verdict:
    """Stacks on one line, of which rank 0 names another root, and watchdogs that gave up on calls of these numbers."""
    witnesses = Witnesses(Case(world_size=len(numbers)))
    for rank, number in enumerate(numbers):
        root = 0 if rank == 0 else 1
        asked = f"broadcast: src={root}\nbroadcast: group_src={root}"
        witnesses.stack(rank, [("broadcast", C10D, 3151), ("adopt", "/workspace/a.py", 7)], asked=asked)
        witnesses.gave_up(rank, number, "BROADCAST", group="default_pg")
    return best(witnesses)


def test_on_one_line_by_stacks_alone_the_watchdogs_numbers_tell_whether_it_is_one_call() -> None:
    verdict = without_dumps(55, 55, 55)
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("root_mismatch", "supported", [0])
    assert without_dumps(55, 56, 55).confidence == "hypothesis"


@pytest.mark.parametrize(
    ("leader", "cause"),
    [
        ("table(score)", "root_mismatch"),
        ("dict(enumerate(gathered(score)))", "network_stalled"),
    ],
    ids=["its own entry as it was measured", "only what all have alike"],
)
def test_a_root_found_in_a_table_with_an_entry_of_its_own(leader: str, cause: str, tmp_path: Path) -> None:
    """All stand in one broadcast on the host, and nothing tells which root each takes: the program may."""
    program = f"""import torch
import torch.distributed as dist


def spread(net, score):
    best = max({leader}, key=score.get)
    dist.broadcast(net, src=best)  # here


def gathered(score):
    room = [torch.zeros(1) for _ in range(dist.get_world_size())]
    dist.all_gather(room, torch.tensor([score]))
    return [each.item() for each in room]


def table(score):
    me = dist.get_rank()
    scores = dict(enumerate(gathered(score)))
    scores[me] = score
    return scores
"""
    (tmp_path / "a.py").write_text(program)
    line = next(n for n, text in enumerate(program.splitlines(), 1) if "# here" in text)
    witnesses = gloo_jobs.gloo(op="broadcast")
    for rank in range(3):
        witnesses.stack(rank, [("broadcast", C10D, 3151), ("spread", "/workspace/a.py", line)])
    verdict = conclude(witnesses.case, Options(sources=(tmp_path,))).diagnosis.verdicts[0]
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == (cause, "hypothesis", [])
