"""When the dumps were written, where their files still tell."""

from __future__ import annotations

import polars as pl

from rankandfile.model.case import Case

_SECOND_NS = 1_000_000_000
_LONGEST_TIMEOUT_S = 1800
"""Of the timeouts that torch has by default; for dumps too old to record theirs."""
_AT_ONCE_NS = 60 * _SECOND_NS
"""Whoever ends a job that hangs looks at it for longer."""
_BEYOND_TIMEOUT_S = 3600
"""Dumps are written when the timeout is over, or by someone who looks before the hour is out."""

_BY_THE_RANK = "pickle"
_FEWEST_COPIED, _MOST_AT_RANDOM = 3, 8
"""So many that write their own at one signal do not do so by chance within a millisecond from one to the next."""
_BETWEEN_COPIES_NS = 1_000_000


def written_ns(case: Case, ahead: dict[int, int] | None = None) -> int | None:
    """When the last dump was written, or None if that cannot be told.

    A copy, a checkout or an unpacked archive bears the time of copying. It shows where that is out of all proportion:
    hours after the last call and beyond the timeout; and where one program wrote all of them, one right after the
    other, as no ranks do that write their own. `ahead`: by how much a rank's clock is.
    """
    dumps = case.dumps_used
    if ahead:
        shift = pl.col("rank").replace_strict(ahead, default=0, return_dtype=pl.Int64)
        dumps = dumps.with_columns(pl.col("last_ns") - shift)
    last, written = _highest(dumps["last_ns"]), _highest(dumps["written_ns"])
    if last is None or written is None or _in_one_go(case):
        return None
    timeout_ms = _highest(case.calls["timeout_ms"])
    timeout_s = timeout_ms // 1000 if timeout_ms else _LONGEST_TIMEOUT_S
    return written if 0 <= written - last < (timeout_s + _BEYOND_TIMEOUT_S) * _SECOND_NS else None


def ended_at_once(case: Case, calls: pl.DataFrame, ahead: dict[int, int] | None = None) -> bool:
    """Whether the last of these calls was made just before the last dump was written. `ahead`: as above."""
    last, written = _highest(calls["created_ns"]), written_ns(case, ahead)
    return last is not None and written is not None and written - last <= _AT_ONCE_NS


def _in_one_go(case: Case) -> bool:
    """Whether the dumps, or they and the stacks together, bear the times of a copy. Pickles are what a rank writes by
    itself; answers of torch's server, and rings, are all kept by the one program that asked for them, when it did."""
    own = case.dumps_used.filter((pl.col("format") == _BY_THE_RANK) & pl.col("written_ns").is_not_null())
    dumps, stacks = own.sort("source")["written_ns"], case.stack_files["written_ns"].drop_nulls()
    if dumps.is_empty():
        return False
    return _one_after_another(dumps) or _one_after_another(pl.concat([dumps, stacks]))


def _one_after_another(times: pl.Series) -> bool:
    """`times`: in the order of their names. Not where two are the same: a file system may keep time in large steps."""
    if times.len() < _FEWEST_COPIED or (times.len() > _MOST_AT_RANDOM and not times.is_sorted()):
        return False
    apart = times.sort().diff().drop_nulls()
    return (_lowest(apart) or 0) > 0 and (_highest(apart) or 0) < _BETWEEN_COPIES_NS


def _lowest(column: pl.Series) -> int | None:
    value = column.min()
    return value if isinstance(value, int) else None


def _highest(column: pl.Series) -> int | None:
    value = column.max()
    return value if isinstance(value, int) else None
