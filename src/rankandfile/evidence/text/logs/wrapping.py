"""Lines that a carrier cut: container runtimes mark the parts, terminals and copy-and-paste do not."""

from __future__ import annotations

import re
from copy import copy

from rankandfile.evidence.text.bare_line import BareLine
from rankandfile.evidence.text.prefixes import peel
from rankandfile.evidence.text.scan import Line
from rankandfile.evidence.text.written_lines import pieces

#: Parts of one line that are put together again.
_PARTS = 64

#: Lines of a hard-wrapped one, above and below the one that was found. W2 in 80 columns has five.
_ABOVE = 4
_BELOW = 10

_BEGINS = re.compile(
    r"\[rank\d|\[[IWEFV]\d{3,4} \d\d:|^(?:\^C)?[IWEFV]\d{4} \d\d:\d\d:"
    r"|\[[IWEF] \w|Traceback \(|#\d+ |^\[\w{3} \w{3} +\d|^\[ *\d+\.\d{6}\]"
)


def whole(line: Line, bare: BareLine, consumed: set[int]) -> BareLine:
    """The line with the parts that a container runtime cut off. Parts are read once."""
    body, partial = [bare.body], bare.partial
    first = bare
    for _, text in line.before():
        above = peel(text)
        if not above.partial or len(body) > _PARTS:
            break
        body.insert(0, above.body)
        first = above
    for offset, text in line.after():
        if not partial or len(body) > _PARTS:
            break
        below = peel(text)
        consumed.add(offset)
        body.append(below.body)
        partial = below.partial
    if len(body) == 1:
        return bare
    return peel("".join(body)) if not first.layers else _with(first, "".join(body))


def _with(first: BareLine, body: str) -> BareLine:
    """The parts' own prefixes are the first part's; the writer's prefixes stand at its beginning."""
    inner = copy(peel(body))
    for name in (
        "rank",
        "rank_from",
        "local_rank",
        "task",
        "host",
        "pid",
        "thread",
        "device",
        "severity",
        "source",
    ):
        if getattr(inner, name) is None:
            setattr(inner, name, getattr(first, name))
    inner.at(first.time)
    inner.layers = [*first.layers, *inner.layers]
    return inner


def unwrapped(line: Line) -> list[tuple[BareLine, list[int]]]:
    """Ways to read a hard-wrapped line, with the offsets of the lines it takes.

    A terminal cuts anywhere, an editor at a space: so once with a space at each cut, and once without where the cut
    is at full width. Only lines that were full are joined: the next word would not have fitted.
    """
    above: list[tuple[int, str]] = []
    if not _BEGINS.search(line.text):
        for count, (offset, text) in enumerate(line.before()):
            if count >= _ABOVE or not text.strip():
                break
            above.insert(0, (offset, _plain(text)))
            if _BEGINS.search(text):
                break
    below: list[tuple[int, str]] = []
    for count, (offset, text) in enumerate(line.after()):
        if count >= _BELOW or not text.strip() or _BEGINS.match(text.lstrip()):
            break
        below.append((offset, _plain(text)))
    lines = [*above, (line.offset, _plain(line.text)), *below]
    width = max(len(text) for _, text in lines)
    first = last = len(above)
    while first > 0 and _full(lines[first - 1][1], lines[first][1], width):
        first -= 1
    while last + 1 < len(lines) and _full(lines[last][1], lines[last + 1][1], width):
        last += 1
    if first == last:
        return []
    texts = [text for _, text in lines[first : last + 1]]
    offsets = [offset for offset, _ in lines[first : last + 1]]
    spaced = " ".join(texts)
    glued = "".join(text if len(text) == width else f"{text} " for text in texts)
    return [(peel(" ".join(text.split())), offsets) for text in (spaced, glued)]


def _plain(text: str) -> str:
    return "".join(pieces(text))


def _full(text: str, following: str, width: int) -> bool:
    """The line was cut: there was no room for what follows it."""
    word = following.split(None, 1)[0] if following[:1].strip() else ""
    return len(text) + 1 + len(word) > width
