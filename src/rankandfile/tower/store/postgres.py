"""The store in a Postgres: several towers may share it."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

import psycopg

from rankandfile.tower.store.engine import Row, Session, StoreFull, StoreUnreachable, Value
from rankandfile.tower.store.tables import statements

_CONNECT_S = 5
#: Of what this program locks; any number that nobody else takes.
_LOCK = 0x7A66_0001


class PostgresSession:
    def __init__(self, connection: psycopg.Connection[tuple[Value, ...]]) -> None:
        self._connection = connection

    def run(self, sql: str, values: Sequence[Value] = ()) -> list[Row]:
        try:
            done = self._connection.execute(sql.replace("?", "%s").encode(), values)
            return done.fetchall() if done.description is not None else []
        except psycopg.Error as error:
            raise _said(error) from error

    def begin(self) -> None:
        self.run("begin")
        # One of several towers writes at a time: rows get their numbers in the order in which they can be seen, and
        # two that touch the same jobs do not wait for each other in a circle.
        self.run("select pg_advisory_xact_lock(?)", (_LOCK,))

    def commit(self) -> None:
        self.run("commit")

    def rollback(self) -> None:
        # Where the connection is gone, what was begun is gone with it.
        with contextlib.suppress(psycopg.Error):
            self._connection.execute("rollback")

    def close(self) -> None:
        self._connection.close()


class Postgres:
    """The database behind a URL, `postgresql://…`; its tables are made where they are not there."""

    def __init__(self, url: str) -> None:
        self._url = url
        session = self.open()
        try:
            session.begin()
            for sql in statements("postgres"):
                session.run(sql)
            session.commit()
        finally:
            session.close()

    def open(self) -> Session:
        try:
            return PostgresSession(psycopg.connect(self._url, autocommit=True, connect_timeout=_CONNECT_S))
        except psycopg.Error as error:
            raise _said(error) from error

    def size(self, session: Session) -> int:
        # Not the size of the database, which does not shrink when rows go.
        return sum(
            int(session.run(f"select coalesce(sum(pg_column_size(body)), 0)::bigint from {table}")[0][0] or 0)
            for table in ("posts", "findings", "files")
        )


def _said(error: psycopg.Error) -> Exception:
    if isinstance(error, psycopg.errors.DiskFull):
        return StoreFull(str(error))
    return StoreUnreachable(str(error))
