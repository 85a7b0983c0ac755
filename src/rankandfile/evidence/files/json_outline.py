"""The keys at the top of a JSON document of which only the beginning is there."""

from __future__ import annotations

import re

_TOKEN = re.compile(r'"((?:[^"\\]|\\.)*)"(\s*:)?|([{}\[\]])')


def outline(text: str) -> tuple[set[str], set[str]]:
    """Keys of the outermost object, and of the objects right inside it (or inside the outermost list)."""
    top: set[str] = set()
    inner: set[str] = set()
    open_brackets = ""
    for match in _TOKEN.finditer(text):
        word, colon, bracket = match.groups()
        if bracket in ("{", "["):
            open_brackets += bracket
            if len(open_brackets) > 64:
                break
        elif bracket:
            open_brackets = open_brackets[:-1]
        elif colon and open_brackets == "{":
            top.add(word)
        elif colon and open_brackets in ("{{", "[{", "{[{"):
            inner.add(word)
    return top, inner
