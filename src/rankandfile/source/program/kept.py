"""What is worked out once for a function, a module or a program, and forgotten with it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar
from weakref import WeakKeyDictionary

Owner = TypeVar("Owner")
Made = TypeVar("Made")


def kept(make: Callable[[Owner], Made]) -> Callable[[Owner], Made]:
    """The function, which works its answer out once for each owner, and never answers None."""
    known: WeakKeyDictionary[Owner, Made] = WeakKeyDictionary()

    @wraps(make)
    def answer(owner: Owner) -> Made:
        found = known.get(owner)
        if found is None:
            found = known[owner] = make(owner)
        return found

    return answer
