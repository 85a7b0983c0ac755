"""From a physical line to the lines that its writers wrote.

Progress bars end in carriage returns, and several ranks share one pipe, so an event may begin in the middle of a
line. Colours go first: they may stand inside any word.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rankandfile.evidence.text.envelopes import COLOURS
from rankandfile.evidence.text.prefixes import peel

#: Where a writer's line may begin: torch's rank or severity.
_BEGINNING = re.compile(r"\[(?:rank\d{1,7}\[?\]:|[IWEFV]\d{3,4} \d\d:\d\d:\d\d\.)")

#: More writers than share one line.
_MOST = 64


def pieces(line: str) -> Sequence[str]:
    """The lines in a physical line, in order; usually the line itself."""
    if "\x1b" in line:
        line = COLOURS.sub("", line)
    if line.startswith('{"'):
        # In an envelope it is cut when that is opened.
        return [line]
    if "\r" not in line:
        return _split(line)
    return [piece for part in line.split("\r") if part for piece in _split(part)]


def _split(part: str) -> list[str]:
    cuts = [0]
    for match in _BEGINNING.finditer(part, 1):
        before = part[cuts[-1] : match.start()]
        # Behind nothing but a carrier's prefixes it is still the same line.
        if before and not before.rstrip().endswith("]:") and peel(before).body.strip():
            cuts.append(match.start())
            if len(cuts) == _MOST:
                break
    if len(cuts) == 1:
        return [part]
    return [part[a:b] for a, b in zip(cuts, [*cuts[1:], len(part)], strict=True)]
