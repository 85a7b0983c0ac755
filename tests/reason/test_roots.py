"""Who believed to be the root, as the sizes of gathers and scatters tell; of a broadcast nothing tells."""

from __future__ import annotations

from support.reason.building import Call, Job, Step, case_of, loop

from rankandfile.model.diagnosis import Verdict
from rankandfile.reason import diagnose

WORLD = "0"
RANKS = range(4)


def gather(is_root: bool) -> Call:
    out = [[8]] * 4 if is_root else []
    return Call(WORLD, "gather", 8, "metrics.py:11", sizes=([[8]], out))


def verdict_of(roots_at_the_end: set[int], rounds: int = 3) -> Verdict:
    """Rank 0 gathers for some rounds; then those named believe to be the root, and nobody gets on."""
    programs: dict[int, list[Step]] = {
        rank: [*loop([gather(rank == 0)], rounds), gather(rank in roots_at_the_end)] for rank in RANKS
    }
    job = Job({WORLD: list(RANKS)}, programs, stalled=frozenset({(WORLD, rounds + 1)}))
    return diagnose(case_of(job)).verdicts[0]


def culprits(verdict: Verdict) -> list[int]:
    return [c.rank for c in verdict.culprits]


def test_a_second_root_is_named() -> None:
    verdict = verdict_of({0, 2})
    assert (verdict.cause, culprits(verdict), verdict.confidence) == ("root_mismatch", [2], "supported")
    assert verdict.divergence is not None
    assert (verdict.divergence.seq, verdict.divergence.kind) == (4, "argument")


def test_the_root_that_gave_up_its_part_is_named() -> None:
    verdict = verdict_of(set())
    assert (verdict.cause, culprits(verdict)) == ("root_mismatch", [0])


def test_without_earlier_rounds_nobody_is_named() -> None:
    verdict = verdict_of({0, 2}, rounds=0)
    assert (verdict.cause, culprits(verdict)) == ("root_mismatch", [])
    assert {a.culprits for a in verdict.alternatives} == {"0", "2"}


def test_one_root_is_as_it_should_be() -> None:
    assert verdict_of({0}).cause != "root_mismatch"
    assert verdict_of({1}).cause != "root_mismatch"


def test_the_root_of_a_broadcast_is_not_recorded() -> None:
    programs: dict[int, list[Step]] = {
        rank: loop([Call(WORLD, "broadcast", 8, "a.py:1")], 4) for rank in RANKS
    }
    verdict = diagnose(
        case_of(Job({WORLD: list(RANKS)}, programs, stalled=frozenset({(WORLD, 4)})))
    ).verdicts[0]
    assert (verdict.cause, culprits(verdict)) == ("undetermined", [])
    assert "root_mismatch" in {a.cause for a in verdict.alternatives}
