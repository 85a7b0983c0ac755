"""Plain words for the sentences of a verdict."""

from __future__ import annotations

from collections.abc import Sequence

from rankandfile.model.ranks import format_ranks


def ranks_words(ranks: Sequence[int]) -> str:
    """'Rank 3', 'Ranks 0-2 and 4-7'."""
    text = format_ranks(ranks)
    if len(ranks) == 1:
        return f"rank {text}"
    parts = text.split(",")
    return "ranks " + (" and ".join([", ".join(parts[:-1]), parts[-1]]) if len(parts) > 1 else text)


def upper(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def verb(ranks: Sequence[int], one: str, many: str) -> str:
    return one if len(ranks) == 1 else many


def ordinal(number: int) -> str:
    if 10 <= number % 100 <= 20:
        return f"{number}th"
    return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th') }"


def counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def behind_words(calls: int) -> str:
    return "one behind" if calls == 1 else f"{calls} behind"


def again_words(times: int, calls: int, way: str) -> str:
    """What became of it, where the same happened once more or often."""
    if not times:
        return ""
    often = "once" if times == 1 else f"{times} times"
    return f" The same happened {often} more: {(times + 1) * calls} {way} in the end."


def ahead_words(calls: int) -> str:
    return "one ahead" if calls == 1 else f"{calls} ahead"


def shortened(text: str, most: int) -> str:
    """A line to be quoted, in one line; the mark tells that it goes on.

    >>> shortened("nfs: server  fs01 not responding", 20)
    'nfs: server fs01 no…'
    """
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"
