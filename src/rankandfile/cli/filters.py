"""Choosing calls: by rank, group, op, sequence number and state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from typer import Option

from .errors import UserError

if TYPE_CHECKING:
    import polars as pl

    from rankandfile.model.case import Case

RankOption = Annotated[str | None, Option("--rank", "-r", help="Only these ranks: 3 or 0-6,8.")]
GroupOption = Annotated[
    str | None, Option("--group", "-g", help="Only groups with this name, description or number.")
]
OpOption = Annotated[str | None, Option("--op", help="Only this operation, such as all_reduce.")]
SeqOption = Annotated[str | None, Option("--seq", "-s", help="Only these sequence numbers: 812 or 800-820.")]
StateOption = Annotated[
    str | None, Option("--state", help="Only this state: issued, started, completed or ended.")
]


def select_calls(
    case: Case, rank: str | None, group: str | None, op: str | None, seq: str | None, state: str | None
) -> pl.DataFrame:
    import polars as pl

    from rankandfile.model.tables import STATES

    calls = case.calls
    if rank is not None:
        calls = calls.filter(pl.col("rank").is_in(ranks_called(case, rank)))
    if group is not None:
        calls = calls.filter(pl.col("group").is_in(groups_called(case, group).implode()))
    if op is not None:
        calls = calls.filter(pl.col("op").cast(pl.String) == op)
    if seq is not None:
        number = pl.when("is_p2p").then(pl.col("p2p_seq")).otherwise(pl.col("seq"))
        calls = calls.filter(number.is_in(numbers(seq, "--seq")))
    if state is not None:
        if state not in STATES.categories:
            raise UserError(f"--state {state}: must be one of {', '.join(STATES.categories)}")
        calls = calls.filter(pl.col("state") == state)
    return calls


def groups_called(case: Case, name: str) -> pl.Series:
    """Numbers of the groups that a person may mean by `name`."""
    import polars as pl

    found = case.groups.filter(
        (pl.col("name") == name) | (pl.col("desc") == name) | (pl.col("group").cast(pl.String) == name)
    )["group"]
    if not found.len():
        known = sorted({*case.groups["desc"].unique(), *case.groups["name"].unique()} - {"undefined", ""})
        shown = ", ".join(known[:8]) + (" ..." if len(known) > 8 else "")
        raise UserError(f"no group '{name}' in this case; it has: {shown or 'none'}")
    return found


def ranks_called(case: Case, text: str) -> list[int]:
    """The ranks that --rank names: all of them are in the case, or the user's error."""
    return there(case, numbers(text, "--rank"), text)


def there(case: Case, asked: list[int], text: str) -> list[int]:
    from rankandfile.model.ranks import format_ranks

    known = {*case.ranks_seen, *range(case.world_size or 0)}
    if known and not known.intersection(asked):
        named = f"rank {text}" if text.isdigit() else f"ranks {text}"
        raise UserError(f"no {named} in this case; it has {format_ranks(known)}")
    return asked


def numbers(text: str, option: str) -> list[int]:
    """The numbers that an option names, or the user's error."""
    from rankandfile.model.ranks import parse_ranks

    try:
        return parse_ranks(text)
    except ValueError as error:
        raise UserError(f"{option}: {error}") from error
