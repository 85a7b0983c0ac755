"""What a finding says: plain words, and clauses that are rendered from their claims, after these were checked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from msgspec import Struct

from .claims import Claim


class Clause(Struct, frozen=True, kw_only=True):
    claims: tuple[Claim, ...]
    words: Callable[[Sequence[Claim]], str]
    """Of those claims that hold, each of the ranks for which it does: at least one."""
    without: str = ""
    """What is said where none holds."""


Sentence: TypeAlias = "str | tuple[str | Clause, ...]"


def told(*parts: Sentence | Clause | None) -> Sentence:
    """One after the other; what is empty is left out."""
    listed: list[str | Clause] = []
    for part in parts:
        listed += part if isinstance(part, tuple) else [part] if part else []
    return tuple(listed)


def in_words(sentence: Sentence, held: Callable[[Claim], Claim | None] = lambda claim: claim) -> str:
    """`held`: what is left of a claim."""
    words: list[str] = []
    for part in told(sentence):
        if isinstance(part, str):
            words.append(part)
        else:
            true = [claim for one in part.claims if (claim := held(one)) is not None]
            words.append(part.words(true) if true else part.without)
    return " ".join(filter(None, words))
