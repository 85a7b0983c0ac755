"""Which call a work is of: the main thread's calls, by what it waits for them with.

Most are waited for at once, so that the newest is kept by itself; only who makes another one before that needs a table.
"""

from __future__ import annotations

import weakref
from typing import Any

from rankandfile.runtime.plan.calls import Call


class Made:
    def __init__(self) -> None:
        self._last: Call | None = None
        """Made since `forget`, with a work that is not known yet;"""
        self._several = False
        """one of several, and nobody knows whose work is whose."""
        self._newest: tuple[weakref.ref[Any], Call] | None = None
        self._works: weakref.WeakKeyDictionary[Any, Call] = weakref.WeakKeyDictionary()

    def add(self, call: Call) -> None:
        self._several = self._last is not None
        self._last = call

    def forget(self) -> None:
        self._last = None

    def gave(self, work: Any) -> None:
        """The work of the call that was made last, where that is one."""
        call = self._last
        if call is None or self._several:
            return
        try:
            newest = weakref.ref(work)
            if self._newest is not None and (before := self._newest[0]()) is not None:
                self._works[before] = self._newest[1]
        except TypeError:  # a work of somebody's own making, that cannot be a key
            return
        self._newest = newest, call
        self._last = None

    def call_of(self, work: Any) -> Call | None:
        """What is waited for right behind a call is the call's, where nothing else is known."""
        if self._newest is not None and self._newest[0]() is work:
            return self._newest[1]
        try:
            found = self._works.get(work)
        except TypeError:
            found = None
        return found or (None if self._several else self._last)
