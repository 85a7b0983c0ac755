"""What was worked out once, and does not change."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

_T = TypeVar("_T")


class Memory(Generic[_T]):
    """Bounded: what was used longest ago goes first."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._held: OrderedDict[Hashable, _T] = OrderedDict()

    def known(self, key: Hashable) -> _T | None:
        return self._held.get(key)

    def get(self, key: Hashable, make: Callable[[], _T]) -> _T:
        found = self._held.pop(key, None)
        if found is None:
            found = make()
        self._held[key] = found
        if len(self._held) > self._most:
            self._held.popitem(last=False)
        return found
