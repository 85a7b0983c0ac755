"""Tells who listens which jobs have moved. It looks into the store, so that what another tower on the same store took
in is told as well."""

from __future__ import annotations

import asyncio
import contextlib

from rankandfile.tower.errors import Refused
from rankandfile.tower.settings import Settings
from rankandfile.tower.store import reads
from rankandfile.tower.store.store import Store

_LOOK_S = 0.5


class Listener:
    """What one stream has to be told. It does not grow with time: what is told late is told once."""

    def __init__(self, job: str | None) -> None:
        self.job = job
        self._news: dict[tuple[str, str], None] = {}
        self._woken = asyncio.Event()

    def tell(self, job: str, kind: str) -> None:
        if self.job in (None, job):
            self._news[job, kind] = None
            self._woken.set()

    async def news(self, patience_s: float) -> list[tuple[str, str]]:
        """Jobs and what is new of them: `digests`, `finding`, `case`. Empty after this long."""
        with contextlib.suppress(asyncio.TimeoutError, TimeoutError):
            await asyncio.wait_for(self._woken.wait(), patience_s)
        self._woken.clear()
        told = list(self._news)
        self._news.clear()
        return told


class Pulse:
    def __init__(self, store: Store, settings: Settings) -> None:
        self._store, self._most = store, settings.most_listeners
        self._listeners: set[Listener] = set()
        self._seen = (0, 0)

    def __len__(self) -> int:
        return len(self._listeners)

    def join(self, job: str | None) -> Listener:
        """Raises Refused."""
        if len(self._listeners) >= self._most:
            raise Refused(429, "listeners", "as many streams are open as may be", after_s=30)
        listener = Listener(job)
        self._listeners.add(listener)
        return listener

    def leave(self, listener: Listener) -> None:
        self._listeners.discard(listener)

    def tell(self, job: str, kind: str) -> None:
        for listener in self._listeners:
            listener.tell(job, kind)

    async def begin(self) -> None:
        """Before anybody can send anything: what is there by now is no news. Raises Refused."""
        self._seen = await self._store.read(reads.newest_numbers)

    async def beat(self) -> None:
        """For as long as the tower runs."""
        while True:
            # Also while nobody listens: who joins is told of everything that comes from then on.
            with contextlib.suppress(Refused):
                await self._look()
            await asyncio.sleep(_LOOK_S)

    async def _look(self) -> None:
        seen = self._seen
        newest = await self._store.read(reads.newest_numbers)
        if newest != seen:
            if self._listeners:
                for job, kind in await self._store.read(lambda session: reads.heard_of_since(session, *seen)):
                    self.tell(job, kind)
            self._seen = newest
