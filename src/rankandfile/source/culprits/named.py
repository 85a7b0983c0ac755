"""Whom the code names, and in which words."""

from __future__ import annotations

from typing import NamedTuple

from rankandfile.model.ranks import format_ranks


class Named(NamedTuple):
    ranks: tuple[int, ...]
    doing: str
    words: str


def rank_words(ranks: tuple[int, ...]) -> str:
    return f"rank{'' if len(ranks) == 1 else 's'} {format_ranks(ranks)}"
