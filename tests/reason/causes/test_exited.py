"""`exited`: a rank ended with an error code, and nothing tells why."""

from __future__ import annotations

from support.reason import absent_rank, broke_off
from support.reason.building import WORLD, Job, case_of, loop
from support.reason.witnesses import Witnesses, best, blamed

from rankandfile.reason import diagnose


def test_where_all_exited_with_an_error_and_no_log_tells_why_nobody_was_first() -> None:
    job = Job(
        {WORLD: [0, 1, 2]}, dict.fromkeys(range(3), loop(broke_off.BODY, 3)), stalled=frozenset({(WORLD, 3)})
    )
    witnesses = Witnesses(case_of(job))
    for rank in range(3):
        witnesses.exit(rank, 1)
    assert all(blamed(verdict) == [] for verdict in diagnose(witnesses.case).verdicts)


def test_an_error_code_without_a_word() -> None:
    verdict = best(absent_rank.lost().exit(2, 28).log(2, 2))
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("exited", "established", [2])


def test_a_code_that_a_shell_gives_for_a_signal_is_no_proof_of_either() -> None:
    verdict = best(absent_rank.lost().exit(2, 137).log(2, 2))
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("exited", "supported", [2])
    assert "killed" in {other.cause for other in verdict.alternatives}


def test_an_error_code_is_no_fault_where_another_was_killed() -> None:
    """Without a log of its own it may have ended because it lost that peer."""
    assert best(absent_rank.absent().exit(2, 1)).cause == "exited"
    assert best(absent_rank.absent().exit(2, 1).exit(1, "SIGKILL")).cause != "exited"
    assert best(absent_rank.absent().exit(2, 1).log(2, 2).exit(1, "SIGKILL")).cause == "exited"
