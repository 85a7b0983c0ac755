"""`raised`: a rank ended with an exception."""

from __future__ import annotations

from support.reason import absent_rank, broke_off, no_dumps
from support.reason.building import WORLD, Call, Job, Step, case_of, loop
from support.reason.witnesses import (
    Witnesses,
    best,
    blamed,
)

from rankandfile.reason import diagnose


def test_a_rank_raised_and_its_peers_noticed() -> None:
    verdict = diagnose(broke_off.broken_off().raised(1, "ValueError: no shard 7").exit(1, 1).case).verdicts[0]
    assert (verdict.hang, verdict.cause, blamed(verdict)) == (False, "raised", [1])


def test_who_raised_is_not_doubted_because_it_is_a_member_of_what_waits_in_turn() -> None:
    """Rank 3 raised and is in its teardown, rank 2 waits for it, and the others for rank 2: its dump is lost."""
    groups = {WORLD: [0, 1, 2, 3], "tp": [2, 3]}
    body: list[Step] = [Call(WORLD, "all_reduce", 64, "trainer.py:63")]
    programs: dict[int, list[Step]] = {rank: loop(body, 5) for rank in (0, 1)}
    for rank in (2, 3):
        programs[rank] = [*loop(body, 4), Call("tp", "all_reduce", 8, "layers.py:4"), *body]
    programs[3] = loop(body, 4)
    witnesses = Witnesses(case_of(Job(groups, programs, backend="gloo"), lost=[3]))
    verdict = diagnose(witnesses.raised(3, "KeyError: -100").exit(3, "SIGTERM").case).verdicts[0]
    assert (verdict.cause, blamed(verdict)) == ("raised", [3])


def test_who_raised() -> None:
    verdict = best(no_dumps.all_gave_up(besides=(1,)).raised(1, "KeyError: -100"))
    assert (verdict.cause, blamed(verdict)) == ("raised", [1])


def test_an_exception_and_the_end_of_the_process() -> None:
    verdict = best(absent_rank.lost().raised(2, "KeyError: -100").exit(2, 1))
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("raised", "established", [2])
    assert verdict.culprits[0].doing == "raised KeyError: -100, and exited with code 1"
    assert verdict.location is not None
    assert verdict.location.line == 41
