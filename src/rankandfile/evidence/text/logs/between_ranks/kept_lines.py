"""Which lines of a log are kept to be compared with those of other ranks: of its beginning and its end, a line of each
shape. A line's shape is its text without its numbers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from rankandfile.evidence.text.bare_line import BareLine
from rankandfile.evidence.text.logs.event import clean
from rankandfile.evidence.text.logs.raw import Said

#: Lines looked at from each end of a file, distinct shapes kept, and characters of each.
_LOOKED, _FIRST, _LAST, LONGEST = 60, 12, 24, 160
#: Earlier lines of a shape that are kept.
_KEPT_BEFORE = 4

NUMBER = re.compile(r"0x[0-9a-fA-F]+|\d+(?:\.\d+)?(?:e-?\d+)?")
_WORD = re.compile(r"[A-Za-z]{3,}")
#: Lines of a stack: where each rank stands is told by them together.
_STACK = re.compile(
    r"#\d+ |File:? \"|frame #|(?:Current t|T)hread 0x|Traceback |Timeout \(|.*most recent call"
)
#: A time in milliseconds, say, in a column that most lines have; what else is indented belongs to the line above.
_PADDED = re.compile(r" {1,8}\d+[ .:]")
_OF_TORCH = frozenset(("c10", "nccl", "kernel", "syslog", "journal"))


class Wanted:
    """Whether a log's lines are worth keeping, as the last request to this process said: of too many logs none are."""

    lines = True


def said_in(head: Sequence[BareLine], tail: Sequence[BareLine], lines: int, whole: bool) -> list[Said]:
    """Distinct lines at a file's beginning and end, of a shape that repeats the last. `whole`: the head is the file."""
    if not Wanted.lines:
        return []
    numbered = [(number, bare) for number, bare in enumerate(head[:_LOOKED], start=1)]
    first_of_tail = lines - len(tail) + 1
    rest = [(first_of_tail + place, bare) for place, bare in enumerate(tail)][-_LOOKED:]
    if whole:
        rest = [(number, bare) for number, bare in enumerate(head, start=1)][-_LOOKED:]
    shapes: dict[tuple[object, ...], Said] = {}
    said = [(number, bare) for number, bare in {**dict(numbered), **dict(rest)}.items() if _speaks(bare)]
    in_column = 2 * sum(_PADDED.match(bare.body) is not None for _, bare in said) > len(said)
    for number, bare in said:
        text = bare.body.strip()
        if bare.body[:1].isspace() and not (in_column and _PADDED.match(bare.body)):
            continue
        key = (bare.rank, bare.host, bare.pid, bare.local_rank, bare.task, shape_of(text))
        known = shapes.pop(key, None)
        times = 1 + (known.times if known else 0)
        before = (*known.before, known.text)[-_KEPT_BEFORE:] if known else ()
        shapes[key] = Said(
            line=number, rank=bare.rank, text=clean(text, LONGEST), times=times, pid=bare.pid, host=bare.host,
            local_rank=bare.local_rank, task=bare.task, before=before,
        )  # fmt: skip
    found = list(shapes.values())
    return found if len(found) <= _FIRST + _LAST else [*found[:_FIRST], *found[-_LAST:]]


def _speaks(bare: BareLine) -> bool:
    text = bare.body.strip()
    return len(text) >= 8 and not _OF_TORCH.intersection(bare.layers) and _plain(text)


def _plain(text: str) -> bool:
    return len(_WORD.findall(text[:LONGEST])) >= 2 and not _STACK.match(text)


def shape_of(text: str) -> str:
    return _shape_of(text[:LONGEST])


@lru_cache(maxsize=1 << 12)
def _shape_of(text: str) -> str:
    return NUMBER.sub("#", text)
