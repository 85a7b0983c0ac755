"""Checks of claims on where ranks are: by their stacks, the ends of their processes, and the lines of their logs."""

from __future__ import annotations

import re

import polars as pl

from rankandfile.model.claims import Ended, Logged, StandsAt, TookBranch, ranks_of

from .raw import Raw

_STACK = re.compile(r"S(\d+):(\d+)$")


def stands_at(raw: Raw, claim: StandsAt) -> set[int]:
    """The line is in the stack that is cited, of that rank, and no later look at the process shows another place."""
    return (
        {rank for rank in ranks_of(claim) if raw.seen_at(rank, claim.file, claim.line)}
        if _cited(raw, claim)
        else set()
    )


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
    return {
        rank
        for rank in ranks_of(claim)
        if raw.seen_at(rank, claim.file, claim.shown_by) or raw.called_from(rank, claim.file, claim.shown_by)
    }


def ended(raw: Raw, claim: Ended) -> set[int]:
    exits = raw.case.exits.filter(pl.col("rank").is_in(ranks_of(claim)))
    signal = claim.how.removeprefix("exit code ")
    how = (
        (pl.col("exit_code") == int(signal))
        if signal.lstrip("-").isdigit()
        else (pl.col("signal").cast(pl.String) == signal) | (pl.col("error") == signal)
    )
    return set(exits.filter(how)["rank"].to_list())


def logged(raw: Raw, claim: Logged) -> set[int]:
    """The line that is cited is one of that rank's, or names it."""
    ranks = set(ranks_of(claim))
    found: set[int] = set()
    for evidence in claim.evidence:
        row = raw.event(evidence)
        if row is not None:
            found |= {row["rank"], *(row["about"] or ())} & ranks
    return found
