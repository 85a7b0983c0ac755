"""How many examples a property is tried on: all that it states in the lab, and a share of them elsewhere."""

from __future__ import annotations

from hypothesis import settings

#: Profile -> the examples of a property that states none; of one that states some, so many of a hundred.
SHARES = {"quick": 5, "test": 10, "lab": 100}


def register() -> None:
    for name, count in SHARES.items():
        # On a busy machine any example may take long.
        settings.register_profile(name, max_examples=count, deadline=None)
    settings.load_profile("test")


def examples(count: int) -> int:
    return max(5, count * settings.default.max_examples // SHARES["lab"])
