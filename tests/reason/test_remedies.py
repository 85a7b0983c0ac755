"""What to do and what not to do: something of both for every cause, and no raised timeout where it changes nothing."""

from __future__ import annotations

import pytest

from rankandfile.model.diagnosis import CAUSES
from rankandfile.reason.verdict.remedies import ANTI_ADVICE, REMEDIES

OUT_OF_STEP = [cause for cause, family in CAUSES.items() if family in ("paths", "arguments")]


@pytest.mark.parametrize("cause", sorted(set(CAUSES) - {"no_hang", "undetermined"}))
def test_every_cause_has_advice_and_a_warning(cause: str) -> None:
    assert all(one.title and one.text for one in REMEDIES[cause])
    assert all(line.startswith("Do not ") for line in ANTI_ADVICE[cause])


@pytest.mark.parametrize("cause", OUT_OF_STEP)
def test_waiting_longer_is_advised_against_where_nobody_will_come(cause: str) -> None:
    assert any("raise the timeout" in line for line in ANTI_ADVICE[cause])
