"""Lines of the kernel, the network and the monitor: tied to a rank where they can be, and to none where not."""

from __future__ import annotations

import pytest
from support.reason.building import Call, Job, Step, case_of, loop
from support.reason.witnesses import Witnesses, best, blamed

from rankandfile.reason import diagnose

WORLD = "0"
BODY: list[Step] = [Call(WORLD, "all_reduce", 64, "trainer.py:63")]
RANKS = range(4)


def stalled() -> Witnesses:
    """All members join the last call, and none finishes it."""
    job = Job({WORLD: list(RANKS)}, {rank: loop(BODY, 6) for rank in RANKS}, stalled=frozenset({(WORLD, 6)}))
    return Witnesses(case_of(job))


def on_hosts(per_host: int = 1) -> Witnesses:
    """NCCL's lines of setup: `per_host` ranks on each host, the first of each on the same bus."""
    witnesses = stalled()
    for rank in RANKS:
        bus = ["9d000", "1b000"][rank % per_host]
        witnesses.event("nccl_init", "fact", rank, shape="N1", host=f"node{rank // per_host}", bus=bus)
    return witnesses


def xid(witnesses: Witnesses, host: str | None, bus: str, **more: object) -> Witnesses:
    text = f"NVRM: Xid (PCI:{bus}): 79, GPU has fallen off the bus."
    return witnesses.event("xid", "origin", None, text, host=host, bus=bus, code=79, error="fell off", **more)


@pytest.mark.parametrize("bus", ["0000:9d:00", "9d:00.0", "0000:9D:00.0"])
def test_an_xid_without_a_process_is_of_the_rank_that_uses_the_device(bus: str) -> None:
    verdict = best(xid(on_hosts(), "node2", bus))
    assert (verdict.cause, blamed(verdict)) == ("gpu_error", [2])
    assert "Xid 79" in (verdict.culprits[0].doing or "")


@pytest.mark.parametrize(
    ("host", "bus"),
    [
        (None, "0000:9d:00"),  # every host has such a device
        ("node2", "0000:3e:00"),  # no rank is known to use it
        ("node9", "0000:9d:00"),  # a host of another job
        ("node2", "rubbish"),
    ],
)
def test_an_xid_that_fits_no_rank_for_sure_accuses_none(host: str | None, bus: str) -> None:
    verdict = best(xid(on_hosts(), host, bus))
    assert blamed(verdict) == []
    assert verdict.cause != "gpu_error"


def test_a_link_that_went_down_on_a_host_of_one_rank() -> None:
    verdict = best(on_hosts().event("link_down", "origin", None, "mlx5_core: Link down", host="node1"))
    assert (verdict.cause, blamed(verdict)) == ("link_error", [1])


def test_a_link_on_a_host_of_several_ranks_accuses_none_of_them() -> None:
    verdict = best(on_hosts(2).event("link_down", "origin", None, "mlx5_core: Link down", host="node1"))
    assert (verdict.cause, blamed(verdict)) == ("link_error", [])
    assert "node1" in verdict.sentence


def test_a_link_of_a_host_outside_of_the_job_tells_nothing() -> None:
    verdict = best(on_hosts().event("link_down", "origin", None, "mlx5_core: Link down", host="node9"))
    assert verdict.cause != "link_error"


def gave_up(witnesses: Witnesses, *ranks: int, at_s: int = 600) -> Witnesses:
    for rank in ranks:
        witnesses.gave_up(rank, 6, time_ns=at_s * 1_000_000_000)
    return witnesses


def stuck(witnesses: Witnesses, rank: int, at_s: int) -> Witnesses:
    text = "ProcessGroupNCCL's watchdog got stuck for 480 seconds without making progress"
    return witnesses.event(
        "heartbeat_stuck", "messenger", rank, text, waited_ms=480_000, time_ns=at_s * 1_000_000_000
    )


def test_the_one_watchdog_that_stood_still() -> None:
    verdict = best(stuck(gave_up(stalled(), 0, 1, 3), 2, at_s=590))
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("gpu_stuck", "supported", [2])
    assert verdict.alternatives[0].cause == "host_blocked"


def test_a_watchdog_that_stands_still_after_others_gave_up_is_an_echo() -> None:
    assert blamed(best(stuck(gave_up(stalled(), 0, 1, 3), 2, at_s=1200))) == []


def test_a_watchdog_that_gave_up_itself_did_not_stand_still() -> None:
    assert blamed(best(stuck(gave_up(stalled(), 0, 1, 2, 3), 2, at_s=590))) == []


def lost(witnesses: Witnesses, rank: int, peer: int, error: str = "Connection timed out") -> Witnesses:
    return witnesses.event("gloo_peer_closed", "echo", rank, error, peer=f"[node{peer}]:1234", error=error)


def test_the_host_at_one_end_of_every_lost_connection() -> None:
    witnesses = on_hosts()
    for rank, peer in ((1, 2), (2, 1), (3, 2)):
        lost(witnesses, rank, peer)
    verdict = best(witnesses)
    assert (verdict.cause, blamed(verdict)) == ("peer_unreachable", [2])


def test_one_lost_connection_has_two_ends() -> None:
    assert blamed(best(lost(lost(on_hosts(), 1, 2), 2, 1))) == []


def ended(witnesses: Witnesses, *ranks: int) -> Witnesses:
    """These raised what they learned of their connections; the others are there."""
    for rank in RANKS:
        witnesses.exit(rank, 1 if rank in ranks else "running")
        if rank in ranks:
            witnesses.event(
                "traceback", "echo", rank, exception="RuntimeError", message="Read error", frames=[]
            )
    return witnesses


def test_who_ended_after_a_lost_connection_without_anyone_noticing_is_cut_off() -> None:
    verdict = best(ended(lost(on_hosts(), 2, 3), 2))
    assert (verdict.cause, blamed(verdict)) == ("peer_unreachable", [2])
    assert "which is cut off" in verdict.sentence


@pytest.mark.parametrize(
    "witnesses",
    [
        ended(lost(on_hosts(), 2, 3)),
        ended(lost(on_hosts(), 2, 3, "Connection reset by peer"), 2),
        ended(lost(lost(on_hosts(), 2, 3), 1, 2, "Connection closed by peer"), 2),
        ended(lost(on_hosts(), 2, 3), 0, 2),
        ended(lost(on_hosts(per_host=2), 2, 3), 2),
    ],
    ids=["it is there", "the other end is there", "somebody noticed", "another one ended too", "one host"],
)
def test_otherwise_either_end_may_be_cut_off(witnesses: Witnesses) -> None:
    assert blamed(best(witnesses)) == []


def test_a_connection_that_was_closed_is_no_lost_host() -> None:
    witnesses = lost(lost(on_hosts(), 1, 2, "Connection reset by peer"), 3, 2, "Connection reset by peer")
    assert blamed(best(witnesses)) == []


def test_clocks_that_are_apart_are_set_to_each_other_and_said() -> None:
    """Which clock is right nobody knows; how long a call waited must not depend on it."""
    job = Job({WORLD: list(RANKS)}, {rank: loop(BODY, 6) for rank in RANKS}, stalled=frozenset({(WORLD, 6)}))
    apart = diagnose(case_of(job, waited_s=100, clock_s={2: 187.0, 3: 187.0}))
    same = diagnose(case_of(job, waited_s=100))
    assert apart.verdicts[0].sentence == same.verdicts[0].sentence
    assert any("187 s" in str(note) for note in apart.notes)
    assert not any("187 s" in str(note) for note in same.notes)
