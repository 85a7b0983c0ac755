"""How the ranks' answers to a test become one, and the words for it."""

from __future__ import annotations

from msgspec import Struct


class OneAnswer(Struct, frozen=True):
    how: str
    """any, all, or first: the first rank's."""
    title: str
    text: str
    decide: str = ""
