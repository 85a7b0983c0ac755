"""Long lists of ranks, as people say them, alone and in a sentence: nobody reads two hundred numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from rankandfile.model.ranks import format_ranks, parse_ranks

from .words import UNICODE, Signs, short

#: A list of ranks longer than this is told by its number, or by what is common to them.
LISTED = 24
_FEW_OF = 16
#: So many exceptions are named; and so many more ranks than exceptions make a rule.
_MOST_EXCEPTIONS, _RULE = 2, 4

_ONE = r"\d+(?:-\d+)?"
_LIST = re.compile(rf"\b(?P<word>[Rr])anks (?P<ranks>{_ONE}(?:(?:, ?| and ){_ONE})+)(?![\w-])")
#: The members behind a group's name.
_MEMBERS = re.compile(rf"(?P<name>\b(?:group|of) [^\s,()\[\]]+ )\[(?P<ranks>{_ONE}(?:,{_ONE})+)\]")


def said_ranks(ranks: str, world: int | None = None, signs: Signs = UNICODE) -> str:
    """Ranks as people say them.

    >>> said_ranks("3"), said_ranks("0,2", 4), said_ranks("0-2,4-31", 32), said_ranks("0-31", 32)
    ('rank 3', 'ranks 0,2', 'all ranks but 3', 'all 32 ranks')
    """
    if ranks.isdigit():
        return f"rank {ranks}"
    if len(ranks) <= LISTED and (world or 0) < _FEW_OF:
        return f"ranks {ranks or 'none'}"
    numbers = parse_ranks(ranks)
    if world and numbers[-1] < world:
        left = sorted(set(range(world)).difference(numbers)) if world - len(numbers) <= 2 else None
        if left is not None:
            return f"all ranks but {format_ranks(left)}" if left else f"all {world:,} ranks"
    if len(ranks) <= LISTED:
        return f"ranks {ranks}"
    return _by_steps(numbers) or f"{len(numbers):,} ranks ({short(ranks, signs, LISTED)})"


def _by_steps(numbers: Sequence[int]) -> str:
    """Of ranks that lie equally far apart, but for a few that are missing; empty for others."""
    step = min(after - before for before, after in pairwise(numbers))
    first, last = numbers[0], numbers[-1]
    missing = sorted(set(range(first, last + 1, step)) - set(numbers))
    regular = all((one - first) % step == 0 for one in numbers)
    if step < 2 or not regular or len(missing) > min(_MOST_EXCEPTIONS, len(numbers) // _RULE):
        return ""
    but = f" but {format_ranks(missing)}" if missing else ""
    if step == 2:
        return f"the {len(numbers):,} {'odd' if first % 2 else 'even'} ranks {first}-{last}{but}"
    return f"{len(numbers):,} ranks, every {_ordinal(step)} from {first} to {last}{but}"


def said_group(group: str) -> str:
    """A group with its members.

    >>> said_group("dp [" + ",".join(map(str, range(0, 128, 4))) + "]"), said_group("tp [4-7]")
    ('dp [32 ranks, every 4th from 0 to 124]', 'tp [4-7]')
    """
    return _with_members(f"of {group}").removeprefix("of ")


def spoken(sentence: str, world: int | None, signs: Signs = UNICODE) -> str:
    """
    >>> evens = ", ".join(map(str, range(0, 510, 2)))
    >>> spoken(f"Ranks {evens} and 510 wait, ranks 1 and 3 do not.", 512)
    'The 256 even ranks 0-510 wait, ranks 1 and 3 do not.'
    """

    def said(found: re.Match[str]) -> str:
        ranks = found["ranks"].replace(" and ", ",").replace(" ", "")
        if len(ranks) <= LISTED:
            return found[0]
        try:
            words = said_ranks(ranks, world, signs)
        except ValueError:  # no list of ranks after all
            return found[0]
        return words[:1].upper() + words[1:] if found["word"] == "R" else words

    return _with_members(_LIST.sub(said, sentence))


def _with_members(sentence: str) -> str:
    def said(found: re.Match[str]) -> str:
        if len(found["ranks"]) <= LISTED:
            return found[0]
        try:
            return f"{found['name']}[{said_ranks(found['ranks'])}]"
        except ValueError:
            return found[0]

    return _MEMBERS.sub(said, sentence)


def foldable(words: str, width: int) -> str:
    """With a blank wherever a list that is longer than a line goes on in the next: no number is broken in two."""
    return " ".join(
        one if len(one) <= width or "," not in one else " ".join(_lines(one, width))
        for one in words.split(" ")
    )


def _lines(listed: str, width: int) -> Iterator[str]:
    line = ""
    for one in re.findall(r"[^,]+,*|,+", listed):
        if line and len(line) + len(one) > width:
            yield line
            line = ""
        line += one
    yield line


def _ordinal(number: int) -> str:
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th") if number % 100 not in (11, 12, 13) else "th"
    return f"{number}{ending}"
