"""What torch's own tools read, beside the evidence of a case: a pickle per rank, and all ranks' calls as tables."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rankandfile.capture.debug import tables
from rankandfile.capture.watch import ring_files
from rankandfile.wire import flight, reading


def dump(ring: Path) -> tuple[int, dict[str, Any]] | None:
    """The rank and its calls, in the form of torch's recorder; None where the ring cannot be read."""
    try:
        contents = reading.read(ring_files.read(ring))
    except OSError:
        return None
    return None if isinstance(contents, str) else (contents.header.rank, flight.dump(contents))


def dumps(rings: Iterable[Path]) -> dict[int, dict[str, Any]]:
    """As torch's fr_trace can read them, by rank; of two of one rank, the later in order."""
    found = (dump(ring) for ring in rings)
    return {one[0]: flight.for_torch(one[1]) for one in found if one is not None and one[0] >= 0}


def pickles(found: Mapping[int, Mapping[str, Any]], folder: Path) -> None:
    """One file per rank, `rank_0` and so on: `python -m torch.distributed.flight_recorder.fr_trace FOLDER`."""
    folder.mkdir(parents=True, exist_ok=True)
    for rank, dumped in found.items():
        part = folder / f".part{rank}"
        part.write_bytes(pickle.dumps(dumped, protocol=2))
        part.replace(folder / f"rank_{rank}")


def beside(case: Path) -> None:
    """`fr_trace.txt` and `fr_trace/rank_N` of the rings in the case's evidence. Raises OSError."""
    found = dumps(sorted((case / "evidence").rglob("raf-*.ring")))
    if found:
        pickles(found, case / "fr_trace")
        (case / "fr_trace.txt").write_text(tables.text(found), encoding="utf-8")
