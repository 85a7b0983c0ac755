"""Checks of claims on where ranks are: by their stacks, the ends of their processes, and the lines of their logs."""

from __future__ import annotations

import re

import polars as pl

from rankandfile.model.claims import Ended, Logged, StandsAt, TookBranch, ranks_of
from rankandfile.model.column import Row

from .raw import Raw
from .seen import came_by, seen_at

_STACK = re.compile(r"S(\d+):(\d+)$")
_WORD = re.compile(r"\w+")


def stands_at(raw: Raw, claim: StandsAt) -> set[int]:
    """The line is in the stack that is cited, of that rank; and as often as it must be, if it moves or does not."""
    if not _cited(raw, claim):
        return set()
    there = seen_at(raw.case, claim.file, claim.line).filter(pl.col("rank").is_in(ranks_of(claim)))
    ranks = set(there["rank"].to_list())
    if claim.moving is None:
        return ranks
    looks = raw.case.snapshots if claim.moving else there
    often = looks.group_by("rank").agg(pl.len().alias("looks"), pl.col("stack").n_unique().alias("stacks"))
    moved = often.filter((pl.col("looks") > 1) & ((pl.col("stacks") > 1) if claim.moving else pl.lit(True)))
    return ranks & set(moved["rank"].to_list())


def _cited(raw: Raw, claim: StandsAt) -> bool:
    for evidence in claim.evidence:
        if (match := _STACK.match(evidence)) is None:
            continue
        file, line = map(int, match.groups())
        rows = raw.case.snapshots.filter((pl.col("file") == file) & (pl.col("line") == line))
        if rows.height and rows["rank"][0] in ranks_of(claim):
            return True
    return False


def took_branch(raw: Raw, claim: TookBranch) -> set[int]:
    """A line behind the condition is in a stack of the rank, or among those that its calls were made from."""
    file = claim.shown_in or claim.file
    return set(ranks_of(claim)) & came_by(raw.case, file, claim.shown_by)


def ended(raw: Raw, claim: Ended) -> set[int]:
    exits = raw.case.exits.filter(pl.col("rank").is_in(ranks_of(claim)))
    signal = claim.how.removeprefix("exit code ")
    how = (
        (pl.col("exit_code") == int(signal))
        if signal.lstrip("-").isdigit()
        else (pl.col("signal").cast(pl.String) == signal) | (pl.col("error") == signal)
    )
    told = set(exits.filter(how)["rank"].to_list())
    if claim.how == "exit code 0":
        kind = pl.col("kind").cast(pl.String)
        told |= set(raw.case.events.filter(kind == "process_ended_well")["rank"].drop_nulls().to_list())
    return told & set(ranks_of(claim))


def logged(raw: Raw, claim: Logged) -> set[int]:
    """Some line that is cited is one of that rank's, or names it, or is of no rank, as the kernel's are; and the cited
    lines have these words."""
    rows = [row for evidence in claim.evidence if (row := raw.event(evidence)) is not None]
    if not _have(rows, claim.what):
        return set()
    named = {rank for row in rows for rank in (row["rank"], *(row["about"] or ()))}
    return set(ranks_of(claim)) & named or (set(ranks_of(claim)) if named <= {None} else set())


def _have(rows: list[Row], words: str) -> bool:
    """Most of the words: what is said of lines is cut short, or put together of them."""
    wanted = _WORD.findall(words)[:24]
    there = {word for row in rows for word in _WORD.findall(f"{row['text']} {row['fields']} {row['kind']}")}
    return bool(rows) and sum(word in there for word in wanted) * 4 >= len(wanted) * 3
