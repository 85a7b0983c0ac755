"""Condensed evidence gets the answer of the whole: of every real hang, and of every set that was opened."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from support.evidence.condensing import told_alike
from support.opened_sets import archives, name_of, unpacked

from rankandfile.lab import catalog

REAL = sorted(scenario.name for scenario in catalog.scenarios() if scenario.in_suite)


@pytest.mark.lab
@pytest.mark.slow
@pytest.mark.torch
@pytest.mark.parametrize("name", REAL)
def test_real_jobs_get_the_same_answer(name: str, incident: Callable[..., Path], tmp_path: Path) -> None:
    assert told_alike(incident(name) / "evidence", tmp_path) == []


@pytest.mark.lab
@pytest.mark.parametrize(
    "archive", [one for of in ("round", "practice", "found") for one in archives(of)], ids=name_of
)
def test_opened_sets_get_the_same_answer(archive: Path, tmp_path: Path) -> None:
    found = {
        case.name: different
        for case in sorted(unpacked(archive, tmp_path).iterdir())
        if (case / "evidence").is_dir() and (different := told_alike(case / "evidence", tmp_path))
    }
    assert found == {}
