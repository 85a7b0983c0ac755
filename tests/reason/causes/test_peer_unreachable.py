"""`peer_unreachable`: a rank is cut off from all others."""

from __future__ import annotations

import polars as pl
import pytest
from msgspec.structs import replace
from support.reason import absent_rank, broke_off, data_parallel, machines
from support.reason.building import WORLD, Call, Job, Step, Stop, case_of, loop
from support.reason.witnesses import (
    Witnesses,
    at,
    best,
    blamed,
    suspected,
)

from rankandfile.reason import diagnose


def silent() -> Witnesses:
    """All but rank 2 gave up, in a group whose counters nobody asks for; rank 2 lives."""
    groups = {WORLD: [0, 1, 2, 3], "dp": [0, 1, 2, 3]}
    body: list[Step] = [Call("dp", "all_reduce", 64, "trainer.py:63")]
    programs = {rank: loop(body, 6) for rank in range(4)}
    programs[2] = [*loop(body, 4), Stop()]
    witnesses = Witnesses(case_of(Job(groups, programs), lost=[2])).exit(2, "SIGTERM").log(2, 2)
    for rank in (0, 1, 3):
        witnesses.gave_up(rank, 5, group="dp")
    return witnesses


WORKER = "the worker at node1:7400 does not answer any more"


def test_a_process_that_its_controller_reaches_no_more() -> None:
    """Whether others wait for it in a recorded call, ended because of it, or do neither."""
    waited_for = best(absent_rank.lost().reached_no_more(2, WORKER))
    assert (waited_for.hang, waited_for.cause, blamed(waited_for)) == (True, "peer_unreachable", [2])
    assert f"lost ({WORKER})" in waited_for.sentence
    ended = diagnose(broke_off.broken_off().reached_no_more(1, WORKER).case).verdicts[0]
    assert (ended.hang, ended.cause, blamed(ended)) == (False, "peer_unreachable", [1])
    at_rest = Witnesses(case_of(data_parallel.world(4, {}, backend="gloo"), lost=[3]))
    alone = diagnose(at_rest.reached_no_more(3, WORKER).case).verdicts[0]
    assert (alone.hang, alone.cause, blamed(alone)) == (None, "peer_unreachable", [3])
    told = (waited_for, ended, alone)
    assert not any("shared storage" in one.how for verdict in told for one in verdict.missing_evidence)


def test_a_lost_process_of_two_that_the_other_one_ended_of() -> None:
    """That it is lost is told: here its peer's word alone says whom the connection was to."""
    body: list[Step] = [Call(WORLD, "all_reduce", 64, "average.py:17")]
    job = Job({WORLD: [0, 1]}, {0: loop(body, 4), 1: [*loop(body, 3), Stop()]}, backend="gloo")
    witnesses = Witnesses(case_of(job, lost=[1], waited_s=0.5)).exit(0, 1).reached_no_more(1, WORKER)
    verdict = diagnose(broke_off.echo(witnesses, 0, broke_off.LOST).case).verdicts[0]
    assert (verdict.hang, verdict.cause, blamed(verdict)) == (False, "peer_unreachable", [1])


def test_silence_alone_blames_nobody() -> None:
    assert blamed(best(silent())) == []


def test_who_answers_and_gave_up_on_nothing_is_held_up() -> None:
    verdict = best(silent().answered(2, 0))
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("host_blocked", "supported", [2])


def test_silence_in_all_sources_where_all_others_speak() -> None:
    witnesses = silent()
    for rank in (0, 1, 3):
        witnesses.stack(rank, at(63, "step", "/workspace/trainer.py"))
    verdict = best(witnesses)
    assert (verdict.confidence, suspected(verdict)) == ("hypothesis", [2])
    assert verdict.alternatives[0].cause == "peer_unreachable"


def test_two_silent_ranks_are_not_blamed_for_silence() -> None:
    witnesses = silent().answered(2, 0)
    witnesses.case = replace(witnesses.case, events=witnesses.case.events.filter(pl.col("rank") != 3))
    assert blamed(best(witnesses)) == []


def test_ras_that_misses_a_process_is_no_proof() -> None:
    missing = {"processes": [{"pid": 1002, "host": "10.1.0.2", "gpu": "0"}]}
    witnesses = absent_rank.lost().exit(2, "running").event("ras_missing", "fact", None, **missing)
    assert blamed(best(witnesses)) == []
    witnesses.event("ib_completion_error", "messenger", 0, status=12)
    verdict = best(witnesses)
    assert (verdict.cause, blamed(verdict)) == ("peer_unreachable", [2])


def lost(witnesses: Witnesses, rank: int, peer: int, error: str = "Connection timed out") -> Witnesses:
    return witnesses.event("gloo_peer_closed", "echo", rank, error, peer=f"[node{peer}]:1234", error=error)


def test_the_host_at_one_end_of_every_lost_connection() -> None:
    witnesses = machines.on_hosts()
    for rank, peer in ((1, 2), (2, 1), (3, 2)):
        lost(witnesses, rank, peer)
    verdict = best(witnesses)
    assert (verdict.cause, blamed(verdict)) == ("peer_unreachable", [2])


def test_one_lost_connection_has_two_ends() -> None:
    verdict = best(lost(lost(machines.on_hosts(), 1, 2), 2, 1))
    assert (verdict.cause, blamed(verdict)) == ("link_error", [])
    assert [other.culprits for other in verdict.alternatives] == ["1", "2"]


def ended(witnesses: Witnesses, *ranks: int) -> Witnesses:
    """These raised what they learned of their connections; the others are there."""
    for rank in machines.RANKS:
        witnesses.exit(rank, 1 if rank in ranks else "running")
        if rank in ranks:
            witnesses.event(
                "traceback", "echo", rank, exception="RuntimeError", message="Read error", frames=[]
            )
    return witnesses


@pytest.mark.parametrize("gone", [(), (2,), (2, 3)], ids=["nobody", "one end", "both ends"])
def test_who_ended_upon_a_lost_connection_did_not_stay_away(gone: tuple[int, ...]) -> None:
    """That nobody noticed its end is no sign: what it forked may hold its connections open."""
    verdict = best(ended(lost(machines.on_hosts(), 2, 3), *gone))
    assert (verdict.cause, blamed(verdict)) == ("link_error", [])
    assert "(node2)" in verdict.sentence and "(node3)" in verdict.sentence


@pytest.mark.parametrize(
    "witnesses",
    [
        lost(machines.on_hosts(), 2, 3, "Connection reset by peer"),
        lost(machines.on_hosts(), 2, 9),
        lost(machines.on_hosts(per_host=2), 2, 3),
        lost(lost(machines.on_hosts(), 2, 3), 1, 2, "No route to host"),
        lost(machines.on_hosts(), 2, 3).exit(0, "SIGKILL"),
    ],
    ids=["the other end is there", "a host of another job", "one host", "two links", "one was killed"],
)
def test_no_link_is_at_fault(witnesses: Witnesses) -> None:
    assert best(witnesses).cause != "link_error"


def test_a_connection_that_was_closed_is_no_lost_host() -> None:
    witnesses = lost(
        lost(machines.on_hosts(), 1, 2, "Connection reset by peer"), 3, 2, "Connection reset by peer"
    )
    assert blamed(best(witnesses)) == []
