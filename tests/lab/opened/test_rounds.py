"""The rounds that were opened. A file of its own, so that another worker may have the others."""

from __future__ import annotations

import pytest
from support.lab.opened_answers import KeepWhatWasRight
from support.opened_sets import archives

pytestmark = pytest.mark.lab
SETS = archives("round")


class TestRounds(KeepWhatWasRight):
    pass


def test_there_are_sets() -> None:
    assert SETS
