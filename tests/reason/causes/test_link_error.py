"""`link_error`: a rank's own port failed."""

from __future__ import annotations

from support.reason import absent_rank, machines
from support.reason.building import case_of
from support.reason.witnesses import Witnesses, best, blamed


def test_the_own_ports_fault() -> None:
    witnesses = Witnesses(case_of(absent_rank.stalled())).event(
        "ib_link_event", "origin", 3, "mlx5_3:1 port error"
    )
    verdict = best(witnesses)
    assert (verdict.cause, blamed(verdict)) == ("link_error", [3])


def test_a_link_that_went_down_on_a_host_of_one_rank() -> None:
    verdict = best(
        machines.on_hosts().event("link_down", "origin", None, "mlx5_core: Link down", host="node1")
    )
    assert (verdict.cause, blamed(verdict)) == ("link_error", [1])


def test_a_link_on_a_host_of_several_ranks_accuses_none_of_them() -> None:
    verdict = best(
        machines.on_hosts(2).event("link_down", "origin", None, "mlx5_core: Link down", host="node1")
    )
    assert (verdict.cause, blamed(verdict)) == ("link_error", [])
    assert "node1" in verdict.sentence


def test_a_link_of_a_host_outside_of_the_job_tells_nothing() -> None:
    verdict = best(
        machines.on_hosts().event("link_down", "origin", None, "mlx5_core: Link down", host="node9")
    )
    assert verdict.cause != "link_error"
