"""One tower: what all its answers share, and what runs beside them."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from typing import TypeAlias

from rankandfile.tower.door import Door
from rankandfile.tower.errors import Refused
from rankandfile.tower.memory import Memory
from rankandfile.tower.metrics import Numbers
from rankandfile.tower.pulse import Pulse
from rankandfile.tower.reader import CaseReader
from rankandfile.tower.settings import Settings
from rankandfile.tower.store import retention, writes
from rankandfile.tower.store.engine import Engine, Session
from rankandfile.tower.store.sqlite import Sqlite
from rankandfile.tower.store.store import Store
from rankandfile.tower.view.arrivals import Late
from rankandfile.tower.view.documents import JobNow

_FORGET_EVERY_S = 60.0
_ASKED_AGAIN_S = 1.0
#: Who was late at moments of the past.
_MOST_LOOKS = 20_000
#: Jobs as somebody has just seen them.
_MOST_VIEWS = 64


class Tower:
    """Made and used within one event loop: `opened`."""

    def __init__(self, settings: Settings, store: Store, secret: str) -> None:
        self.settings, self.store = settings, store
        self.door = Door(settings, secret)
        self.numbers = Numbers()
        self.pulse = Pulse(store, settings)
        self.reader = CaseReader(store, self.pulse)
        self.looks: Memory[list[Late]] = Memory(_MOST_LOOKS)
        self.views: Memory[JobNow] = Memory(_MOST_VIEWS)

    async def forget(self) -> None:
        """For as long as the tower runs: what is too old, or too much, goes."""
        settings, engine = self.settings, self.store.engine

        def old(session: Session) -> None:
            retention.forget(session, settings, time.time())

        def much(session: Session) -> bool:
            return retention.make_room(session, engine, settings)

        while True:
            with contextlib.suppress(Refused):
                await self.store.write(old)
            with contextlib.suppress(Refused):
                while await self.store.write(much):
                    pass
            await asyncio.sleep(_FORGET_EVERY_S)


Beside: TypeAlias = "Callable[[Tower], Coroutine[None, None, None]]"
"""What else a tower does for as long as it runs."""


@asynccontextmanager
async def opened(settings: Settings, engine: Engine, more: Sequence[Beside] = ()) -> AsyncIterator[Tower]:
    """Raises Refused where the store cannot be written to."""
    store = Store(engine)
    try:
        secret = await store.write(lambda session: writes.secret(session, secrets.token_hex(32)))
        if isinstance(engine, Sqlite):
            # Nobody else reads what a tower on this file was reading when it ended.
            await store.write(writes.release_cases)
        tower = Tower(settings, store, secret)
        await tower.pulse.begin()
        beside = [
            asyncio.ensure_future(one)
            for one in (
                tower.pulse.beat(),
                tower.reader.read_all(),
                tower.forget(),
                *(each(tower) for each in more),
            )
        ]
        try:
            yield tower
        finally:
            await _ended(beside)
    finally:
        store.close()


async def _ended(beside: Sequence[asyncio.Future[None]]) -> None:
    """A library may take a cancellation for a time limit of its own, and go on: each is asked until it ends."""
    left = set(beside)
    while left:
        for task in left:
            task.cancel()
        _, left = await asyncio.wait(left, timeout=_ASKED_AGAIN_S)
    await asyncio.gather(*beside, return_exceptions=True)
