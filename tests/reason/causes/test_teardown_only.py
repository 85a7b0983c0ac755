"""`teardown_only`: the job had ended well, and hung in its teardown."""

from __future__ import annotations

from support.reason import no_dumps
from support.reason.witnesses import LEAVING, best, blamed


def test_teardown_after_success_is_no_hang_of_the_job() -> None:
    witnesses = no_dumps.nothing(3).exit(0, "running").stack(0, LEAVING).exit(1, 0).exit(2, 0)
    verdict = best(witnesses)
    assert (verdict.cause, blamed(verdict)) == ("teardown_only", [0])
    assert verdict.victims == ""


def test_teardown_by_the_last_words() -> None:
    witnesses = no_dumps.nothing(3).exit(0, "SIGTERM").exit(1, 0).exit(2, 0)
    for rank in range(3):
        witnesses.log(rank, rank, last_line=f"12:00:0{rank} training complete")
    assert best(witnesses).cause == "teardown_only"


def test_a_rank_in_the_middle_of_its_work_is_not_in_its_teardown() -> None:
    witnesses = no_dumps.nothing(3).exit(0, "SIGTERM").exit(1, 0).exit(2, 0)
    for rank, line in enumerate(("step 12 loss 0.3", "training complete", "training complete")):
        witnesses.log(rank, rank, last_line=line)
    assert best(witnesses).cause != "teardown_only"
