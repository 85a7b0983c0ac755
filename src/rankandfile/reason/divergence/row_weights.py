"""A weight for each column of a table of numbers: rows of one weighted sum are taken for equal.

As good as random, and the same in every run (SplitMix64). NumPy's own generators take longer to load than all of a
small case to compare.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def row_weights(columns: int) -> npt.NDArray[np.uint64]:
    """Odd, so that no bit of a cell is lost."""
    mixed = np.arange(1, columns + 1, dtype=np.uint64)
    with np.errstate(over="ignore"):
        mixed *= np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray((mixed ^ (mixed >> np.uint64(31))) | np.uint64(1), np.uint64)
