"""Why this rank: the chain of waits, in words and evidence."""

from __future__ import annotations

from building import case_of
from test_properties import faulty

from rankandfile.reason import gather
from rankandfile.reason.explain import explain


def test_a_victim_two_groups_away_is_led_to_the_culprit() -> None:
    case = case_of(faulty(3, "absent", 4))
    facts = gather(case)
    culprit, victim = explain(facts, 3), explain(facts, 0)
    assert (culprit.role, victim.role) == ("culprit", "victim")
    assert "rank 3" in victim.lines[0] or "rank 3" in victim.lines[1]
    assert victim.evidence and all(case.evidence(i) for i in victim.evidence)


def test_a_rank_without_a_dump_is_not_guilty() -> None:
    facts = gather(case_of(faulty(3, "absent", 4), lost=[3]))
    assert explain(facts, 3).role == "unseen"
    assert "does not make it guilty" in str(explain(facts, 3))


def test_a_rank_that_is_not_of_this_job() -> None:
    assert "in no group" in str(explain(gather(case_of(faulty(3, "absent", 4))), 99))
