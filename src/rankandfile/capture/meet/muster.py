"""Where the watchers of one job's nodes report: a shared folder, the job's own store, or a service that lives."""

from __future__ import annotations

from typing import Protocol


class Muster(Protocol):
    """Names and bytes. Each watcher writes under a name of its own; all may read everything.

    Every method raises `OSError` where the place is gone, and answers within seconds.
    """

    def enrol(self, member: str) -> None:
        """From now on `members` has it."""

    def members(self) -> list[str]:
        """Everybody who has enrolled, those that an earlier attempt has left included."""

    def put(self, name: str, data: bytes) -> None:
        """Set, or replace as a whole. A name is `MEMBER/word`, or a word that belongs to all."""

    def get(self, name: str) -> bytes | None:
        """What was put last."""

    def remove(self, member: str) -> None:
        """Everything of this member."""
