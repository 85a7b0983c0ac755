"""Words from anywhere as Markdown in which they stay text: no mention, link, image or tag."""

from __future__ import annotations

import re
from collections.abc import Iterable

from .words import plain

#: What Markdown acts on; an underscore within a word is none of it.
_PUNCTUATION = re.compile(r"([\\`*\[\]<>|~]|\b_|_\b|(?<!\w)_)")
#: What GitHub and GitLab turn into a mention, a reference or a link without any markup around it. An empty comment
#: between the characters stops them, and shows nowhere.
_REFERENCE = re.compile(r"(@|#(?=\d)|&(?=[A-Za-z#])|:(?=//)|/(?=/)|(?i:\bwww)(?=\.)|\b(?i:GH)(?=-\d))")
#: Code as sentences have it; and `trainer.py:88`, which would be read as a host and its port.
_CODE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)|([\w./-]*\w\.(?:py\b(?::\d+)?|\w+:\d+))\b")
#: What would begin a list, a heading or a rule at the start of a line.
_BLOCK = re.compile(r"^(\s*\d*)([-+=#.])")


def text(words: str, in_table: bool = False) -> str:
    """Words from anywhere, shown as they are; what they quote as code stays code."""
    span, said, end = cell if in_table else code, plain(words), 0
    parts: list[str] = []
    for found in _CODE.finditer(said):
        parts += _escaped(said[end : found.start()], not end), span(found[1] or found[2])
        end = found.end()
    return "".join([*parts, _escaped(said[end:], not end)])


def _escaped(words: str, begins: bool) -> str:
    """`begins`: a line, on which more would be read as markup."""
    safe = _REFERENCE.sub(r"\1<!-- -->", _PUNCTUATION.sub(r"\\\1", words))
    return _BLOCK.sub(r"\1\\\2", safe) if begins else safe


def code(words: str) -> str:
    """Words from anywhere in a code span."""
    words = plain(words).strip() or " "
    ticks = "`" * (_longest(words) + 1)
    pad = " " if words.startswith("`") or words.endswith("`") else ""
    return f"{ticks}{pad}{words}{pad}{ticks}"


def cell(words: str) -> str:
    """The same within a table, where a bar ends the cell."""
    return code(words).replace("|", "\\|")


def fenced(lines: Iterable[str], language: str = "") -> str:
    """A block of code that nothing in it can end."""
    shown = [plain(line.replace("\t", "    ")) for line in lines]
    fence = "`" * max(3, 1 + max(map(_longest, shown), default=0))
    return "\n".join([f"{fence}{language}", *shown, fence])


def _longest(words: str) -> int:
    return max((len(run) for run in re.findall("`+", words)), default=0)
