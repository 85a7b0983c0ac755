"""Which times of a dump are kept as they are: those that decide something, of a call or by how far two are apart.

Times are the one thing in a dump that does not repeat, and nearly all of what a dump weighs without its repeats. What
reasoning reads of them is when the first and the last calls were made, how long the longest pause was, and when calls
that have not ended, or are not let go of, were made, began and ended. Of all others the millisecond is kept in which
they were made: whether hosts' clocks agree, or a file is older than a call, is a matter of seconds.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from rankandfile.evidence.raw import NULL
from rankandfile.evidence.tables.part import Integers, Part

from .form import UNIT_NS

Mask = npt.NDArray[np.bool_]

#: The newest calls of a dump, of which everything is kept.
NEWEST = 64
#: Pauses below this decide nothing: a wait must be five times as long, and some seconds, to be a long one.
_SHORT_NS = 100_000_000


def whole(part: Part) -> Mask:
    """The calls of which all times are kept: the newest, and those that nothing has let go of."""
    kept = np.array([not kind.retired and not kind.is_p2p for kind in part.kinds], np.bool_)[
        part.kind_of_calls
    ]
    kept[-NEWEST:] = True
    for name in ("started_ns", "completed_ns"):
        kept[part.column(name).argmax()] = True
    return kept


def exact(part: Part, made: Integers) -> Mask:
    """The calls whose time of making is kept as it is."""
    kept = whole(part)
    # Rounded down, the first millisecond would be no time at all.
    kept |= (made != NULL) & (made < UNIT_NS)
    groups = np.array([kind.group for kind in part.kinds])[part.kind_of_calls]
    timed = np.flatnonzero(made != NULL)
    if not len(timed):
        return kept
    for group in np.unique(groups[timed]):
        own = timed[groups[timed] == group]
        kept[own[made[own].argmin()]] = kept[own[made[own].argmax()]] = True
    _keep_pauses(part, made, timed, kept)
    return kept


def _keep_pauses(part: Part, made: Integers, timed: Integers, kept: Mask) -> None:
    """The longest pause stays as long as it is, and none becomes longer: where one nearly is, its beginning is not
    rounded down."""
    order = timed[np.argsort(part.column("record")[timed], kind="stable")]
    pauses = np.diff(made[order])
    if not len(pauses) or (longest := pauses.max()) < _SHORT_NS:
        return
    kept[order[:-1][pauses > longest - UNIT_NS]] = True
    kept[order[1:][pauses == longest]] = True
