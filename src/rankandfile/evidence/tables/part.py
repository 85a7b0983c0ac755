"""One dump on its way into the case: what was decoded, and whose it is."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec import Struct, field

from rankandfile.evidence.owners.dump_facts import Facts
from rankandfile.evidence.raw import INTEGERS, NULL, Kind, RawDump, Repeats, unpack_repeats

Integers = npt.NDArray[np.integer[Any]]


class Part(Struct):
    raw: RawDump
    source: str
    written_ns: int = 0
    rank: int | None = None
    rank_from: str = ""
    host: str | None = None
    set_aside: str | None = None
    _spans: dict[str, tuple[int, int] | None] = field(default_factory=dict)

    def column(self, name: str) -> Integers:
        if not self.raw.calls:
            return np.empty(0, np.int64)
        raw = self.raw.integers[INTEGERS.index(name)]
        if not raw:
            return np.broadcast_to(np.int64(NULL), self.raw.calls)
        size = len(raw) // self.raw.calls
        return np.frombuffer(raw, np.int64 if size == 8 else f"u{size}")

    @property
    def kind_of_calls(self) -> Integers:
        return np.frombuffer(self.raw.kinds, f"u{len(self.raw.kinds) // self.raw.calls}")

    def span(self, name: str) -> tuple[int, int] | None:
        """Least and greatest recorded value of a column."""
        if name not in self._spans:
            self._spans[name] = _span(self.column(name))
        return self._spans[name]

    @property
    def repeats(self) -> Repeats:
        packed = self.raw.repeats
        if not packed:
            return Repeats()
        return _small(packed) if len(packed) <= _SMALL else _large(packed)

    @property
    def kinds(self) -> list[Kind]:
        return self.repeats.kinds

    @property
    def backend(self) -> str:
        for kind in self.kinds:
            backend, colon, _ = kind.name.partition(":")
            if colon:
                return backend
        return ""

    @property
    def timing(self) -> bool:
        """The recorder saw starts, so that a call without one had not begun (see `states`)."""
        if not self.raw.calls:
            return False
        return bool(self.raw.durations_ms) or self.span("started_ns") is not None

    @property
    def facts(self) -> Facts:
        """What tells this dump from those of other attempts."""
        record, time = self.span("record") or (None, None), self.span("created_ns") or (None, None)
        worlds = [
            len(config.members)
            for config in self.raw.config
            if config.desc == "default_pg" and config.members
        ]
        timeouts = [kind.timeout_ms for kind in self.kinds if kind.timeout_ms is not None]
        return Facts(
            source=self.source,
            rank=self.rank,
            host=self.host,
            backend=self.backend,
            version=self.raw.version,
            calls=self.raw.calls,
            first_record=record[0],
            last_record=record[1],
            first_ns=time[0],
            last_ns=time[1],
            written_ns=self.written_ns,
            world=max(worlds, default=None),
            timeout_ms=max(timeouts, default=None),
            has_frames=self.raw.has_frames,
        )

    @property
    def wrapped(self) -> bool:
        span = self.span("record")
        return span is not None and span[0] > 0


def _span(values: Integers) -> tuple[int, int] | None:
    if not len(values):
        return None
    least, greatest = int(values.min()), int(values.max())
    if least != NULL:
        return least, greatest
    return (int(values[values != NULL].min()), greatest) if greatest != NULL else None


#: Ranks that behave alike have the same bytes, so that few are unpacked. Few of many are kept that are large.
_SMALL = 1 << 16
_small, _large = lru_cache(maxsize=256)(unpack_repeats), lru_cache(maxsize=2)(unpack_repeats)
