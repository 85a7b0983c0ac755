"""What the arguments of several tools mean: ranks, groups, sequence numbers."""

from __future__ import annotations

import polars as pl

from rankandfile.model.case import Case
from rankandfile.model.ranks import parse_ranks

from .tool import ToolError

#: The number of a call among those of its group: sends and receives count apart.
NUMBER = pl.when("is_p2p").then(pl.col("p2p_seq")).otherwise(pl.col("seq"))


def ranks_of(text: str) -> list[int]:
    """`3`, `0-6,8`, also as `rank 3` and `ranks 0-6 and 8`."""
    words = text.replace("ranks", "").replace("rank", "").replace(" and ", ",")
    try:
        return parse_ranks(words)
    except ValueError as error:
        raise ToolError(str(error)) from error


def numbers_of(text: str) -> list[int]:
    try:
        return parse_ranks(text.lstrip("#"))
    except ValueError as error:
        raise ToolError(f"{error} (a sequence number, or a range of them)") from error


def groups_of(case: Case, text: str) -> list[int]:
    """The groups that are meant, by number, name, description or label."""
    numbers = case.groups["group"].to_list()
    found = [
        number
        for number, name, desc in zip(numbers, case.groups["name"], case.groups["desc"], strict=True)
        if text in (name, desc, str(number))
    ]
    found = found or [number for number in numbers if case.group_label(number) == text]
    if not found:
        known = ", ".join(case.group_label(number) for number in numbers[:6])
        raise ToolError(f"no group '{text}' in this case; it has: {known or 'none'}")
    return found
