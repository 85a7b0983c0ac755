"""The store as the rest of the tower sees it: reads in a few threads, writes in one, and its errors as answers."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from rankandfile.tower.errors import busy, full, unreachable
from rankandfile.tower.settings import Settings
from rankandfile.tower.store.engine import Engine, Session, StoreFull, StoreUnreachable
from rankandfile.tower.store.sqlite import Sqlite
from rankandfile.tower.store.writer import TooMany, Writer

_T = TypeVar("_T")
_READERS = 4
POSTGRES = ("postgresql://", "postgres://")


def engine_at(place: str, settings: Settings) -> Engine:
    """`postgresql://…`, or the path of a file. Raises StoreFull, StoreUnreachable."""
    if not place.startswith(POSTGRES):
        return Sqlite(Path(place), settings.store_bytes)
    from rankandfile.tower.store.postgres import Postgres

    return Postgres(place)


class Store:
    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._writer = Writer(engine)
        self._readers = ThreadPoolExecutor(_READERS, thread_name_prefix="tower-reader")
        self._own = threading.local()

    async def read(self, look: Callable[[Session], _T]) -> _T:
        """Raises Refused."""
        try:
            return await asyncio.get_running_loop().run_in_executor(self._readers, self._look, look)
        except (StoreFull, StoreUnreachable) as error:
            raise unreachable() from error

    async def write(self, change: Callable[[Session], _T]) -> _T:
        """What `change` gave, once it is on the disk. Raises Refused: then nothing was kept."""
        try:
            return await asyncio.wrap_future(self._writer.submit(change))
        except TooMany as error:
            raise busy() from error
        except StoreFull as error:
            raise full() from error
        except StoreUnreachable as error:
            raise unreachable() from error

    def close(self) -> None:
        self._writer.close()
        self._readers.shutdown(cancel_futures=True)

    def _look(self, look: Callable[[Session], _T]) -> _T:
        session: Session | None = getattr(self._own, "session", None)
        if session is not None:
            try:
                return look(session)
            except StoreUnreachable:
                # A database that was restarted has ended the connection: once more, with a new one.
                session.close()
                self._own.session = None
        self._own.session = session = self.engine.open()
        return look(session)
