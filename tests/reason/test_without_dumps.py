"""No dump, or none that shows a wait: what logs, stacks and exits alone can tell, and what they cannot."""

from __future__ import annotations

from support.reason.no_dumps import all_gave_up, nothing
from support.reason.witnesses import best, blamed


def test_who_is_gone_by_what_its_peers_lost() -> None:
    witnesses = all_gave_up(besides=(1,)).log(1, 1)
    witnesses.raised(0, "RuntimeError: Connection closed by peer [10.0.0.2]:4711", role="echo")
    verdict = best(witnesses)
    assert (verdict.cause, blamed(verdict)) == ("killed", [1])
    assert {a.cause for a in verdict.alternatives} == {"exited", "raised"}


def test_a_lost_connection_is_nobodys_fault_if_two_are_silent() -> None:
    witnesses = all_gave_up(besides=(1, 2)).log(1, 1).log(2, 2)
    witnesses.raised(0, "RuntimeError: Connection closed by peer [10.0.0.2]:4711", role="echo")
    assert blamed(best(witnesses)) == []


def test_all_came() -> None:
    verdict = best(all_gave_up())
    assert (verdict.cause, blamed(verdict)) == ("undetermined", [])
    assert {a.cause for a in verdict.alternatives} == {"network_stalled", "gpu_stuck"}


def test_first_to_log_is_not_the_culprit() -> None:
    witnesses = nothing().event("dump_signal_first", "messenger", 0)
    for rank in (0, 2, 3):
        witnesses.gave_up(rank, 9, group="default_pg")
    assert 0 not in blamed(best(witnesses.answered(1, 8, group="default_pg")))
