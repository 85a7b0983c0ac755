"""The store in one file: what one machine needs, with nothing to install."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Sequence
from pathlib import Path

from rankandfile.tower.store.engine import Row, Session, StoreFull, StoreUnreachable, Value
from rankandfile.tower.store.tables import statements

#: For a writer that waits for another's lock, as while a backup runs.
_WAIT_S = 5.0


class SqliteSession:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def run(self, sql: str, values: Sequence[Value] = ()) -> list[Row]:
        try:
            return self._connection.execute(sql, values).fetchall()
        except sqlite3.Error as error:
            raise _said(error) from error

    def begin(self) -> None:
        self.run("begin immediate")

    def commit(self) -> None:
        self.run("commit")

    def rollback(self) -> None:
        if self._connection.in_transaction:
            # A full disk has rolled it back already.
            with contextlib.suppress(sqlite3.Error):
                self._connection.execute("rollback")

    def close(self) -> None:
        self._connection.close()


class Sqlite:
    """A file that is made where it is not there. `most_bytes` is how large it may become."""

    def __init__(self, path: Path, most_bytes: int) -> None:
        self._path, self._most_bytes = path, most_bytes
        session = self.open()
        try:
            for sql in statements("sqlite"):
                session.run(sql)
        finally:
            session.close()

    def open(self) -> Session:
        try:
            connection = sqlite3.connect(
                self._path, timeout=_WAIT_S, isolation_level=None, check_same_thread=False
            )
            # The log beside the file lets readers read while one writes; FULL: what is committed survives the machine.
            connection.execute("pragma journal_mode=wal")
            connection.execute("pragma synchronous=full")
            connection.execute("pragma journal_size_limit=67108864")
            page = int(connection.execute("pragma page_size").fetchone()[0])
            connection.execute(f"pragma max_page_count={max(64, self._most_bytes // page)}")
        except sqlite3.Error as error:
            raise _said(error) from error
        return SqliteSession(connection)

    def size(self, session: Session) -> int:
        pages, free, page = (
            int(session.run(f"pragma {name}")[0][0] or 0)
            for name in ("page_count", "freelist_count", "page_size")
        )
        return (pages - free) * page


def _said(error: sqlite3.Error) -> Exception:
    code = getattr(error, "sqlite_errorcode", None)
    words = str(error)
    # A file that may not grow further (a quota, a limit of the process) is told as an error of input or output.
    if "full" in words or code == 13 or "disk I/O" in words:
        return StoreFull(words)
    return StoreUnreachable(words)
