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
#: `trainer.py:88` would be read as a host and its port.
_PLACE = re.compile(r"([\w./-]*\w\.(?:py\b(?::\d+)?|\w+:\d+))\b")
#: What would begin a list, a heading or a rule at the start of a line.
_BLOCK = re.compile(r"^(\s*\d*)([-+=#.])")


def text(words: str) -> str:
    """Words from anywhere, shown as they are."""
    parts = _PLACE.split(plain(words))
    return "".join(code(part) if number % 2 else _escaped(part) for number, part in enumerate(parts))


def _escaped(words: str) -> str:
    safe = _REFERENCE.sub(r"\1<!-- -->", _PUNCTUATION.sub(r"\\\1", words))
    return _BLOCK.sub(r"\1\\\2", safe)


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
