"""Missing evidence is not guilt: lost dumps, dumps cut short, rings that wrapped, members nobody recorded."""

from __future__ import annotations

import polars as pl
import pytest
from msgspec.structs import replace
from support.reason.building import Call, Job, Step, Stop, case_of, loop
from support.reason.building import hidden as with_transfers
from support.reason.witnesses import IN_ALL_REDUCE, Frame, Witnesses, at

from rankandfile.model.case import Case
from rankandfile.model.diagnosis import Verdict
from rankandfile.model.ledger import Note
from rankandfile.reason import diagnose, gather
from rankandfile.reason.conclusion import conclude
from rankandfile.render.headline import headline

WORLD = "0"
BODY: list[Step] = [
    Call(WORLD, "all_reduce", 64, "trainer.py:63"),
    Call(WORLD, "all_gather", 8, "metrics.py:11"),
]


def job(absent: int = 2, size: int = 4, **more: object) -> Job:
    programs = {rank: loop(BODY, 6) for rank in range(size)}
    programs[absent] = [*loop(BODY, 4), Stop()]
    return Job({WORLD: list(range(size))}, programs, **more)  # type: ignore[arg-type]


def culprits(verdict: Verdict) -> list[int]:
    return [c.rank for c in verdict.culprits]


def suspects(verdict: Verdict) -> list[int]:
    return [s.rank for s in verdict.suspects]


def test_the_culprits_dump_is_lost() -> None:
    verdict = diagnose(case_of(job(), lost=[2])).verdicts[0]
    assert verdict.hang
    assert (verdict.cause, culprits(verdict)) == ("undetermined", [])
    assert any(a.culprits == "2" for a in verdict.alternatives)


def test_all_that_left_a_dump_wait_in_gloos_call_and_one_left_nothing() -> None:
    """No device has a part in it: had rank 2 come, and were its process at work, the call would end."""
    verdict = diagnose(case_of(job(backend="gloo"), lost=[2])).verdicts[0]
    assert (verdict.hang, verdict.confidence, culprits(verdict)) == (True, "supported", [2])
    assert "Rank 2 left no dump, as all others did" in verdict.sentence
    assert {a.cause for a in verdict.alternatives} >= {"killed", "raised", "network_stalled"}


@pytest.mark.parametrize(("waits", "together"), [(False, False), (False, True), (True, False)])
def test_who_waits_for_what_was_begun_before_is_not_blamed_for_not_coming(
    waits: bool, together: bool
) -> None:
    """Ranks 2 and 3 are in no recorded call: each at a line of its own, or in a wait whose call nothing names, as for a
    message; or in one line, and what they wait for left no frame."""
    size, absent = 6, (2, 3)
    programs: dict[int, list[Step]] = {
        rank: [*loop(BODY, 4), Stop()] if rank in absent else loop(BODY, 6) for rank in range(size)
    }
    case = case_of(Job({WORLD: list(range(size))}, programs, backend="gloo"), waited_s=700)
    witnesses = Witnesses(case)
    for rank in absent:
        held = [("wait_tensor", "torch/distributed/_functional_collectives.py", 160)] if waits else []
        for _ in range(2):
            witnesses.stack(rank, [*held, *at(27 if together else rank, "rotate", "/workspace/ring.py")])
    verdict = diagnose(witnesses.case).verdicts[0]
    assert culprits(verdict) == ([] if waits or together else [*absent])
    assert "send and receive" not in verdict.sentence


def test_a_rank_without_stack_and_frames_may_be_held_up_in_a_transfer() -> None:
    """gloo counts transfers before each call: of ranks 0 and 1 some, of the others none."""

    def told(frames: bool) -> Verdict:
        case = case_of(job(backend="gloo"), frames=frames)
        more = pl.when(pl.col("rank").is_in([0, 1])).then(2).otherwise(1)
        return diagnose(replace(case, calls=case.calls.with_columns(op_id=pl.col("seq") * more))).verdicts[0]

    assert culprits(told(frames=True)) == [2]
    verdict = told(frames=False)
    assert (verdict.hang, verdict.confidence, culprits(verdict)) == (True, "hypothesis", [])
    assert "which gloo does not record" in verdict.sentence
    assert "never issued" not in verdict.sentence


def test_nothing_but_counters_is_no_proof_that_a_rank_is_in_no_transfer() -> None:
    assert diagnose(case_of(job(backend="gloo"))).verdicts[0].confidence == "established"
    verdict = diagnose(case_of(job(backend="gloo"), frames=False)).verdicts[0]
    assert (verdict.confidence, culprits(verdict)) == ("supported", [2])


def unreadable(case: Case, rank: int) -> Case:
    return case.with_notes(
        Note(file=f"dumps/rank_{rank}", where="", what="not readable as a dump: it is empty")
    )


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case_of(job(), lost=[2]), id="a device may hold it up"),
        pytest.param(case_of(job(backend="gloo"), truncated=[2]), id="its file is cut short"),
        pytest.param(unreadable(case_of(job(backend="gloo"), lost=[2]), 2), id="its file cannot be read"),
        pytest.param(with_transfers(case_of(job(backend="gloo"), lost=[2])), id="it may be in a transfer"),
        pytest.param(case_of(job(backend="gloo"), lost=[2], waited_s=0.2), id="it may come yet"),
    ],
)
def test_whose_dump_is_lost_is_only_suspected_where_it_may_have_joined(case: Case) -> None:
    verdict = diagnose(case).verdicts[0]
    assert (verdict.confidence, culprits(verdict), suspects(verdict)) == ("hypothesis", [], [])
    assert verdict.alternatives[0].culprits == "2"


_ALL, _PAIR = Call("w", "all_reduce", 64, "t.py:5"), Call("b", "all_reduce", 8, "t.py:9")


@pytest.mark.parametrize(
    ("groups", "programs", "lost"),
    [
        pytest.param(
            {"w": [0, 1, 2], "b": [2, 3]},
            {0: [_ALL] * 6, 1: [_ALL] * 6, 2: [*[_ALL] * 6, _PAIR], 3: [*[_PAIR] * 4, Stop()]},
            2,
            id="it waits for one that waits in nothing",
        ),
        pytest.param(
            {"w": [0, 1, 2, 3], "b": [2, 3]},
            {
                0: [_ALL] * 6,
                1: [_ALL] * 6,
                2: [*[_ALL, _PAIR] * 4, _ALL, _ALL],
                3: [*[_ALL, _PAIR] * 5, _ALL],
            },
            3,
            id="it waits in a pair's call that its mate left out",
        ),
    ],
)
def test_whose_dump_is_lost_is_not_named_where_it_may_wait_in_another_group(
    groups: dict[str, list[int]], programs: dict[int, list[Step]], lost: int
) -> None:
    verdict = diagnose(case_of(Job(groups, programs, backend="gloo"), lost=[lost])).verdicts[0]
    assert lost not in culprits(verdict)


@pytest.mark.parametrize("lost", [[1, 2], [0, 1, 2]], ids=["a tie", "most"])
def test_where_as_many_dumps_are_lost_as_are_here_nobody_is_suspected(lost: list[int]) -> None:
    verdict = diagnose(case_of(job(backend="gloo"), lost=lost)).verdicts[0]
    assert (culprits(verdict), suspects(verdict)) == ([], [])


@pytest.mark.parametrize("backend", ["gloo", "nccl"])
@pytest.mark.parametrize(
    ("absent", "confidence", "too_many"),
    [([3], "established", []), ([2, 3], "supported", ["0,1"])],
    ids=["one of four", "two of four"],
)
def test_where_as_many_came_as_did_not_those_that_came_may_be_wrong(
    backend: str, absent: list[int], confidence: str, too_many: list[str]
) -> None:
    programs = {rank: [*loop(BODY, 4), *([Stop()] if rank in absent else BODY)] for rank in range(4)}
    verdict = diagnose(case_of(Job({WORLD: [0, 1, 2, 3]}, programs, backend=backend))).verdicts[0]
    assert (verdict.confidence, culprits(verdict)) == (confidence, absent)
    assert [a.culprits for a in verdict.alternatives if a.cause == "extra_collective"] == too_many


def test_one_against_one_while_dumps_are_lost_is_no_majority() -> None:
    """Rank 3 is seen to wait, rank 2 not to have come: what ranks 0 and 1 did would tell who is right."""
    verdict = diagnose(case_of(job(), lost=[0, 1])).verdicts[0]
    assert (verdict.hang, culprits(verdict)) == (True, [])
    assert {a.culprits for a in verdict.alternatives} >= {"2", "3"}
    assert "as many of those whose dumps are here" in verdict.sentence


def test_a_victims_dump_is_lost_and_the_culprit_is_there() -> None:
    verdict = diagnose(case_of(job(), lost=[0])).verdicts[0]
    assert culprits(verdict) == [2]


def test_a_dump_cut_short_proves_no_absence() -> None:
    healthy = {rank: loop(BODY, 6) for rank in range(4)}
    stalled = Job({WORLD: [0, 1, 2, 3]}, healthy, stalled=frozenset({(WORLD, 11)}))
    assert culprits(diagnose(case_of(stalled, truncated=[1])).verdicts[0]) == []
    assert culprits(diagnose(case_of(job(), truncated=[2])).verdicts[0]) == []


def test_a_group_that_the_ring_lost_proves_no_absence() -> None:
    """Rank 3 used the small group early; its ring has since lost that. It is not the one who never came."""
    groups = {WORLD: [0, 1, 2, 3], "side": [2, 3]}
    side: list[Step] = [Call("side", "all_reduce", 8, "side.py:5")]
    programs: dict[int, list[Step]] = {rank: loop(BODY, 20) for rank in (0, 1)}
    programs[2] = [*loop(BODY, 20), *side]
    programs[3] = [*side, *loop(BODY, 20)]
    stuck = Job(groups, programs, stalled=frozenset({("side", 1)}))
    verdict = diagnose(case_of(stuck, ring={3: 10})).verdicts[0]
    assert 3 not in culprits(verdict)


def test_running_is_not_hanging() -> None:
    assert not diagnose(case_of(job(), waited_s=0.2)).verdicts[0].hang
    assert diagnose(case_of(job(), waited_s=30)).verdicts[0].hang


@pytest.mark.parametrize(
    "helper", [False, True], ids=["a line of its own", "a line that all calls go through"]
)
@pytest.mark.parametrize(
    ("earlier", "named"), [(0, []), (2, [0])], ids=["for the first time", "as often before"]
)
def test_how_long_work_takes_that_was_not_done_before_nothing_tells(
    helper: bool, earlier: int, named: list[int]
) -> None:
    """Rank 0 writes a first checkpoint, say, and the others wait longer than they ever did: as healthy jobs do."""
    site = "comm.py:28" if helper else "save.py:9"
    save: Step = Call(WORLD, "barrier", 1, site)
    step: list[Step] = [Call(WORLD, "all_reduce", 64, site if helper else "trainer.py:63"), *BODY]
    before = [*loop(step, 3), *loop([*BODY, save], earlier), *BODY]
    programs = {rank: [*before, Stop() if rank == 0 else save] for rank in range(4)}
    verdict = diagnose(case_of(Job({WORLD: [0, 1, 2, 3]}, programs), waited_s=30)).verdicts[0]
    assert culprits(verdict) == named
    if not named:
        assert verdict.hang is None and [one.rank for one in verdict.suspects] == [0]
        assert verdict.assumed and "for the first time" in verdict.assumed
    over = diagnose(case_of(Job({WORLD: [0, 1, 2, 3]}, programs), waited_s=700)).verdicts[0]
    assert culprits(over) == [0], "its own timeout is a measure that needs no past"


@pytest.mark.parametrize(("looks", "waited_s"), [(1, 30), (2, 30), (1, 700)])
def test_one_look_at_who_does_new_work_shows_no_standstill(looks: int, waited_s: float) -> None:
    """Rank 0 is seen in code of its own while the others wait: it may build an index, and come."""
    build: Step = Call(WORLD, "broadcast", 64, "index.py:19")
    programs = {rank: [*loop(BODY, 4), Stop() if rank == 0 else build] for rank in range(4)}
    witnesses = Witnesses(case_of(Job({WORLD: [0, 1, 2, 3]}, programs, backend="gloo"), waited_s=waited_s))
    for _ in range(looks):
        witnesses.stack(0, at(8, "distance", "/workspace/index.py"))
    verdict = diagnose(witnesses.case).verdicts[0]
    if looks == 2 or waited_s == 700:
        assert (verdict.hang, culprits(verdict), verdict.cause) == (True, [0], "host_blocked")
    else:
        assert (verdict.hang, culprits(verdict)) == (None, [])
        assert [one.rank for one in verdict.suspects] == [0] and verdict.divergence is None
        assert verdict.assumed and "for the first time" in verdict.assumed
        assert "never" not in verdict.sentence


@pytest.mark.parametrize(
    ("lines", "running", "named"),
    [
        pytest.param((8, 8), True, False, id="it runs each time"),
        pytest.param((8, 9), None, False, id="it moves"),
        pytest.param((8, 8), False, True, id="it is idle"),
    ],
)
def test_who_is_seen_to_compute_or_to_move_in_new_work_may_come_yet(
    lines: tuple[int, ...], running: bool | None, named: bool
) -> None:
    build: Step = Call(WORLD, "broadcast", 64, "index.py:19")
    programs = {rank: [*loop(BODY, 4), Stop() if rank == 0 else build] for rank in range(4)}
    witnesses = Witnesses(case_of(Job({WORLD: [0, 1, 2, 3]}, programs, backend="gloo"), waited_s=30))
    for line in lines:
        witnesses.stack(0, at(line, "distance", "/workspace/index.py"), running=running)
    verdict = diagnose(witnesses.case).verdicts[0]
    assert (verdict.hang, culprits(verdict)) == ((True, [0]) if named else (None, []))
    assert [one.rank for one in verdict.suspects] == ([] if named else [0])
    assert named or (verdict.assumed and "for the first time" in verdict.assumed)


@pytest.mark.parametrize(
    ("looks", "named"),
    [
        pytest.param([], True, id="nobody looked"),
        pytest.param([at(8), IN_ALL_REDUCE], False, id="it moves"),
    ],
)
def test_whoever_says_that_it_hung_is_believed_after_new_work_too(
    looks: list[list[Frame]], named: bool
) -> None:
    """Rank 0 has not come to the first save, and somebody has seen that this does not end."""
    save: Step = Call(WORLD, "barrier", 1, "save.py:9")
    programs = {rank: [*loop(BODY, 4), Stop() if rank == 0 else save] for rank in range(4)}
    case = Witnesses(case_of(Job({WORLD: [0, 1, 2, 3]}, programs), waited_s=30)).stack(0, *looks).case
    unsaid, said = (conclude(gather(case, hung=hung)).verdicts[0] for hung in (False, True))
    assert (unsaid.hang, culprits(unsaid), suspects(unsaid)) == (None, [], [0])
    if named:
        assert (said.hang, said.confidence, culprits(said)) == (True, "supported", [0])
        assert said.assumed is None and headline(said, 4).startswith("HANG: rank 0")
        assert "never issued the barrier" in said.sentence
    else:
        assert (said.hang, culprits(said), suspects(said)) == (None, [], [0])
        assert said.assumed and "for the first time" in said.assumed


def test_members_that_nobody_recorded_follow_from_the_mesh() -> None:
    """gloo: each group shows only who used it. Rank 3 never got to its first call on mesh_dp."""
    groups = {"1": [0, 2], "2": [1, 3], "3": [0, 1], "4": [2, 3], WORLD: [0, 1, 2, 3]}
    descs = {"1": "mesh_dp", "2": "mesh_dp", "3": "mesh_tp", "4": "mesh_tp", WORLD: "default_pg"}
    programs: dict[int, list[Step]] = {}
    for rank in range(4):
        tp, dp = ("3" if rank < 2 else "4"), ("1" if rank % 2 == 0 else "2")
        body: list[Step] = [Call(tp, "all_reduce", 64, "layers.py:15")]
        programs[rank] = [*loop(body, 3), Call(dp, "all_reduce", 99, "optimizer.py:10")]
    programs[3] = [*programs[3][:-1], Stop()]
    verdict = diagnose(case_of(Job(groups, programs, backend="gloo", descs=descs), members=False)).verdicts[0]
    assert culprits(verdict) == [3]
    assert verdict.divergence is not None and verdict.divergence.members == "1,3"


@pytest.mark.parametrize(("known", "named"), [(False, []), (True, [0, 3])])
def test_who_made_no_call_may_still_be_making_a_group_that_the_others_have(
    known: bool, named: list[int]
) -> None:
    """gloo: ranks 1 and 2 made a group of their own while ranks 0 and 3, unseen, made another one."""
    groups = {WORLD: [0, 1, 2, 3], "1": [1, 2]}
    inner: list[Step] = [
        *loop([Call("1", "all_reduce", 64, "average.py:17")], 4),
        Call(WORLD, "all_reduce", 1, "inventory.py:12"),
    ]
    programs: dict[int, list[Step]] = {0: [Stop()], 1: inner, 2: inner, 3: [Stop()]}
    case = case_of(Job(groups, programs, backend="gloo"))
    if not known:
        by_use = pl.when(pl.col("name") == "1").then(pl.lit("inferred")).otherwise(pl.col("members_from"))
        case = replace(case, groups=case.groups.with_columns(members_from=by_use))
    verdict = diagnose(case).verdicts[0]
    assert (verdict.hang, culprits(verdict)) == (True, named)
    assert known or "ranks 1 and 2 have used group 1 [1,2]" in verdict.sentence


AGES = 400 * 86_400.0
"""Dumps that were checked out from a repository bear the time of the checkout."""


def mesh_job(backend: str) -> Job:
    """Two tensor-parallel pairs and two data-parallel ones; rank 3 stops before a tensor-parallel call."""
    groups = {"tp0": [0, 1], "tp1": [2, 3], "dp0": [0, 2], "dp1": [1, 3]}
    descs = {"tp0": "mesh_tp", "tp1": "mesh_tp", "dp0": "mesh_dp", "dp1": "mesh_dp"}
    programs: dict[int, list[Step]] = {}
    for rank in range(4):
        body: list[Step] = [
            Call(f"tp{rank // 2}", "all_reduce", 64, "layers.py:15"),
            Call(f"dp{rank % 2}", "all_reduce", 99, "optimizer.py:10"),
        ]
        programs[rank] = loop(body, 5) if rank != 3 else [*loop(body, 3), Stop()]
    return Job(groups, programs, backend=backend, descs=descs)


@pytest.mark.parametrize("backend", ["gloo", "nccl"])
@pytest.mark.parametrize("waited_s", [AGES, -5.0])
def test_without_a_clock_that_all_others_wait_in_turn_proves_nothing(backend: str, waited_s: float) -> None:
    """So they do for a moment, in calls of several groups, for whoever is late in a healthy job."""
    verdict = diagnose(case_of(mesh_job(backend), waited_s=waited_s)).verdicts[0]
    assert (verdict.hang, verdict.confidence, culprits(verdict)) == (None, "hypothesis", [])
    assert [one.rank for one in verdict.suspects] == [3]
    assert verdict.assumed == "it hung: the files do not tell when they were written"


@pytest.mark.parametrize("backend", ["gloo", "nccl"])
def test_without_a_clock_it_is_taken_for_a_hang_and_that_is_said(backend: str) -> None:
    """All but one in a call: so it looks, too, while one of a healthy job is late. But somebody asks, and files that
    were copied have lost their times."""
    programs: dict[int, list[Step]] = {rank: loop(BODY, 4) for rank in range(4)}
    programs[2] = [*loop(BODY, 3), BODY[0], Stop()]
    verdict = diagnose(
        case_of(Job({WORLD: [0, 1, 2, 3]}, programs, backend=backend), waited_s=AGES)
    ).verdicts[0]
    assert (verdict.hang, verdict.confidence, culprits(verdict)) == (None, "hypothesis", [])
    assert [one.rank for one in verdict.suspects] == [2]
    assert verdict.divergence is None, "whoever had not come may have come later"
    assert verdict.assumed == "it hung: the files do not tell when they were written"


def test_without_a_clock_broken_promises_are_told_all_the_same() -> None:
    programs: dict[int, list[Step]] = {rank: loop(BODY, 6) for rank in range(4)}
    programs[1] = [*loop(BODY, 3), BODY[1], *loop(BODY, 2)]
    verdict = diagnose(case_of(Job({WORLD: [0, 1, 2, 3]}, programs), waited_s=AGES)).verdicts[0]
    assert (verdict.cause, culprits(verdict)) == ("skipped_collective", [1])


def noticed(waited_s: float) -> Verdict:
    """gloo: rank 2 stops; the others give up waiting, which is recorded as if their call had ended."""
    case = case_of(job(backend="gloo"), waited_s=waited_s)
    gave_up = (pl.col("state") == "issued") & pl.col("rank").is_in([0, 1, 3])
    state = (
        pl.when(gave_up).then(pl.lit("ended", case.calls.schema["state"])).otherwise("state").alias("state")
    )
    return diagnose(replace(case, calls=case.calls.with_columns(state))).verdicts[0]


def test_a_wait_that_failed_is_not_a_call_that_succeeded() -> None:
    verdict = noticed(waited_s=30)
    assert verdict.hang
    assert culprits(verdict) == [2]


def test_dumps_written_one_after_the_other_prove_no_failed_wait() -> None:
    assert culprits(noticed(waited_s=0.2)) == []
    assert culprits(noticed(waited_s=AGES)) == []


@pytest.mark.parametrize("ring", [None, {0: 1, 1: 1}])
def test_a_call_that_a_ring_lost_still_came_first(ring: dict[int, int] | None) -> None:
    """Rank 3 stops before a tensor-parallel call. Ranks 0 and 1 made theirs, and their rings have lost it."""
    mesh = mesh_job("gloo")
    programs: dict[int, list[Step]] = {}
    for rank in range(4):
        layers: list[Step] = loop([Call(f"tp{rank // 2}", "all_reduce", 64, "layers.py:15")], 4)
        sums: list[Step] = loop([Call(f"dp{rank % 2}", "all_reduce", 99, "optimizer.py:10")], 4)
        programs[rank] = [*layers, *sums, *layers, *sums]
    programs[3] = [*programs[3][:11], Stop()]
    verdict = diagnose(case_of(Job(mesh.groups, programs, "gloo", descs=mesh.descs), ring=ring)).verdicts[0]
    assert culprits(verdict) == [3]
    assert verdict.divergence is not None and (verdict.divergence.group or "").startswith("mesh_tp")
