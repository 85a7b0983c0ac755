"""A heading that somebody put over the stacks of one process: whose they are.

    ==== global rank 3
    # node-12  rank 3
    --- RANK=3 LOCAL_RANK=3 pid 220120

A sentence that speaks of a rank is none: a heading is marked as one, or says little else.
"""

from __future__ import annotations

import re

from rankandfile.evidence.text.stacks.stream import Block, Format, Stream

ORDER = 6

_RANK = re.compile(
    r"(?<![A-Za-z])(?P<inner>(?:local|node|group|role|tp|pp|dp|ep|cp)[ _-])?(?:(?:global|world)[ _-])?rank(?:[ _]?id)?"
    r"[ =:#_]{0,3}(?P<number>\d{1,6})(?![\w.])",
    re.IGNORECASE,
)
_MARKED = re.compile(r"\s*(?:[#>+$]\s|[=#*~>+-]{2,})")
_STACK = re.compile(
    r"\s*(?:Process \d|Thread |=== Rank|File \"|#\d|Traceback|Stack trace)|.*Exception raised from"
)
#: No part of a host's name.
_WORD = re.compile(r"(?<![\w.-])[A-Za-z]{2,}(?![\w-]*\d)")
_PLAIN = re.compile(
    r"(?i)(?:rank|global|world|local|pid|host|node|pod|gpu|on|of|for|at|stacks?|dump|spy|py|pystack|gdb|bt|process)$"
)
_LONGEST = 160
#: Words beside the usual ones of a heading that is marked as one; another has none.
_MOST = 4


def _open(_number: int, text: str, stream: Stream) -> Block | None:
    if len(text) > _LONGEST or _STACK.match(text):
        return None
    told = {int(match["number"]) for match in _RANK.finditer(text) if not match["inner"]}
    more = [word for word in _WORD.findall(text) if not _PLAIN.match(word)]
    if len(told) == 1 and len(more) <= (_MOST if _MARKED.match(text) else 0):
        stream.end()
        stream.headed = told.pop()
    return None


FORMAT = Format(r"(?i:rank)", _open)
