"""Who spoke last, by the times of the logs' lines. Whoever fell silent first is worth a look, and accused of nothing.

Clocks of hosts differ by seconds, and waiting ranks say nothing for minutes: only a rank that fell silent long before
all others is mentioned, and only among times that can be compared.
"""

from __future__ import annotations

import polars as pl

from rankandfile.model.case import Case
from rankandfile.model.heuristics import heuristic
from rankandfile.model.log_shapes import OF_ANOTHER_PROCESS
from rankandfile.reason.words import ranks_words, upper

_LONG_NS = 30_000_000_000
_FEWEST = 3


@heuristic(
    "who fell silent", "who wrote no line, or stopped long before the others, is mentioned", otherwise=""
)
def silence(case: Case, world: int) -> str:
    """A sentence on ranks without a line, and on the one that fell silent first; empty if there is nothing to say."""
    spoke = {
        *_own(case)["rank"].drop_nulls().to_list(),
        *case.logs.filter(pl.col("lines").fill_null(1) > 0)["rank"].drop_nulls().to_list(),
    }
    if len(spoke) < _FEWEST:
        return ""
    mute = sorted(set(range(world)) - spoke)
    words = []
    if mute and len(mute) * 2 < world:
        # Of a file that many write, only the lines that were understood are known by their writers.
        shared = case.logs.filter(pl.col("rank").is_null() & (pl.col("lines").fill_null(1) > 0)).height
        words.append(f"No line {'that was understood ' if shared else ''}is from {ranks_words(mute)}.")
    last = sorted((ns, rank) for rank, ns in _last(case).items())
    if len(last) >= _FEWEST and last[1][0] - last[0][0] >= _LONG_NS:
        (first, rank), (next_ns, _) = last[:2]
        words.append(
            f"{upper(ranks_words([rank]))} fell silent first, {(next_ns - first) / 1e9:,.0f} s before any other that "
            "spoke, by the times of the lines; that alone accuses nobody."
        )
    return " ".join(words)


def _last(case: Case) -> dict[int, int]:
    """When each rank spoke last, of all that have times of the most frequent kind."""
    lines = pl.concat(
        [
            case.logs.select("rank", pl.col("last_ns").alias("at"), "time_quality"),
            _own(case).select("rank", pl.col("time_ns").alias("at"), "time_quality"),
        ]
    ).drop_nulls()
    if not lines.height:
        return {}
    usual = lines["time_quality"].mode().sort().first()
    same = lines.filter(pl.col("time_quality") == usual)
    return dict(same.group_by("rank").agg(pl.col("at").max()).iter_rows())


def _own(case: Case) -> pl.DataFrame:
    """Events without those in which a launcher, a kernel or a service tells of a rank: the rank did not speak there."""
    told = pl.col("shape").cast(pl.String).str.contains(OF_ANOTHER_PROCESS).fill_null(False)
    return case.events.filter(~told)
