"""Sets of found evidence that were scored and opened: no answer is wrong that was not, and nothing untrue is said."""

from __future__ import annotations

import msgspec
import pytest
from support.opened_sets import archives, name_of, unpacked

from rankandfile.lab.blind import sealed
from rankandfile.lab.blind.found.case import cases
from rankandfile.lab.blind.found.marks import MARKS, FoundMarks
from rankandfile.lab.blind.found.scoring import FoundRound, answered
from rankandfile.lab.blind.scoring import MARKS as FILE
from rankandfile.lab.blind.scoring import first_scoring

pytestmark = pytest.mark.lab


@pytest.fixture(scope="module", params=archives("found"), ids=name_of)
def marks(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> list[tuple[FoundMarks, FoundMarks]]:
    """Of each folder its first marks, and those of today."""
    only = unpacked(request.param, tmp_path_factory.mktemp("found"))
    first = first_scoring(only)
    assert first is not None
    before = msgspec.json.decode((first / FILE).read_bytes(), type=FoundRound).marks
    truths = sealed.read(only).content.found
    now = {one.name: answered(one, truths[one.name])[2] for one in cases(only)}
    return [(mark, now[mark.case]) for mark in before]


def test_no_answer_is_worse_than_at_first(marks: list[tuple[FoundMarks, FoundMarks]]) -> None:
    order = {mark: place for place, mark in enumerate(MARKS)}
    worse = {after.case: after for before, after in marks if order[after.mark] > order[before.mark]}
    assert not worse, worse


def test_nothing_untrue_is_said_and_nobody_innocent_is_blamed(
    marks: list[tuple[FoundMarks, FoundMarks]],
) -> None:
    bad = {after.case: after for _, after in marks if after.untrue or after.innocents or after.failed}
    assert not bad, bad
