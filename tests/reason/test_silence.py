"""Who never spoke and who fell silent first is said where logs are all there is, and accuses nobody."""

from __future__ import annotations

from support.reason.witnesses import Witnesses

from rankandfile.model.case import Case
from rankandfile.model.diagnosis import Verdict
from rankandfile.reason import diagnose

SECOND = 1_000_000_000


def stuck(last: dict[int, int], world: int = 4) -> Verdict:
    """All gave up on one call; seconds at which each spoke last."""
    witnesses = Witnesses(Case(world_size=world))
    for rank, seconds in last.items():
        witnesses.gave_up(rank, 9, group_desc="default_pg")
        witnesses.event("step", "fact", rank, time_ns=seconds * SECOND, time_quality="no_year")
    return diagnose(witnesses.case).verdicts[0]


def test_the_first_to_fall_silent_is_said_and_not_blamed() -> None:
    verdict = stuck({0: 1000, 1: 1001, 2: 400, 3: 1000})
    assert "Rank 2 fell silent first, 600 s before any other that spoke" in verdict.sentence
    assert verdict.culprits == []


def test_seconds_between_clocks_are_no_silence() -> None:
    assert "silent" not in stuck({0: 1000, 1: 1001, 2: 985, 3: 1000}).sentence


def test_a_rank_of_which_there_is_no_line() -> None:
    verdict = stuck({0: 1000, 1: 1001, 2: 1000})
    assert "No line is from rank 3." in verdict.sentence
    assert verdict.culprits == []


def test_what_a_launcher_tells_of_a_rank_is_no_word_of_that_rank() -> None:
    witnesses = Witnesses(Case(world_size=4))
    for rank, seconds in {0: 1000, 1: 1001, 2: 400, 3: 1000}.items():
        witnesses.gave_up(rank, 9, group_desc="default_pg")
        witnesses.event("step", "fact", rank, time_ns=seconds * SECOND, time_quality="no_year")
    witnesses.event("step", "fact", 2, shape="P7", time_ns=1001 * SECOND, time_quality="no_year")
    assert "Rank 2 fell silent first" in diagnose(witnesses.case).verdicts[0].sentence


def test_of_a_file_that_many_write_only_some_lines_are_known_by_their_writer() -> None:
    witnesses = Witnesses(Case(world_size=4)).log(0, None)
    for rank in range(3):
        witnesses.gave_up(rank, 9, group_desc="default_pg")
    assert "No line that was understood is from rank 3." in diagnose(witnesses.case).verdicts[0].sentence
