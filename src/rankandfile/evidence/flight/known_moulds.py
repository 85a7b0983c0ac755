"""Reading a pickle by the mould of an earlier one, where it fits (see `moulds`)."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankandfile.evidence.flight import header
from rankandfile.evidence.flight.as_pickle import BROKEN, plain_data
from rankandfile.evidence.raw import INTEGERS, RawDump

if TYPE_CHECKING:
    from rankandfile.evidence.flight.moulds import Cast, Mould

#: Moulds that one process keeps; a job has a handful of kinds of rank, each with a few lengths.
MOST = 48
#: A file that fits no mould costs a look at each; after so many in a row, the job is not that regular.
MOST_MISSES = 24
#: The first dump of a process alone may have no peers: NumPy is loaded, and a mould made, from the second on.
FIRST = 2
#: Shorter stretches of entries are not worth a mould.
MIN_ENTRIES = 256


class KnownMoulds:
    """The moulds of one decoding process, the last one that fitted first."""

    def __init__(self) -> None:
        self._moulds: list[Mould] = []
        self._misses = 0
        self._seen = 0

    def read(self, path: Path) -> RawDump | None:
        """The dump in the file, if it fits a mould; None: read it the ordinary way."""
        if not self._moulds:
            return None
        from rankandfile.evidence.flight.moulds import cast

        data = path.read_bytes()
        for number, mould in enumerate(self._moulds):
            found = cast(data, mould)
            if found is not None and (dump := _dump(found)) is not None:
                self._moulds.insert(0, self._moulds.pop(number))
                self._misses = 0
                return dump
        self._misses += 1
        return None

    def learn(self, path: Path, value: Any) -> None:
        """Make a mould of a whole, sound dump that was read the ordinary way."""
        self._seen += 1
        if self._seen < FIRST or len(self._moulds) >= MOST or self._misses > MOST_MISSES:
            return
        entries = value.get("entries")
        if isinstance(entries, list) and len(entries) >= MIN_ENTRIES:
            from rankandfile.evidence.flight.moulds import make

            mould = make(path.read_bytes(), len(entries))
            if mould is not None:
                self._moulds.insert(0, mould)


def _dump(cast: Cast) -> RawDump | None:
    """The dump of a cast; None where the rest of the file is not as sound as the mould."""
    import numpy as np

    try:
        value = plain_data(io.BufferedReader(io.BytesIO(cast.pickle)), cast.pickle)
    except (MemoryError, *BROKEN):
        return None
    dump, notes = header.decode(value, "pickle")
    a, b = cast.before, cast.before + len(cast.samples)
    if dump is None or notes or dump.durations_ms or dump.calls < b:
        return None
    kinds = np.frombuffer(dump.kinds, np.uint32)
    kinds = np.concatenate([kinds[:a], kinds[a:b][cast.sort_of], kinds[b:]])
    columns = []
    for name, raw in zip(INTEGERS, dump.integers, strict=True):
        column = np.frombuffer(raw, np.int64)
        if not np.array_equal(column[a:b], cast.columns[name][cast.samples]):
            return None  # they are not where they were taken to be
        columns.append(np.concatenate([column[:a], cast.columns[name], column[b:]]))
    if len(np.unique(columns[INTEGERS.index("record")])) < len(kinds):
        return None
    dump.calls = len(kinds)
    dump.kinds = kinds.tobytes()
    dump.integers = [column.tobytes() for column in columns]
    return dump
