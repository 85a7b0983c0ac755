"""What verdicts claim is checked by another way than they were reached, and the check notices when they are wrong."""

from __future__ import annotations

import random
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace
from support.reason.building import Call, Job, Step, Stop, case_of
from support.reason.transfers import SYNC, recv, send
from support.reason.witnesses import IN_ALL_REDUCE, Witnesses
from support.selected import in_lab

from rankandfile.lab.sim import catalog
from rankandfile.lab.sim.run import simulate
from rankandfile.model.case import Case
from rankandfile.model.claims import Base, InCall, Issued, Joined, LeftOut, NeverIssued, OfCall, StandsAt
from rankandfile.model.diagnosis import Diagnosis, from_json, to_json
from rankandfile.model.ledger import NOT_SAID
from rankandfile.model.ranks import format_ranks, parse_ranks
from rankandfile.pipeline import Options, run
from rankandfile.reason import diagnose, gather
from rankandfile.reason.claims.holds import CHECKS, holds
from rankandfile.reason.claims.raw import Raw
from rankandfile.reason.claims.said import may_be_said
from rankandfile.reason.verdict.calls_that_wait import calls_that_wait

SCENARIOS = list(catalog.scenarios())
HERE = ("skip-nonfinite-ddp", "extra-adapter-tp", "cycle-on-devices", "early-stop-3d", "blocked-loader-fsdp")


def all_reduce(line: int, op: str = "all_reduce") -> Call:
    return Call("0", op, 64, f"train.py:{line}")


def one_elsewhere() -> Case:
    """Rank 2 is in the barrier at the number at which all others reduce."""
    programs: dict[int, list[Step]] = {rank: [all_reduce(9), all_reduce(9)] for rank in range(4)}
    programs[2] = [all_reduce(9), all_reduce(30, "barrier")]
    return case_of(Job({"0": [0, 1, 2, 3]}, programs, backend="gloo"), waited_s=600)


def one_is_missing() -> Case:
    programs: dict[int, list[Step]] = {rank: [all_reduce(9)] * 3 for rank in range(4)}
    programs[2] = [all_reduce(9), Stop()]
    return case_of(Job({"0": [0, 1, 2, 3]}, programs, backend="gloo"), waited_s=600)


def unsaid(diagnosis: Diagnosis) -> list[str]:
    return [note.what for note in diagnosis.notes if note.where == NOT_SAID]


#: Where the reasoning offers a claim that the tables do not show, which so is not said: a counter in a log is taken
#: for a call in which ranks wait.
OFFERED_IN_VAIN: set[str] = set()


@pytest.mark.slow
@pytest.mark.parametrize("name", in_lab(SCENARIOS, HERE))
def test_every_claim_holds(name: str, tmp_path: Path) -> None:
    result = run([simulate(name, tmp_path / "it") / "evidence"], Options(jobs=1))
    raw = Raw(result.case)
    assert not unsaid(result.diagnosis) or name in OFFERED_IN_VAIN
    for verdict in result.diagnosis.verdicts:
        assert all(holds(raw, claim) for claim in verdict.claims)
        told = {(c.ranks, c.seq, c.op) for c in verdict.claims if isinstance(c, InCall)}
        assert {(wait.ranks, wait.seq, wait.op) for wait in verdict.waits} <= told


def test_a_rank_waits_in_the_call_of_its_own_record() -> None:
    verdict = diagnose(one_elsewhere()).verdicts[0]
    assert {(wait.ranks, wait.op, wait.seq) for wait in verdict.waits} == {
        ("0,1,3", "all_reduce", 2),
        ("2", "barrier", 2),
    }


def test_claims_are_in_the_document() -> None:
    made = diagnose(one_is_missing())
    assert {type(claim) for claim in made.verdicts[0].claims} == {InCall, NeverIssued, Issued}
    assert from_json(to_json(made)).verdicts[0].claims == made.verdicts[0].claims
    assert [str(claim) for claim in made.verdicts[0].claims][:2] == [
        "ranks 0,1,3 wait in all_reduce #2 of 0 [0-3] at train.py:9",
        "rank 2 never issued all_reduce #2 of 0 [0-3]",
    ]


def test_every_kind_of_claim_has_a_check() -> None:
    def kinds(of: type[Base]) -> set[type[Base]]:
        below = {one for kind in of.__subclasses__() for one in kinds(kind)}
        return below or {of}

    assert kinds(Base) == CHECKS.keys()


def test_what_does_not_hold_is_not_said() -> None:
    """A finding of a broken reasoning, that puts rank 2 into the call which it has not come to."""
    case = one_is_missing()
    finding = calls_that_wait(gather(case))[0]
    here = msgspec.structs.replace(finding.waits[0].here, ranks="0-3")
    nowhere = StandsAt(ranks="2", file="train.py", line=12)
    wrong = replace(finding, waits=(replace(finding.waits[0], here=here),), claims=(nowhere,))
    said = may_be_said(Raw(case), wrong)
    assert said.finding.waits[0].here.ranks == "0,1,3"
    assert said.finding.confidence == "hypothesis"
    assert [note.what for note in said.notes] == [
        "ranks 0-3 wait in all_reduce #2 of 0 [0-3] at train.py:9: the tables do not show it",
        "rank 2 stands at train.py:12: the tables do not show it",
    ]


OPS = ("all_gather", "barrier", "broadcast")


def broken(claim: OfCall, world: int, groups: list[str]) -> list[OfCall]:
    """The claim as a broken reasoning would make it."""
    change = msgspec.structs.replace
    own = set(parse_ranks(claim.ranks))
    others = sorted(set(range(world)) - own)
    made: list[OfCall] = []
    if others:
        made += [
            change(claim, ranks=format_ranks(others[:2])),
            change(claim, ranks=format_ranks([*own, others[0]])),
        ]
    if claim.seq is not None and claim.seq > 1:
        # As a count that is off by one would have it: no record is cited that would give it away.
        made.append(change(claim, seq=claim.seq - 1, evidence=[]))
        made.append(change(claim, seq=claim.seq - 1))
    if claim.op is not None and not isinstance(claim, NeverIssued | Joined):
        made.append(change(claim, op=next(op for op in OPS if op != claim.op)))
    if claim.line is not None:
        made.append(change(claim, line=claim.line + 1))
    if other := [group for group in groups if group != claim.group]:
        made.append(change(claim, group=other[0]))
    fields = {name: getattr(claim, name) for name in OfCall.__struct_fields__}
    if isinstance(claim, InCall | Issued):
        made += [NeverIssued(**fields), LeftOut(**fields)]
    elif isinstance(claim, NeverIssued):
        made += [InCall(**fields), Joined(**fields), Issued(**fields)]
    return made


@pytest.mark.slow
def test_a_broken_reasoning_is_noticed(tmp_path: Path) -> None:
    wrong: list[tuple[Raw, OfCall]] = []
    for name in HERE:
        result = run([simulate(name, tmp_path / name) / "evidence"], Options(jobs=1))
        raw, world = Raw(result.case), result.case.world_size or 0
        groups = [f"{group.desc} [{group.members}]" for group in result.diagnosis.job.groups]
        claims = [c for verdict in result.diagnosis.verdicts for c in verdict.claims if isinstance(c, OfCall)]
        wrong += [
            (raw, mutant)
            for claim in claims
            if isinstance(claim, InCall | Issued | NeverIssued | LeftOut)
            for mutant in broken(claim, world, groups)
        ]
    chosen = random.Random(16).sample(wrong, 50)
    missed = [str(claim) for raw, claim in chosen if holds(raw, claim)]
    assert len(missed) <= 5, missed


@pytest.mark.parametrize("backend", ["gloo", "nccl"])
def test_without_frames_a_call_is_known_by_what_it_asks_for(backend: str) -> None:
    """Rank 2 reduces as often as the others up to the number at which they wait: one loss fewer, and more weights."""
    weights, loss = Call("0", "all_reduce", 64, "train.py:9"), Call("0", "all_reduce", 1, "train.py:20")
    step: list[Step] = [weights, weights, loss]
    programs: dict[int, list[Step]] = dict.fromkeys(range(4), step * 6)
    programs[2] = [*step * 3, weights, weights, *step * 2]
    case = case_of(Job({"0": [0, 1, 2, 3]}, programs, backend=backend), frames=False)
    made = diagnose(case)
    assert (made.verdicts[0].cause, [one.rank for one in made.verdicts[0].culprits]) == (
        "skipped_collective",
        [2],
    )
    assert unsaid(made) == []
    (claim,) = [one for one in made.verdicts[0].claims if isinstance(one, LeftOut)]
    assert (claim.ranks, claim.seq, claim.file) == ("2", 12, None)
    assert not holds(Raw(case), msgspec.structs.replace(claim, ranks="1,2"))
    asked_alike = case.calls.with_columns(shape=case.calls["shape"].min())
    assert not holds(Raw(replace(case, calls=asked_alike)), claim)


def test_a_circle_of_three_ways_names_who_made_which_call() -> None:
    """Two ranks reduce, one is in a barrier, one in a broadcast: three calls at one number, and no two sides."""
    programs: dict[int, list[Step]] = {rank: [all_reduce(9), all_reduce(9)] for rank in range(4)}
    programs[1] = [all_reduce(9), all_reduce(30, "barrier")]
    programs[3] = [all_reduce(9), all_reduce(31, "broadcast")]
    verdict = diagnose(case_of(Job({"0": [0, 1, 2, 3]}, programs, backend="gloo"), waited_s=600)).verdicts[0]
    assert "ranks 1 and 3 made" not in verdict.sentence
    assert {(wait.ranks, wait.op) for wait in verdict.waits} == {
        ("0,2", "all_reduce"),
        ("1", "barrier"),
        ("3", "broadcast"),
    }
    assert not verdict.culprits


def test_what_nothing_tells_is_null() -> None:
    verdict = diagnose(Case(world_size=2)).verdicts[0]
    assert (verdict.cause, verdict.hang) == ("undetermined", None)


@pytest.mark.parametrize("world", [3, 5])
def test_a_circle_of_receives_names_all_who_are_in_it(world: int) -> None:
    """Each waits by a record of its own, which is another one's other half: all of it holds, and nobody is left out."""
    programs: dict[int, list[Step]] = {
        rank: [SYNC, recv((rank - 1) % world), send((rank + 1) % world)] for rank in range(world)
    }
    groups = {"0": list(range(world)), "pp": list(range(world))}
    made = diagnose(case_of(Job(groups, programs, backend="gloo"), waited_s=600))
    assert unsaid(made) == []
    assert [(one.ranks, one.state) for one in made.standings] == [(f"0-{world - 1}", "waits")]
    assert [one.rank for one in made.verdicts[0].named] == list(range(world))


def test_a_rank_that_sends_is_not_said_to_wait_in_a_receive() -> None:
    programs: dict[int, list[Step]] = {0: [SYNC, recv(1)], 1: [SYNC, recv(0)], 2: [SYNC, SYNC]}
    case = case_of(Job({"0": [0, 1, 2], "pp": [0, 1, 2]}, programs, backend="gloo"), waited_s=600)
    claim = next(
        c for v in diagnose(case).verdicts for c in v.claims if isinstance(c, InCall) and c.op == "recv"
    )
    wrong = msgspec.structs.replace(claim, ranks="0-2")
    assert not holds(Raw(case), wrong)


@pytest.mark.parametrize("by", ["all its dump", "its log"])
def test_a_stack_like_the_others_does_not_say_in_which_number_a_rank_waits(by: str) -> None:
    """Two threads ask: ranks 0 and 2 wait in the barrier of one while the other one reduces. Rank 1 reduces first, and
    stands with its main thread where theirs do."""
    ways = {rank: [all_reduce(9), all_reduce(30, "barrier"), all_reduce(9)] for rank in (0, 2)}
    programs: dict[int, list[Step]] = {**ways, 1: [all_reduce(9), all_reduce(9)]}
    lost = [1] if by == "its log" else []
    witnesses = Witnesses(case_of(Job({"0": [0, 1, 2]}, programs, backend="gloo"), waited_s=600, lost=lost))
    for rank in range(3):
        witnesses.stack(rank, IN_ALL_REDUCE, IN_ALL_REDUCE)
    case = witnesses.gave_up(1, 2).case
    verdict = diagnose(case).verdicts[0]
    assert all(wait.ranks == "0,2" for wait in verdict.waits if wait.op == "barrier")
    (claim,) = [c for c in verdict.claims if isinstance(c, InCall) and c.op == "barrier"]
    assert holds(Raw(case), claim)
    assert not holds(Raw(case), msgspec.structs.replace(claim, ranks="0-2"))
