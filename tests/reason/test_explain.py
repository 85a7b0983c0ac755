"""Why this rank: the chain of waits, in words and evidence."""

from __future__ import annotations

import pytest
from support.reason.building import case_of
from support.reason.faulty import FAULTS, faulty

from rankandfile.model.ranks import parse_ranks
from rankandfile.reason import conclude, gather
from rankandfile.reason.explain import explain


def test_a_victim_two_groups_away_is_led_to_the_culprit() -> None:
    case = case_of(faulty(3, "absent", 4))
    facts = gather(case)
    culprit, victim = explain(facts, 3), explain(facts, 0)
    assert (culprit.role, victim.role) == ("culprit", "victim")
    assert "rank 3" in victim.lines[0] or "rank 3" in victim.lines[1]
    assert victim.evidence and all(case.evidence(i) for i in victim.evidence)


@pytest.mark.parametrize("backend", ["gloo", "nccl"])
@pytest.mark.parametrize("fault", FAULTS)
def test_the_chain_of_every_victim_ends_at_the_culprit(fault: str, backend: str) -> None:
    facts = gather(case_of(faulty(3, fault, 4, backend=backend)))
    diagnosis = conclude(facts)
    (verdict,) = diagnosis.verdicts
    assert parse_ranks(verdict.victims) == [0, 1, 2, 4, 5]
    for rank in parse_ranks(verdict.victims):
        told = explain(facts, rank, diagnosis)
        assert told.role in ("victim", "bystander")
        assert any("rank 3 is blamed" in line for line in told.lines), str(told)
        assert not any(f"rank {rank} is blamed" in line.lower() for line in told.lines)


def test_a_rank_without_a_dump_is_not_guilty() -> None:
    facts = gather(case_of(faulty(3, "absent", 4), lost=[3]))
    assert explain(facts, 3).role == "unseen"
    assert "does not make it guilty" in str(explain(facts, 3))


def test_a_rank_that_is_not_of_this_job() -> None:
    assert "in no group" in str(explain(gather(case_of(faulty(3, "absent", 4))), 99))
