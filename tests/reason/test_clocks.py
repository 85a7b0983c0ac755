"""Clocks that are apart are told, and change no verdict."""

from __future__ import annotations

from support.reason.building import WORLD, Job, case_of, loop
from support.reason.machines import BODY, RANKS

from rankandfile.reason import diagnose


def test_clocks_that_are_apart_are_set_to_each_other_and_said() -> None:
    """Which clock is right nobody knows; how long a call waited must not depend on it."""
    job = Job({WORLD: list(RANKS)}, {rank: loop(BODY, 6) for rank in RANKS}, stalled=frozenset({(WORLD, 6)}))
    apart = diagnose(case_of(job, waited_s=100, clock_s={2: 187.0, 3: 187.0}))
    same = diagnose(case_of(job, waited_s=100))
    assert apart.verdicts[0].sentence == same.verdicts[0].sentence
    assert any("187 s" in str(note) for note in apart.notes)
    assert not any("187 s" in str(note) for note in same.notes)
