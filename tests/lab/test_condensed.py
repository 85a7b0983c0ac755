"""Condensed evidence gets the answer of the whole: of real hangs, and of sets that were opened."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from support.evidence.condensing import told_alike
from support.opened_sets import archives, name_of, unpacked

from rankandfile.lab import catalog

#: Some of each tell as much as all: files are of few kinds, and to diagnose all of them three times takes long.
REAL = sorted(scenario.name for scenario in catalog.scenarios() if scenario.in_suite)[::12]
SETS = [one for of in ("round", "practice", "found") for one in archives(of)][::8]


@pytest.mark.lab
@pytest.mark.slow
@pytest.mark.torch
@pytest.mark.parametrize("name", REAL)
def test_real_jobs_get_the_same_answer(name: str, incident: Callable[..., Path], tmp_path: Path) -> None:
    assert told_alike(incident(name) / "evidence", tmp_path) == []


@pytest.mark.lab
@pytest.mark.parametrize("archive", SETS, ids=name_of)
def test_opened_sets_get_the_same_answer(archive: Path, tmp_path: Path) -> None:
    found = {
        case.name: different
        for case in sorted(unpacked(archive, tmp_path).iterdir())
        if (case / "evidence").is_dir() and (different := told_alike(case / "evidence", tmp_path))
    }
    assert found == {}
