"""The rank that a program names where its own lines begin: `INFO rank=3 it=40`, `[rank 0/4]`, `trainer r6 |`."""

from __future__ import annotations

import re

_SPEAKER = re.compile(r"(?<![\w.-])(?i:rank)[ =:#]{0,2}(\d{1,6})(?:/\d{1,6})?(?![\w.%])")
#: Short, it is set off from what is said.
_SHORT = re.compile(r"(?<![\w.-])[rR](\d{1,6})(?= ?[|\]])")
#: Its number before a clock, as programs of MPI write it.
_NUMBERED = re.compile(r"\[(\d{1,4})\] (?=\d\d:\d\d:\d\d)")
_BEGINNING, _WORDS_BEFORE = 48, 3
#: The place that says it is no word of it: `WARNING data.py:71 [rank 6] retrying`.
_WORD = re.compile(r"[A-Za-z]{2,}(?![\w./-]*:\d)(?<!\.py)(?<!\.cc)(?<!\.cpp)")


def speaker(text: str) -> int | None:
    head = text[:_BEGINNING]
    if head[:1] == "[" and (numbered := _NUMBERED.match(head)) is not None:
        return int(numbered[1])
    if "ank" in head or "ANK" in head:
        match = _SPEAKER.search(head)
    elif " r" in head or head[:2] == "[r":
        match = _SHORT.search(head)
    else:
        return None
    # Behind more than a level and a name it is rather spoken of.
    return int(match[1]) if match and len(_WORD.findall(text[: match.start()])) < _WORDS_BEFORE else None
