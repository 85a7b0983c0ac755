"""Code on the page: the words of Python told apart, and the lines of a patch."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator

from markupsafe import Markup, escape

from .words import visible

_WORDS = re.compile(
    r"(?P<comment>#.*)"
    r"|(?P<string>(?i:[rbfu]{0,2})(?:\"\"\".*?(?:\"\"\"|$)|'''.*?(?:'''|$)|\"(?:\\.|[^\"\\])*\"?|'(?:\\.|[^'\\])*'?))"
    r"|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<number>\d[\w.]*)"
    r"|(?P<decorator>(?<![\w)\]] )@[\w.]+)"
)
_KEYWORDS = frozenset(keyword.kwlist)


def python(line: str) -> Markup:
    """One line, with its keywords, strings, comments and numbers marked. A line alone may be within a string that
    began before it: then it is marked wrongly, and is what it was all the same."""
    text, end = str(visible(line)), 0
    parts: list[Markup] = []
    for found in _WORDS.finditer(text):
        kind = found.lastgroup
        if kind == "name":
            kind = "keyword" if found[0] in _KEYWORDS else None
        if kind is not None:
            parts += (
                escape(text[end : found.start()]),
                Markup('<i class="py-{}">{}</i>').format(kind, found[0]),
            )
            end = found.end()
    return Markup("").join([*parts, escape(text[end:])])


def patch(text: str) -> Iterator[tuple[str, str]]:
    """Each line of a unified diff, and what it is: `head`, `at`, `add`, `del` or `same`."""
    in_hunk = False
    lines = text.splitlines()
    for number, line in enumerate(lines):
        after = lines[number + 1] if number + 1 < len(lines) else ""
        if line.startswith("--- ") and after.startswith("+++ "):
            in_hunk = False
        kind = {"+": "add", "-": "del", "@": "at"}.get(line[:1], "same")
        in_hunk = in_hunk or kind == "at"
        yield kind if in_hunk else "head", line
