"""What the chosen tests of a module need, so that a fixture that they share makes that and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest


def asked_for(request: pytest.FixtureRequest, parameter: str) -> list[Any]:
    """The values of a parameter in those tests of this module that will run, in their order."""
    calls = [getattr(item, "callspec", None) for item in request.session.items if item.path == request.path]
    return list(dict.fromkeys(call.params[parameter] for call in calls if call and parameter in call.params))


def in_lab(names: Sequence[Any], here: Sequence[Any]) -> list[Any]:
    """Parameters of which all but a few representatives belong to the lab's tests."""
    assert set(here) <= set(names)
    return [pytest.param(name, marks=() if name in here else pytest.mark.lab) for name in names]
