"""Why a decision can differ between ranks: the answer, with the chain that supports it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Level: TypeAlias = Literal["uniform", "axes", "varying", "unknown"]


@dataclass(frozen=True)
class Step:
    """One place on the way from a decision back to what makes it differ."""

    file: str
    line: int
    words: str


@dataclass(frozen=True)
class Reason:
    """`sentence` is empty where the code does not support one."""

    level: Level
    axes: frozenset[str] = frozenset()
    """Mesh axes along which the value varies; only with level "axes"."""
    source: str = ""
    """The kind of source: rank_api, environment, local_data, exception, clock, rng, file_system, shard_length, ..."""
    chain: tuple[Step, ...] = ()
    """From the decision back to the source."""
    sentence: str = ""
    agreed: frozenset[str] = frozenset()
    """Groups over which the value was reduced or broadcast; it can still differ between them."""


UNKNOWN = Reason("unknown")
