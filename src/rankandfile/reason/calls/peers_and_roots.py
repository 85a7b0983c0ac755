"""Whom a rank's transfer is with, and who is the root of its collective, where a stack shows the arguments.

gloo records neither, and NCCL records no roots. Of several snapshots the last one that shows them counts.
"""

from __future__ import annotations

import polars as pl
from msgspec import Struct

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
    by_source: bool = False
    """The stack shows no arguments: the source says whom the line's transfer is with."""

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
