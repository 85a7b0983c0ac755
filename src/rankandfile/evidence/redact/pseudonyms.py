"""Pseudonyms: the same for the same value within one pack, and never to be turned back.

They are keyed with a secret that is drawn for one pack and stored nowhere, so that nobody can try a dictionary of
likely names against them, and two packs cannot be compared.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from collections import Counter

#: Letters of a pseudonym: 40 bits. Should two values meet all the same, the later one gets more.
_LETTERS = 8


class Pseudonyms:
    def __init__(self, key: bytes | None = None) -> None:
        """`key`: of pseudonyms that go on where others ended, on the machine that gave them."""
        self.key = key or secrets.token_bytes(32)
        self._given: dict[tuple[str, str], str] = {}
        self._taken: set[str] = set()
        self.places: Counter[str] = Counter()
        """How often each kind was replaced, in distinct texts."""

    def of(self, kind: str, value: str) -> str:
        """``host-k3v9x2ma`` for a host. The same value of another kind gets another one."""
        self.places[kind] += 1
        known = self._given.get((kind, value))
        if known is not None:
            return known
        digest = hmac.new(self.key, f"{kind}\0{value}".encode("utf-8", "replace"), hashlib.sha256).digest()
        letters = base64.b32encode(digest).decode("ascii").lower()
        length = _LETTERS
        while (name := f"{kind}-{letters[:length]}") in self._taken and length < len(letters):
            length += 1
        self._taken.add(name)
        self._given[kind, value] = name
        return name

    def given(self) -> dict[str, dict[str, str]]:
        """Kind -> value -> pseudonym. For the eyes of whoever makes the pack; it is not part of it."""
        found: dict[str, dict[str, str]] = {}
        for (kind, value), name in self._given.items():
            found.setdefault(kind, {})[value] = name
        return found
