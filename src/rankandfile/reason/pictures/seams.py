"""Where a row must be moved so that calls that belong together stand below each other: the shift made visible.

A row with a skipped call has a gap there once it is aligned; where it has a call too many, the others have.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from rankandfile.reason.calls.rounds import predict
from rankandfile.reason.divergence.alignment import Edit, Tokens, align

Seams = list[tuple[int, int]]

_LOOK_AHEAD = 64


def seams(normal: Tokens, others: Mapping[int, Tokens]) -> tuple[Seams, dict[int, Seams]]:
    """How the normal row and each other one move. Rows that have too little in common stay where they are."""
    longest = max((len(other) for other in others.values()), default=0)
    ahead = predict(normal, max(0, longest - len(normal)) + _LOOK_AHEAD)
    whole = np.concatenate([normal, ahead]) if len(ahead) else normal
    found = {key: edits for key, other in others.items() if (edits := align(whole, other))}
    gaps: dict[int, int] = {}
    for edits in found.values():
        for edit in edits:
            at, added = edit.a_stop, _surplus(edit)
            if added > 0:
                gaps[at] = max(gaps.get(at, 0), added)
    display = np.arange(len(whole) + 1)
    for at, count in gaps.items():
        display[at:] += count
    moved = {key: _compress(_columns(edits, display, len(others[key]))) for key, edits in found.items()}
    return _compress(display[: len(normal)]), moved


def _surplus(edit: Edit) -> int:
    return (edit.b_stop - edit.b_start) - (edit.a_stop - edit.a_start)


def _columns(edits: list[Edit], display: npt.NDArray[np.int64], length: int) -> npt.NDArray[np.int64]:
    """Where each call of the other row is drawn."""
    columns = np.zeros(length, np.int64)
    a = b = 0
    for edit in [*edits, Edit(0, 0, length, length)]:
        for k in range(edit.b_start - b):
            columns[b + k] = display[min(a + k, len(display) - 1)]
        a, b = edit.a_stop, edit.b_stop
        surplus = max(0, _surplus(edit))
        replaced = edit.b_stop - edit.b_start - surplus
        for k in range(replaced):
            columns[edit.b_start + k] = display[edit.a_start + k]
        for k in range(surplus):
            columns[edit.b_start + replaced + k] = display[edit.a_stop] - surplus + k
    return columns


def _compress(columns: npt.NDArray[np.int64]) -> Seams:
    shift = columns - np.arange(len(columns))
    starts = np.flatnonzero(np.diff(shift, prepend=0))
    return [(int(at), int(shift[at])) for at in starts]
