"""What running `raf` gives a test."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Done(NamedTuple):
    status: int
    out: str
    err: str


Raf = Callable[..., Done]
