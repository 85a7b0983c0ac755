"""What to do and what not to do: something of both for every cause, and no raised timeout where it changes nothing."""

from __future__ import annotations

import pytest

from rankandfile.model.causes import CAUSES

OUT_OF_STEP = [word for word, cause in CAUSES.items() if cause.family in ("paths", "arguments")]


@pytest.mark.parametrize("cause", sorted(set(CAUSES) - {"no_hang", "undetermined"}))
def test_every_cause_has_advice_and_a_warning(cause: str) -> None:
    assert all(one.title and one.text for one in CAUSES[cause].remedies)
    assert all(line.startswith("Do not ") for line in CAUSES[cause].anti_advice)


@pytest.mark.parametrize("cause", OUT_OF_STEP)
def test_waiting_longer_is_advised_against_where_nobody_will_come(cause: str) -> None:
    assert any("raise the timeout" in line for line in CAUSES[cause].anti_advice)
