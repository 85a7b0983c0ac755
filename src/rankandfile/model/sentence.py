"""What a finding says: plain words, clauses that are rendered from their claims after these were checked, and words
that the program's source may show to be otherwise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct

from .claims import Claim


class Clause(Struct, frozen=True, kw_only=True):
    claims: tuple[Claim, ...]
    words: Callable[[Sequence[Claim]], str]
    """Of those claims that hold, each of the ranks for which it does: at least one."""
    without: str = ""
    """What is said where none holds."""


Presumption: TypeAlias = Literal["different ways", "perhaps left the loop", "another order", "skipped a call"]


class Presumed(Struct, frozen=True, kw_only=True):
    """What the evidence alone leads to say: where the source shows it to be otherwise, or says it better, it is taken
    back."""

    what: Presumption
    words: str
    instead: str = ""
    """What is said where it is taken back; empty: nothing."""


Sentence: TypeAlias = "str | tuple[str | Clause | Presumed, ...]"
Words: TypeAlias = "tuple[str | Presumed, ...]"
"""A sentence whose claims were checked."""


def told(*parts: Sentence | Clause | Presumed | None) -> Sentence:
    """One after the other; what is empty is left out."""
    listed: list[str | Clause | Presumed] = []
    for part in parts:
        listed += part if isinstance(part, tuple) else [part] if part else []
    return tuple(listed)


def checked(sentence: Sentence, held: Callable[[Claim], Claim | None] = lambda claim: claim) -> Words:
    """The sentence with each clause in words. `held`: what is left of a claim."""
    words: list[str | Presumed] = []
    for part in told(sentence):
        if isinstance(part, Clause):
            true = [claim for one in part.claims if (claim := held(one)) is not None]
            words.append(part.words(true) if true else part.without)
        else:
            words.append(part)
    return tuple(filter(None, words))


def taken_back(words: Words, *shown: Presumption) -> Words:
    """The same where the source has shown these presumptions to be otherwise."""
    rest = (one.instead if isinstance(one, Presumed) and one.what in shown else one for one in words)
    return tuple(filter(None, rest))


def in_words(sentence: Sentence, held: Callable[[Claim], Claim | None] = lambda claim: claim) -> str:
    """`held`: what is left of a claim."""
    return " ".join(one if isinstance(one, str) else one.words for one in checked(sentence, held))
