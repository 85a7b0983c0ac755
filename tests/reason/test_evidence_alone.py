"""No dump, or none that shows a wait: what logs, stacks and exits alone can tell, and what they cannot."""

from __future__ import annotations

import polars as pl
from support.reason.witnesses import IN_INIT, LEAVING, Witnesses, at, best, blamed

from rankandfile.model.case import Case
from rankandfile.model.diagnosis import Verdict
from rankandfile.model.tables import schema


def nothing(world: int = 4) -> Witnesses:
    return Witnesses(Case(world_size=world))


def all_gave_up(seq: int = 9, besides: tuple[int, ...] = (), world: int = 4) -> Witnesses:
    witnesses = nothing(world)
    for rank in range(world):
        if rank not in besides:
            witnesses.gave_up(rank, seq, group="default_pg")
    return witnesses


def settings(verdict: Verdict) -> str:
    return " ".join(m.how for m in verdict.missing_evidence)


def test_who_is_behind_by_its_own_counters() -> None:
    verdict = best(all_gave_up(besides=(1,)).answered(1, 8, group="default_pg"))
    assert (verdict.cause, blamed(verdict)) == ("host_blocked", [1])
    assert verdict.sentence.startswith(
        "Ranks 0, 2 and 3 wait in the all_reduce (group default_pg [0-3], seq 9). Rank 1 had come to seq 8"
    )
    assert "TORCH_FR_BUFFER_SIZE" in settings(verdict)
    assert "TORCH_FR_DUMP_TEMP_FILE" in settings(verdict)
    assert len(verdict.missing_evidence) == 2


def test_who_never_spoke_is_shown_and_not_blamed() -> None:
    verdict = best(all_gave_up(besides=(1,)).log(1, 1))
    assert (verdict.hang, verdict.cause, blamed(verdict)) == (True, "undetermined", [])
    assert "Rank 1 never spoke of it" in verdict.sentence
    assert verdict.alternatives[0].culprits == "1"


def test_who_raised() -> None:
    verdict = best(all_gave_up(besides=(1,)).raised(1, "KeyError: -100"))
    assert (verdict.cause, blamed(verdict)) == ("raised", [1])


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


def test_all_came_and_one_asked_for_something_else() -> None:
    verdict = best(all_gave_up(besides=(3,)).gave_up(3, 9, "BROADCAST", 1, group="default_pg"))
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("different_collective", "supported", [3])


def test_all_came_and_half_asked_for_something_else() -> None:
    witnesses = all_gave_up(besides=(2, 3))
    for rank in (2, 3):
        witnesses.gave_up(rank, 9, "BROADCAST", 1, group="default_pg")
    verdict = best(witnesses)
    assert blamed(verdict) == []
    assert "the logs alone do not say" in verdict.sentence


def test_what_the_others_ask_for_next_was_asked_too_early() -> None:
    """Two broadcasts have their root go on: the one whose next call is the odd one's tells that it left one out."""
    witnesses = nothing(5)
    for rank in (0, 1, 2):
        witnesses.gave_up(rank, 9, "BROADCAST", 8, group="default_pg")
    witnesses.gave_up(4, 10, "ALLREDUCE", 64, group="default_pg")
    witnesses.gave_up(3, 9, "ALLREDUCE", 64, group="default_pg")
    verdict = best(witnesses)
    assert (verdict.cause, blamed(verdict)) == ("skipped_collective", [3])


def test_a_circle_between_two_groups() -> None:
    witnesses = nothing(2)
    for rank, mine, other in ((0, "tp", "dp"), (1, "dp", "tp")):
        witnesses.gave_up(rank, 5, group=mine)
        witnesses.answered(rank, 4, group=other)
    verdict = best(witnesses)
    assert (verdict.cause, blamed(verdict)) == ("order_inversion", [0, 1])


def test_first_to_log_is_not_the_culprit() -> None:
    witnesses = nothing().event("dump_signal_first", "messenger", 0)
    for rank in (0, 2, 3):
        witnesses.gave_up(rank, 9, group="default_pg")
    assert 0 not in blamed(best(witnesses.answered(1, 8, group="default_pg")))


def test_nothing_at_all() -> None:
    verdict = best(nothing().log(0, 0))
    assert (verdict.hang, verdict.cause, blamed(verdict)) == (False, "undetermined", [])


def test_teardown_after_success_is_no_hang_of_the_job() -> None:
    witnesses = nothing(3).exit(0, "running").stack(0, LEAVING).exit(1, 0).exit(2, 0)
    verdict = best(witnesses)
    assert (verdict.cause, blamed(verdict)) == ("teardown_only", [0])
    assert verdict.victims == ""


def test_teardown_by_the_last_words() -> None:
    witnesses = nothing(3).exit(0, "SIGTERM").exit(1, 0).exit(2, 0)
    for rank in range(3):
        witnesses.log(rank, rank, last_line=f"12:00:0{rank} training complete")
    assert best(witnesses).cause == "teardown_only"


def test_a_rank_in_the_middle_of_its_work_is_not_in_its_teardown() -> None:
    witnesses = nothing(3).exit(0, "SIGTERM").exit(1, 0).exit(2, 0)
    for rank, line in enumerate(("step 12 loss 0.3", "training complete", "training complete")):
        witnesses.log(rank, rank, last_line=line)
    assert best(witnesses).cause != "teardown_only"


def test_setup_that_waits_for_a_rank_that_is_elsewhere() -> None:
    witnesses = (
        nothing(3).stack(0, IN_INIT).stack(2, IN_INIT).stack(1, at(17, "fetch", "/workspace/prepare.py"))
    )
    verdict = best(witnesses)
    assert (verdict.cause, blamed(verdict)) == ("init_stuck", [1])
    assert verdict.location is not None
    assert verdict.location.line == 17


def test_setup_that_waits_for_a_rank_that_moves() -> None:
    witnesses = nothing(3).stack(0, IN_INIT).stack(2, IN_INIT)
    witnesses.stack(1, at(17, "fetch", "/workspace/prepare.py"), at(31, "unpack", "/workspace/prepare.py"))
    verdict = best(witnesses)
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("init_stuck", "hypothesis", [1])
    assert [a.cause for a in verdict.alternatives] == ["host_slow"]


def test_setup_with_a_rank_of_which_nothing_is_known() -> None:
    witnesses = nothing(3).stack(0, IN_INIT).stack(2, IN_INIT)
    assert blamed(best(witnesses)) == []
    for rank in range(3):
        witnesses.exit(rank, "running")
    assert blamed(best(witnesses)) == [], "it may be in the setup, too"


def test_setup_without_a_rank_that_has_been_there() -> None:
    """Some backends let go whoever has been: what the others wait for then is another matter."""
    row = {"dump": 0, "rank": 1, "format": "ring"}
    columns = schema("dumps")
    been = Case(dumps=pl.DataFrame([{name: row.get(name) for name in columns}], schema=columns), world_size=3)
    witnesses = Witnesses(been).stack(0, IN_INIT).stack(2, IN_INIT).stack(1, at(17, "warm_up"))
    assert blamed(best(witnesses)) == []


def test_ncclss_own_lines_on_the_setup() -> None:
    witnesses = nothing(3)
    for rank in (0, 2):
        witnesses.event(
            "nccl_init", "fact", rank, group_rank=rank, comm_id="0xabc", nranks=3, phase="Init START"
        )
    assert blamed(best(witnesses)) == [], "the third rank may have written to another file"
    verdict = best(witnesses.log(1, 1, last_line="waiting for index"))
    assert (verdict.cause, blamed(verdict)) == ("init_stuck", [1])
    witnesses.event("nccl_init", "fact", 0, group_rank=0, comm_id="0xabc", nranks=3, phase="Init COMPLETE")
    assert blamed(best(witnesses)) == []


def test_a_monitored_barrier_names_who_did_not_come() -> None:
    witnesses = nothing().stack(2, at(10, "compress", "/workspace/archive.py"))
    witnesses.event("monitored_barrier", "messenger", 0, group_rank=0, about=[2], timeout_ms=2000)
    verdict = best(witnesses)
    assert (verdict.cause, blamed(verdict)) == ("host_blocked", [2])


def test_a_monitored_barrier_of_a_group_counts_in_the_group() -> None:
    """Writer 3 is the first of its group; which rank is its second, the line does not say."""
    witnesses = nothing().event("monitored_barrier", "messenger", 3, group_rank=0, about=[1])
    assert blamed(best(witnesses)) == []


def test_one_behind_and_one_that_raised() -> None:
    """Of the one that raised no watchdog speaks: that is no reason to give up on the other."""
    witnesses = all_gave_up(besides=(1, 3)).answered(1, 8, group="default_pg").raised(3, "OSError: x")
    verdict = best(witnesses)
    assert (verdict.cause, blamed(verdict)) == ("host_blocked", [1])
