"""One thread that writes. What comes in while it writes goes into the next transaction together, and is acknowledged
when that is on the disk: a thousand jobs a second take a few dozen transactions, and not a thousand."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar, cast

from rankandfile.tower.errors import Refused
from rankandfile.tower.store.engine import Engine, Session, StoreFull, StoreUnreachable

_T = TypeVar("_T")
#: Given to the thread, and not written yet: beyond, the sender is told to come again.
MOST_WAITING = 4_000
_MOST_TOGETHER = 500

Write = Callable[[Session], object]


class TooMany(Exception):
    """More comes in than is written."""


class Writer:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._session: Session | None = None
        self._waiting: queue.Queue[tuple[Write, Future[object]] | None] = queue.Queue(MOST_WAITING)
        self._thread = threading.Thread(target=self._write_all, name="tower-writer", daemon=True)
        self._thread.start()

    def submit(self, write: Callable[[Session], _T]) -> Future[_T]:
        """What `write` gave, once it is on the disk. Raises TooMany."""
        done: Future[object] = Future()
        try:
            self._waiting.put_nowait((write, done))
        except queue.Full:
            raise TooMany from None
        return cast("Future[_T]", done)

    def close(self) -> None:
        """What was submitted is written first."""
        self._waiting.put(None)
        self._thread.join()

    def _write_all(self) -> None:
        more = True
        while more:
            together: list[tuple[Write, Future[object]]] = []
            one = self._waiting.get()
            while one is not None:
                together.append(one)
                if len(together) == _MOST_TOGETHER:
                    break
                try:
                    one = self._waiting.get_nowait()
                except queue.Empty:
                    break
            more = one is not None
            self._write(together)
        if self._session is not None:
            self._session.close()

    def _write(self, together: list[tuple[Write, Future[object]]]) -> None:
        """One that is at fault takes none of the others with it: they are then written one by one."""
        # Who has gone meanwhile was not acknowledged anything.
        together = [one for one in together if one[1].running() or one[1].set_running_or_notify_cancel()]
        try:
            answers = self._commit([write for write, _ in together])
        except (StoreFull, StoreUnreachable) as error:
            for _, done in together:
                done.set_exception(error)
            return
        except Exception as error:
            if len(together) == 1:
                together[0][1].set_exception(error)
                return
            for one in together:
                self._write([one])
            return
        for (_, done), answer in zip(together, answers, strict=True):
            if isinstance(answer, Refused):
                done.set_exception(answer)
            else:
                done.set_result(answer)

    def _commit(self, writes: list[Write]) -> list[object]:
        if not writes:
            return []
        if self._session is None:
            self._session = self._engine.open()
        session = self._session
        try:
            session.begin()
            answers = [_done(write, session) for write in writes]
            session.commit()
        except StoreUnreachable:
            # The connection may be gone: the next one is a new one.
            session.rollback()
            session.close()
            self._session = None
            raise
        except Exception:
            session.rollback()
            raise
        return answers


def _done(write: Write, session: Session) -> object:
    """Who is refused has left nothing half written: that is no reason to begin again for all."""
    try:
        return write(session)
    except Refused as refused:
        return refused
