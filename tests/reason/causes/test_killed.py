"""`killed`: a rank was ended by a signal from outside of the job."""

from __future__ import annotations

import pytest
from support.reason import absent_rank, broke_off, data_parallel
from support.reason.building import WORLD, Job, Stop, case_of, loop
from support.reason.witnesses import IN_LOADER, Witnesses, best, blamed

from rankandfile.reason import diagnose


def test_a_rank_was_killed_and_its_peers_noticed() -> None:
    verdict = diagnose(broke_off.broken_off().exit(1, "SIGKILL").case).verdicts[0]
    assert (verdict.hang, verdict.cause, blamed(verdict), verdict.victims) == (False, "killed", [1], "")
    assert "did not hang, it broke off: rank 1: killed by SIGKILL" in verdict.sentence


@pytest.mark.parametrize(
    "witnesses",
    [
        broke_off.broken_off(waited_s=600).exit(1, "SIGKILL"),
        broke_off.broken_off().exit(1, "running"),
        broke_off.echo(broke_off.broken_off(), 1, broke_off.LOST).exit(1, 1),
        broke_off.broken_off().exit(1, "SIGKILL").gave_up(0, 5),
    ],
    ids=["ended long after its last call", "one is still there", "nobody failed first", "a watchdog gave up"],
)
def test_what_may_have_hung_before_it_ended_is_no_job_that_broke_off(witnesses: Witnesses) -> None:
    assert not any("broke off" in verdict.sentence for verdict in diagnose(witnesses.case).verdicts)


def between_calls(waited_s: float = 0.5) -> Witnesses:
    """All recorded calls have ended, and the others have heard in another way that rank 2 is gone."""
    job = data_parallel.world(4, {}, backend="gloo")
    witnesses = Witnesses(case_of(job, waited_s=waited_s)).exit(2, "SIGKILL")
    for rank in (0, 1, 3):
        witnesses = broke_off.echo(witnesses, rank, "PeerFailed: step 4: rank 2 will not come: it is gone")
    return witnesses


def test_a_rank_that_was_killed_is_told_where_no_recorded_call_waits_for_it() -> None:
    witnesses = between_calls()
    open_still = diagnose(witnesses.case).verdicts[0]
    assert (open_still.hang, open_still.cause, blamed(open_still)) == (None, "killed", [2])
    for rank in (0, 1, 3):
        witnesses = witnesses.exit(rank, 1)
    verdict = diagnose(witnesses.case).verdicts[0]
    assert (verdict.hang, verdict.cause, blamed(verdict)) == (False, "killed", [2])
    assert "it broke off: rank 2: killed by SIGKILL. No recorded call waits for it" in verdict.sentence
    assert "X0" in verdict.evidence


def test_whether_others_had_waited_for_it_before_they_ended_is_left_open() -> None:
    witnesses = between_calls(waited_s=600)
    for rank in (0, 1, 3):
        witnesses = witnesses.exit(rank, 1)
    verdict = diagnose(witnesses.case).verdicts[0]
    assert (verdict.hang, verdict.cause, blamed(verdict)) == (None, "killed", [2])


def test_who_may_have_been_ended_because_another_rank_raised_is_not_certain() -> None:
    verdict = diagnose(between_calls().raised(0, "KeyError: -100").exit(0, 1).case).verdicts[0]
    assert (verdict.cause, blamed(verdict), verdict.confidence) == ("killed", [2], "supported")
    assert [(one.cause, one.culprits) for one in verdict.alternatives] == [("raised", "0")]


@pytest.mark.parametrize("signal", ["SIGKILL", "SIGTERM"])
def test_who_was_ended_with_all_the_others_is_not_told_as_killed(signal: str) -> None:
    witnesses = Witnesses(case_of(data_parallel.world(4, {}, backend="gloo"), waited_s=0.5))
    for rank in range(4):
        witnesses = witnesses.exit(rank, signal)
    assert best(witnesses).cause == "no_hang"


@pytest.mark.parametrize("signal", ["SIGKILL", "SIGSEGV", "SIGBUS"])
def test_a_process_that_was_killed(signal: str) -> None:
    for witnesses in (absent_rank.absent(), absent_rank.lost()):
        verdict = best(witnesses.exit(2, signal))
        assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("killed", "established", [2])
        assert verdict.culprits[0].doing == f"killed by {signal}"
        assert "X0" in verdict.evidence


@pytest.mark.parametrize("signal", ["SIGTERM", "SIGABRT"])
def test_who_was_ended_by_a_launcher_or_its_own_watchdog_is_not_blamed_for_it(signal: str) -> None:
    verdict = best(absent_rank.lost().exit(2, signal))
    assert (verdict.cause, blamed(verdict)) == ("undetermined", [])


def test_who_aborted_first_ended_itself() -> None:
    """All others lost their connection to it, and nothing that it wrote tells that it had waited."""
    verdict = diagnose(broke_off.broken_off().exit(1, "SIGABRT").case).verdicts[0]
    assert (verdict.cause, blamed(verdict)) == ("killed", [1])
    assert verdict.culprits[0].doing == "aborted itself (SIGABRT)"
    both = broke_off.echo(broke_off.broken_off(), 1, broke_off.LOST).exit(1, "SIGABRT")
    assert all(blamed(one) != [1] for one in diagnose(both.case).verdicts)


def test_who_aborted_alone_out_of_a_call_may_have_ended_itself() -> None:
    """No line of it tells whether its watchdog did it. Where others aborted too, it was there until then."""
    alone = best(absent_rank.absent().exit(2, "SIGABRT"))
    assert (alone.cause, alone.confidence) == ("killed", "hypothesis")
    assert "aborted itself (SIGABRT), and no line of it is here to tell why" in alone.sentence
    all_of_them = absent_rank.absent()
    for rank in range(4):
        all_of_them = all_of_them.exit(rank, "SIGABRT")
    verdict = best(all_of_them)
    assert verdict.cause == "host_blocked"
    assert "not in that call until it aborted itself (SIGABRT)" in verdict.sentence
    for told in (alone, verdict, best(absent_rank.absent().exit(2, "SIGTERM"))):
        assert "alive" not in told.sentence


def test_killed_before_raised() -> None:
    assert best(absent_rank.lost().raised(2, "KeyError: -100").exit(2, "SIGKILL")).cause == "killed"


def test_who_ended_because_others_had_is_not_blamed() -> None:
    """Rank 2 exits with an error, for its peer 3 is gone: 3 it is."""
    echo = "RuntimeError: [pair.cc:553] Connection closed by peer [10.0.0.3]:4711"
    witnesses = Witnesses(case_of(absent_rank.job(absent=3), lost=[2, 3])).raised(2, echo, role="echo")
    verdict = best(witnesses.exit(2, 1).exit(3, "SIGKILL"))
    assert (verdict.cause, blamed(verdict)) == ("killed", [3])


def test_sources_that_disagree_are_both_shown() -> None:
    verdict = best(absent_rank.lost().exit(2, "SIGKILL", kind="kernel").exit(2, 0))
    assert (verdict.cause, verdict.confidence) == ("killed", "supported")
    assert "The sources disagree: X1 says exited with code 0." in verdict.sentence


def test_two_ranks_two_reasons() -> None:
    programs = {rank: loop(absent_rank.BODY, 6) for rank in range(6)}
    programs[1] = programs[4] = [*loop(absent_rank.BODY, 4), Stop()]
    both = Job({WORLD: list(range(6))}, programs)
    diagnosis = diagnose(Witnesses(case_of(both, lost=[4])).stack(1, IN_LOADER).exit(4, "SIGKILL").case)
    told = {c.rank: v.cause for v in diagnosis.verdicts for c in v.culprits}
    assert told == {1: "host_blocked", 4: "killed"}
