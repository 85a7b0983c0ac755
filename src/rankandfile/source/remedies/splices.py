"""Changes of a text by the places of their characters, made together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Splice(NamedTuple):
    """This text instead of what stands from `start` up to `end`."""

    start: int
    end: int
    text: str


def spliced(text: str, splices: Iterable[Splice]) -> str:
    """The text with all of it changed. A change within what another one takes away goes with it.

    >>> spliced("one two three", [Splice(4, 7, "2"), Splice(8, 8, "and ")])
    'one 2 and three'
    """
    made, at = [], 0
    for start, end, new in sorted(splices, key=lambda one: one[:2]):
        if start >= at:
            made += [text[at:start], new]
        elif end > at:
            made.append(new)
        at = max(at, end)
    return "".join([*made, text[at:]])
