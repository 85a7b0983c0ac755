"""What the rank that others wait for did instead: its stack, its exception, the end of its process."""

from __future__ import annotations

import pytest
from support.reason.building import Call, Hold, Job, Step, Stop, case_of, loop
from support.reason.witnesses import IN_ALL_REDUCE, IN_BARRIER, IN_LOADER, Witnesses, at, best, blamed

from rankandfile.reason import diagnose

WORLD = "0"
BODY: list[Step] = [
    Call(WORLD, "all_reduce", 64, "trainer.py:63"),
    Call(WORLD, "all_gather", 8, "metrics.py:11"),
]
OTHERS = (0, 1, 3)


def job(absent: int = 2, size: int = 4) -> Job:
    programs = {rank: loop(BODY, 6) for rank in range(size)}
    programs[absent] = [*loop(BODY, 4), Stop()]
    return Job({WORLD: list(range(size))}, programs)


def stalled(size: int = 4) -> Job:
    """All members join the last call, and the network does not finish it."""
    programs = {rank: loop(BODY, 6) for rank in range(size)}
    return Job({WORLD: list(range(size))}, programs, stalled=frozenset({(WORLD, 11)}))


def absent() -> Witnesses:
    """Rank 2 never came to a call; its dump says so."""
    return Witnesses(case_of(job()))


def lost() -> Witnesses:
    """The same, and the dump of rank 2 is not there."""
    return Witnesses(case_of(job(), lost=[2]))


def test_a_stack_in_the_data_loader() -> None:
    verdict = best(absent().stack(2, IN_LOADER, IN_LOADER))
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("host_blocked", "supported", [2])
    doing = verdict.culprits[0].doing
    assert doing == "in queue.get ← next(loader), data.py:31, the same in 2 snapshots"
    assert verdict.location is not None
    assert (verdict.location.file, verdict.location.line) == ("/workspace/data.py", 31)
    assert "S1:1" in verdict.evidence
    assert [a.cause for a in verdict.alternatives] == ["host_slow"]


def test_a_stack_that_moves_is_slow_and_not_stuck() -> None:
    verdict = best(absent().stack(2, at(10), at(14), at(10)))
    assert (verdict.cause, blamed(verdict)) == ("host_slow", [2])
    assert "moving between 3 snapshots" in verdict.sentence


def test_the_programs_own_line_is_enough_where_the_dump_shows_no_call() -> None:
    assert best(absent().stack(2, at(10))).cause == "host_blocked"


def test_the_programs_own_line_is_not_enough_without_a_dump() -> None:
    """A wait for others, made in C, leaves no frame."""
    verdict = best(lost().stack(2, at(10), at(10), running=False))
    assert (verdict.cause, blamed(verdict)) == ("undetermined", [])


def test_without_a_dump_a_process_that_computes_waits_for_nobody() -> None:
    verdict = best(lost().stack(2, at(10), at(10), running=True))
    assert (verdict.cause, blamed(verdict)) == ("host_blocked", [2])


def test_a_thread_that_died_is_said_beside_the_wait() -> None:
    witnesses = absent().raised(2, "ValueError: bad label", thread="Thread-3 (fill)").stack(2, IN_LOADER)
    verdict = best(witnesses)
    assert verdict.cause == "host_blocked"
    assert "its thread Thread-3 (fill) had died of ValueError: bad label" in verdict.sentence


def test_alive_and_silent_is_held_up_somewhere() -> None:
    verdict = best(absent().exit(2, "SIGTERM").answered(2, 8))
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("host_blocked", "supported", [2])
    assert "raised" in [a.cause for a in verdict.alternatives]


@pytest.mark.parametrize("signal", ["SIGKILL", "SIGSEGV", "SIGBUS"])
def test_a_process_that_was_killed(signal: str) -> None:
    for witnesses in (absent(), lost()):
        verdict = best(witnesses.exit(2, signal))
        assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("killed", "established", [2])
        assert verdict.culprits[0].doing == f"killed by {signal}"
        assert "X0" in verdict.evidence


@pytest.mark.parametrize("signal", ["SIGTERM", "SIGABRT"])
def test_who_was_ended_by_a_launcher_or_its_own_watchdog_is_not_blamed_for_it(signal: str) -> None:
    verdict = best(lost().exit(2, signal))
    assert (verdict.cause, blamed(verdict)) == ("undetermined", [])


def test_an_exception_and_the_end_of_the_process() -> None:
    verdict = best(lost().raised(2, "KeyError: -100").exit(2, 1))
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("raised", "established", [2])
    assert verdict.culprits[0].doing == "raised KeyError: -100, and exited with code 1"
    assert verdict.location is not None
    assert verdict.location.line == 41


def test_killed_before_raised() -> None:
    assert best(lost().raised(2, "KeyError: -100").exit(2, "SIGKILL")).cause == "killed"


def test_an_error_code_without_a_word() -> None:
    verdict = best(lost().exit(2, 28).log(2, 2))
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("exited", "established", [2])


def test_an_error_code_is_no_fault_where_another_was_killed() -> None:
    """Without a log of its own it may have ended because it lost that peer."""
    assert best(absent().exit(2, 1)).cause == "exited"
    assert best(absent().exit(2, 1).exit(1, "SIGKILL")).cause != "exited"
    assert best(absent().exit(2, 1).log(2, 2).exit(1, "SIGKILL")).cause == "exited"


def everybody(witnesses: Witnesses, *stopped: int) -> Witnesses:
    for rank in range(4):
        witnesses.exit(rank, "stopped" if rank in stopped else "running")
    return witnesses


def test_a_stopped_process_never_comes_to_the_call() -> None:
    verdict = best(everybody(absent(), 2).stack(2, at(10)))
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("host_blocked", "established", [2])
    doing = verdict.culprits[0].doing or ""
    assert doing.startswith(
        "stopped by a signal, since 08:00:00 UTC or before (kill -CONT 1002 lets it go on)"
    )
    assert "load, data.py:10" in doing and {"X2", "S0:1"} <= set(verdict.evidence)


def test_a_stopped_process_ends_no_call_that_it_has_joined() -> None:
    verdict = best(everybody(Witnesses(case_of(stalled())), 1))
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("host_blocked", "supported", [1])


def test_who_waits_for_another_is_no_culprit_for_being_stopped() -> None:
    verdict = best(everybody(absent(), 0).stack(2, IN_LOADER, IN_LOADER))
    assert (verdict.cause, blamed(verdict)) == ("host_blocked", [2])
    assert "stopped by a signal" not in verdict.sentence


def test_a_job_that_is_stopped_as_a_whole_hangs_for_nobodys_fault() -> None:
    assert blamed(best(everybody(Witnesses(case_of(stalled())), 0, 1, 2, 3))) == []


def test_who_ended_because_others_had_is_not_blamed() -> None:
    """Rank 2 exits with an error, for its peer 3 is gone: 3 it is."""
    echo = "RuntimeError: [pair.cc:553] Connection closed by peer [10.0.0.3]:4711"
    witnesses = Witnesses(case_of(job(absent=3), lost=[2, 3])).raised(2, echo, role="echo")
    verdict = best(witnesses.exit(2, 1).exit(3, "SIGKILL"))
    assert (verdict.cause, blamed(verdict)) == ("killed", [3])


def test_exit_code_0_while_others_wait() -> None:
    verdict = best(lost().exit(2, 0))
    assert (verdict.cause, blamed(verdict)) == ("early_exit", [2])
    assert "uneven_inputs" in [a.cause for a in verdict.alternatives]


def test_a_job_that_ended_well_did_not_hang() -> None:
    witnesses = absent()
    for rank in range(4):
        witnesses.exit(rank, 0)
    verdict = best(witnesses)
    assert (verdict.hang, verdict.cause, blamed(verdict)) == (False, "no_hang", [])


def test_a_job_that_ended_well_although_watchdogs_gave_up() -> None:
    witnesses = absent().stack(2, at(11, "save"))
    for rank in range(4):
        witnesses.exit(rank, 0)
    for rank in OTHERS:
        witnesses.gave_up(rank, 9, timeout_ms=30_000)
    verdict = best(witnesses)
    assert (verdict.cause, blamed(verdict)) == ("too_short_timeout", [2])
    assert "within the 30 s" in verdict.sentence
    assert verdict.divergence is not None
    assert (verdict.divergence.kind, [c.ranks for c in verdict.divergence.cohorts]) == (
        "absent",
        ["0,1,3", "2"],
    )


def test_sources_that_disagree_are_both_shown() -> None:
    verdict = best(lost().exit(2, "SIGKILL", kind="kernel").exit(2, 0))
    assert (verdict.cause, verdict.confidence) == ("killed", "supported")
    assert "The sources disagree: X1 says exited with code 0." in verdict.sentence


def test_two_ranks_two_reasons() -> None:
    programs = {rank: loop(BODY, 6) for rank in range(6)}
    programs[1] = programs[4] = [*loop(BODY, 4), Stop()]
    both = Job({WORLD: list(range(6))}, programs)
    diagnosis = diagnose(Witnesses(case_of(both, lost=[4])).stack(1, IN_LOADER).exit(4, "SIGKILL").case)
    told = {c.rank: v.cause for v in diagnosis.verdicts for c in v.culprits}
    assert told == {1: "host_blocked", 4: "killed"}


def test_a_device_error_is_no_timeout() -> None:
    """All joined; the watchdog of rank 1 met an error of its own device."""
    witnesses = Witnesses(case_of(stalled()))
    error = "CUDA error: an illegal memory access was encountered"
    witnesses.event("watchdog_device_error", "origin", 1, error=error)
    verdict = best(witnesses)
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("gpu_error", "supported", [1])
    witnesses.exit(1, "SIGABRT").event("xid", "origin", None, code=31, error="MMU Fault", xid_pid=1001)
    assert best(witnesses).confidence == "established"


def test_the_own_ports_fault() -> None:
    witnesses = Witnesses(case_of(stalled())).event("ib_link_event", "origin", 3, "mlx5_3:1 port error")
    verdict = best(witnesses)
    assert (verdict.cause, blamed(verdict)) == ("link_error", [3])


def test_ras_that_misses_a_process_is_no_proof() -> None:
    missing = {"processes": [{"pid": 1002, "host": "10.1.0.2", "gpu": "0"}]}
    witnesses = lost().exit(2, "running").event("ras_missing", "fact", None, **missing)
    assert blamed(best(witnesses)) == []
    witnesses.event("ib_completion_error", "messenger", 0, status=12)
    verdict = best(witnesses)
    assert (verdict.cause, blamed(verdict)) == ("peer_unreachable", [2])


def test_all_joined_and_all_gave_up() -> None:
    witnesses = Witnesses(case_of(stalled()))
    for rank in range(4):
        witnesses.gave_up(rank, 11)
    verdict = best(witnesses)
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("network_stalled", "hypothesis", [])


def test_a_kernel_that_holds_the_device_back_is_still_seen() -> None:
    programs = {rank: loop(BODY, 6) for rank in range(4)}
    programs[1] = [*loop(BODY, 4), Hold(), *loop(BODY, 2)]
    held = Job({WORLD: [0, 1, 2, 3]}, programs, timing=True)
    witnesses = Witnesses(case_of(held))
    for rank in range(4):
        witnesses.gave_up(rank, 9)
    assert best(witnesses).cause == "gpu_stuck"


def test_an_exception_that_was_caught() -> None:
    programs: dict[int, list[Step]] = {rank: loop(BODY, 8) for rank in range(4)}
    programs[2] = [*loop(BODY, 4), BODY[1], *loop(BODY, 3)]
    skipped = Witnesses(case_of(Job({WORLD: [0, 1, 2, 3]}, programs)))
    assert best(skipped).cause == "skipped_collective"
    verdict = best(skipped.raised(2, "OSError: bad shard").exit(2, "SIGABRT"))
    assert (verdict.cause, blamed(verdict)) == ("swallowed_exception", [2])
    assert verdict.alternatives[0].cause == "skipped_collective"


def test_an_exception_that_all_met_sets_nobody_apart() -> None:
    programs: dict[int, list[Step]] = {rank: loop(BODY, 8) for rank in range(4)}
    programs[2] = [*loop(BODY, 4), BODY[1], *loop(BODY, 3)]
    witnesses = Witnesses(case_of(Job({WORLD: [0, 1, 2, 3]}, programs)))
    for rank in range(4):
        witnesses.raised(rank, "OSError: bad shard")
    assert best(witnesses).cause == "skipped_collective"


def test_a_stack_in_another_call_than_all_others() -> None:
    witnesses = lost().stack(2, IN_BARRIER)
    assert blamed(best(witnesses)) == [], "where the others are is not known"
    for rank in OTHERS:
        witnesses.stack(rank, IN_ALL_REDUCE)
    verdict = best(witnesses)
    assert (verdict.cause, blamed(verdict)) == ("skipped_collective", [2])


def test_a_stack_in_the_same_call_as_all_others_is_innocent() -> None:
    witnesses = lost()
    for rank in range(4):
        witnesses.stack(rank, IN_ALL_REDUCE)
    assert blamed(best(witnesses)) == []


def gloo(names: tuple[str, ...] = (WORLD,)) -> Witnesses:
    """gloo: rank 2 never came to a call of the first group; the others wait."""
    body: list[Step] = [Call(name, "all_reduce", 64, f"{name}.py:3") for name in names]
    programs = {rank: loop(body, 6) for rank in range(4)}
    programs[2] = [*loop(body, 4), Stop()]
    return Witnesses(case_of(Job({name: [0, 1, 2, 3] for name in names}, programs, backend="gloo")))


def test_gloo_keeps_no_receives_so_a_line_named_after_one_blames_nobody() -> None:
    assert blamed(best(gloo().stack(2, at(10, "load"), running=False))) == [2]
    assert blamed(best(gloo().stack(2, at(10, "receive_gradient"), running=False))) == []


def test_gloo_and_a_group_on_which_nothing_is_recorded() -> None:
    """Groups 1 and 3 were used; number 2 was made as well, and may carry what gloo does not record."""
    names = ("1", "3")
    assert blamed(best(gloo(names).stack(2, at(10, "load"), running=False))) == []
    assert blamed(best(gloo(names).stack(2, IN_LOADER))) == [2]
    assert blamed(best(gloo(names).stack(2, at(10), at(10), running=True))) == [2]


def test_the_trail_ends_in_two_places_and_one_of_them_is_certain() -> None:
    """gloo, two pairs: one waits for a rank in a full queue, the other for one whose line tells nothing."""
    body: dict[int, list[Step]] = {
        rank: [Call("a" if rank < 2 else "b", "all_reduce", 64, "tp.py:3")] for rank in range(4)
    }
    programs = {rank: loop(body[rank], 6) for rank in range(4)}
    for rank in (1, 3):
        programs[rank] = [*loop(body[rank], 4), Stop()]
    case = case_of(Job({"a": [0, 1], "b": [2, 3]}, programs, backend="gloo"))
    diagnosis = diagnose(Witnesses(case).stack(1, IN_LOADER).stack(3, at(10), running=False).case)
    assert {c.rank for v in diagnosis.verdicts for c in v.culprits} == {1}
