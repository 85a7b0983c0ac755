"""Whom a rank's transfer is with, and who is the root of its collective, where a stack shows the arguments.

gloo records neither, and NCCL records no roots. Of several snapshots the last one that shows them counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl
from msgspec import Struct

from rankandfile.model.heuristics import heuristic
from rankandfile.model.snapshots import stack_id

_RECEIVES = ("recv", "irecv")


class Asked(Struct, frozen=True):
    """What one function of torch.distributed was asked for. Ranks are global ones, unless they are called positions."""

    op: str = ""
    src: int | None = None
    dst: int | None = None
    group_src: int | None = None
    """The source's position in the group."""
    group_dst: int | None = None
    sends: tuple[int, ...] = ()
    receives: tuple[int, ...] = ()
    evidence: str = ""

    @property
    def awaited(self) -> int | None:
        """The rank whose message it waits for."""
        return self.src if self.op in _RECEIVES else None

    @property
    def root(self) -> tuple[str, int] | None:
        """The root of a collective, by position where that is known, for members of one group number alike."""
        if self.op in (*_RECEIVES, "send", "isend"):
            return None
        for how, rank in (
            ("position", self.group_src), ("position", self.group_dst), ("rank", self.src), ("rank", self.dst)
        ):  # fmt: skip
            if rank is not None:
                return how, rank
        return None


NOTHING = Asked()


def asked(rows: pl.DataFrame) -> dict[tuple[int, str], Asked]:
    """By rank and function; `rows` are those of the threads that tell."""
    shown = rows.filter(
        pl.col("asked").is_not_null() & pl.col("rank").is_not_null() & (pl.col("role") != "worker")
    )
    out: dict[tuple[int, str], Asked] = {}
    for row in shown.sort("rank", "ordinal", "file").iter_rows(named=True):
        arguments: dict[str, dict[str, str]] = {}
        for line in row["asked"].split("\n"):
            function, _, argument = line.partition(": ")
            name, _, value = argument.partition("=")
            arguments.setdefault(function, {}).setdefault(name, value)
        for function, given in arguments.items():
            out[row["rank"], function] = _asked(function, given, stack_id(row["file"], row["line"]))
    return out


def _asked(function: str, given: dict[str, str], evidence: str) -> Asked:
    return Asked(
        function,
        _number(given.get("src")),
        _number(given.get("dst")),
        _number(given.get("group_src")),
        _number(given.get("group_dst")),
        _numbers(given.get("input_split_sizes")),
        _numbers(given.get("output_split_sizes")),
        evidence,
    )


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isdecimal() else None


def _numbers(text: str | None) -> tuple[int, ...]:
    return tuple(int(part) for part in text[1:-1].split(",") if part) if text and text[0] == "[" else ()


@heuristic(
    "each another for the root",
    "where all of a group wait for one another as the root, all are out of line, as in a circle",
    otherwise=(),
)
def each_for_another(members: Sequence[int], named: Mapping[int, Sequence[int]]) -> tuple[int, ...]:
    """All members, if each takes another for the root, and each is taken for it by one: there is no right one among
    them, by which another would be wrong. `named`: by root, who takes it for that."""
    alone = all(len(ranks) == 1 and ranks[0] != of for of, ranks in named.items())
    return tuple(members) if alone and sorted(named) == sorted(members) else ()


def odd_about_root(named: Mapping[int, Sequence[int]]) -> tuple[int, ...]:
    """The few that name another root than all the others, if these are more than one and more than they."""
    most = max(named.values(), key=len)
    odd = tuple(sorted(rank for ranks in named.values() if ranks is not most for rank in ranks))
    return odd if len(most) > max(1, len(odd)) else ()
