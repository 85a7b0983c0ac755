"""What the store asks of a database, and the two that can do it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

Value = str | int | float | bytes | None
Row = tuple[Value, ...]


class StoreFull(Exception):
    """The database cannot grow: its disk is full, or its bound is reached."""


class StoreUnreachable(Exception):
    """The database does not answer, or refuses."""


class Session(Protocol):
    """One connection, used by one thread. What fails raises one of the errors above."""

    def run(self, sql: str, values: Sequence[Value] = ()) -> list[Row]:
        """The rows that it gives; parameters are `?`."""
        ...

    def begin(self) -> None:
        """From here to the end, nobody else writes."""
        ...

    def commit(self) -> None: ...

    def rollback(self) -> None:
        """Never raises."""
        ...

    def close(self) -> None: ...


class Engine(Protocol):
    def open(self) -> Session: ...

    def size(self, session: Session) -> int:
        """Bytes that what is kept takes, without what is free again."""
        ...
