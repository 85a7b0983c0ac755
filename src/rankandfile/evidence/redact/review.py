"""Words of a redacted case that may name somebody: all that neither the product's own texts nor Python use.

No pattern knows a code name, a customer, or a host without a number that a line mentions in passing. What can be told
is which words are not of the language that jobs and this package speak; somebody who knows the job reads the rest.
"""

from __future__ import annotations

import builtins
import re
import sys
from collections import Counter
from functools import cache
from pathlib import Path

from msgspec import Struct

from rankandfile.model.case import Case
from rankandfile.model.known.packages import PACKAGES

from .tables import texts

#: A word as it stands, and its parts: `GandalfLoader_v2` has three, of which one is of no use to anybody.
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[._-][A-Za-z0-9]+)*")
_PART = re.compile(r"[A-Z]?[a-z]{2,}|[A-Z]{3,}(?![a-z])")
_CODE = re.compile(r"0x[0-9a-fA-F]+|\b(?=[a-f]*\d)[0-9a-f]{6,}\b")
_PSEUDONYM = re.compile(r"\b(?:secret|host|net|ip|mac|user|mail|name|id|dir|file|text|word)-[a-z2-7]{8,}\b")
#: Rooms of the package whose texts name machines and people, as examples do.
_WITH_NAMES = ("lab", "redact")
_AROUND = 30


class Unknown(Struct, frozen=True, kw_only=True):
    word: str
    places: int
    """In how many distinct texts."""
    example: str
    """One of them, around the word."""


def unknown_words(case: Case) -> list[Unknown]:
    """Of a case that has been redacted, the rarest first."""
    places: Counter[str] = Counter()
    examples: dict[str, str] = {}
    for text in texts(case):
        shown = _CODE.sub("", _PSEUDONYM.sub("", text))
        for word in {match[0]: match for match in _WORD.finditer(shown)}.values():
            if not _is_known(word[0]):
                places[word[0]] += 1
                around = shown[max(0, word.start() - _AROUND) : word.end() + _AROUND]
                examples.setdefault(word[0], " ".join(around.split()))
    ordered = sorted(places, key=lambda word: (places[word], word))
    return [Unknown(word=word, places=places[word], example=examples[word]) for word in ordered]


def _is_known(word: str) -> bool:
    parts = [part.lower() for part in _PART.findall(word)]
    return all(part in _vocabulary() or part.removesuffix("s") in _vocabulary() for part in parts)


@cache
def _vocabulary() -> frozenset[str]:
    """The words of the package's own sources, of Python and of the usual libraries."""
    whole = Path(__file__).resolve().parents[2]
    found = {name.lower() for name in (*sys.stdlib_module_names, *dir(builtins), *PACKAGES)}
    for path in whole.rglob("*.py"):
        if not set(_WITH_NAMES).intersection(path.relative_to(whole).parts):
            found.update(_PART.findall(path.read_text(encoding="utf-8", errors="replace")))
    return frozenset(part.lower() for word in found for part in _PART.findall(word))
