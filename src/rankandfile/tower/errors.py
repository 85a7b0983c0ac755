"""What the tower answers to whom it cannot serve."""

from __future__ import annotations


class Refused(Exception):
    """An answer with a status, a word for programs and a sentence for people. It is said to a client, so it holds
    nothing that only the tower should know."""

    def __init__(self, status: int, word: str, told: str, after_s: int | None = None) -> None:
        super().__init__(told)
        self.status, self.word, self.told = status, word, told
        self.after_s = after_s
        """When it may be tried again."""


def full() -> Refused:
    return Refused(507, "full", "the tower's disk is full: nothing of this was kept", after_s=30)


def unreachable() -> Refused:
    return Refused(503, "store", "the tower's store does not answer: nothing of this was kept", after_s=5)


def busy() -> Refused:
    return Refused(503, "busy", "more comes in than the store can write: nothing of this was kept", after_s=2)


def missing(what: str) -> Refused:
    return Refused(404, "missing", f"there is no such {what}")
