"""Calls over time: which ranks and calls to show, as slices on tracks, and as a table of cohorts.

A slice begins where the host asked for the call. It ends where the call is known to have ended or, if that is
earlier, where the rank asked for the next call of the group: torch's watchdog notices many ends at once, and slices
would lie across each other. What never ended has a track of its own and no end.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import polars as pl
from msgspec import Struct

from rankandfile.model.case import Case
from rankandfile.model.diagnosis import Diagnosis
from rankandfile.model.ranks import format_ranks, parse_ranks

from .flat import group_names, shape_texts, sites
from .headline import headline, sure
from .words import plain

MOST_RANKS = 64
AROUND = 300
_OF_A_COHORT = 8
#: Of one rank and group; a job that hangs may have asked for thousands more.
MOST_UNFINISHED = 16
_STEP_NS = 1_000_000
_CALL = re.compile(r"D(\d+)#(-?\d+)$")


class Moment(Struct, frozen=True):
    at_ns: int
    name: str
    says: str
    rank: int | None
    """None: of the whole job."""


class Timeline(Struct, frozen=True):
    slices: pl.DataFrame
    """rank, group, group_label, unfinished, start_ns, end_ns (null: none), name, state, flow (null: none), and what
    a click should tell: op, seq, sizes, place, evidence. In order of rank, group and time."""
    moments: list[Moment]
    begin_ns: int
    end_ns: int
    clock: str
    """What the times are: by the clocks of the hosts, or the order of calls alone."""
    left_out: int
    """Ranks that are not shown."""
    roles: dict[int, str]


def timeline(
    case: Case,
    diagnosis: Diagnosis,
    slots: pl.DataFrame,
    *,
    ranks: Iterable[int] | None = None,
    around: int | None = AROUND,
) -> Timeline:
    """`slots` has the number that each collective bears on all ranks (dump, record, slot). `around`: as many calls of
    a rank on either side of the divergence, and at its end; None for all."""
    everyone = case.calls["rank"].unique().sort().to_list()
    chosen = sorted(set(ranks) & set(everyone)) if ranks is not None else telling_ranks(diagnosis, everyone)
    calls = case.calls.filter(pl.col("rank").is_in(chosen)).sort("rank", "record")
    cited = diverged_calls(diagnosis)
    if around is not None:
        calls = window(calls, cited, around)
    calls = calls.join(slots, on=["dump", "record"], how="left", maintain_order="left")
    timed = calls.height > 0 and calls["created_ns"].null_count() == 0
    slices = _slices(case, calls if timed else _by_order(calls))
    ends = [slices[name].max() for name in ("start_ns", "end_ns")] if slices.height else []
    begin = int(slices["start_ns"].min()) if slices.height else 0  # type: ignore[arg-type]
    last = max((int(end) for end in ends if end is not None), default=begin)  # type: ignore[arg-type]
    return Timeline(
        slices=slices,
        moments=_moments(diagnosis, slices, cited),
        begin_ns=begin,
        end_ns=last + max(_STEP_NS, (last - begin) // 20),
        clock="clocks of the hosts"
        if timed
        else "no times recorded: the order of each rank's calls, 1 ms apart",
        left_out=len(everyone) - len(chosen),
        roles={one.rank: "culprit" for verdict in diagnosis.verdicts for one in verdict.culprits},
    )


def telling_ranks(diagnosis: Diagnosis, everyone: list[int]) -> list[int]:
    """All ranks of a small job; of a big one the culprits, and some of each cohort and of each wait."""
    if len(everyone) <= MOST_RANKS:
        return everyone
    there, chosen = set(everyone), dict[int, None]()
    for verdict in diagnosis.verdicts:
        chosen.update(dict.fromkeys(culprit.rank for culprit in verdict.culprits[: MOST_RANKS // 4]))
        parts = [cohort.ranks for cohort in verdict.divergence.cohorts] if verdict.divergence else []
        parts += [text for wait in verdict.waits for text in (wait.waits_for, wait.ranks)]
        for part in [*parts, verdict.victims]:
            chosen.update(dict.fromkeys(parse_ranks(part)[:_OF_A_COHORT]))
    chosen.update(dict.fromkeys(everyone[:_OF_A_COHORT]))
    return sorted([rank for rank in chosen if rank in there][:MOST_RANKS])


def diverged_calls(diagnosis: Diagnosis) -> list[tuple[int, int]]:
    """Dump and record of the calls at which the first verdict says that ranks diverged."""
    best = diagnosis.verdicts[0] if diagnosis.verdicts else None
    cohorts = best.divergence.cohorts if best and best.divergence else []
    ids = [one for cohort in cohorts if cohort.call for one in cohort.call.evidence]
    return [(int(found[1]), int(found[2])) for one in ids if (found := _CALL.match(one))]


def window(calls: pl.DataFrame, cited: list[tuple[int, int]], around: int) -> pl.DataFrame:
    """Calls of each rank near the divergence, and its last ones."""
    places = pl.DataFrame(cited, schema={"dump": pl.UInt32, "record": pl.Int64}, orient="row")
    diverged = calls.join(places, on=["dump", "record"], how="semi")
    same = calls.join(diverged.select("group", "seq").unique(), on=["group", "seq"], how="semi")
    middle = same.group_by("rank").agg(pl.col("record").min().alias("middle"))
    return (
        calls.with_columns(pl.col("record").max().over("rank").alias("last"))
        .join(middle, on="rank", how="left", maintain_order="left")
        .filter(
            (pl.col("record") > pl.col("last") - around)
            | (pl.col("record") - pl.col("middle")).abs().le(around).fill_null(False)
        )
        .drop("last", "middle")
    )


def _by_order(calls: pl.DataFrame) -> pl.DataFrame:
    first = pl.col("record").min().over("rank")
    begin = (pl.col("record") - first) * _STEP_NS
    ended = pl.col("state").is_in(["completed", "ended"])
    return calls.with_columns(
        begin.alias("created_ns"), pl.when(ended).then(begin + _STEP_NS).alias("completed_ns")
    )


def _slices(case: Case, calls: pl.DataFrame) -> pl.DataFrame:
    lane = ["rank", "group", "unfinished"]
    number = pl.when("is_p2p").then(pl.col("p2p_seq")).otherwise(pl.col("seq"))
    label = pl.concat_str(
        pl.when("is_p2p")
        .then(pl.col("name").cast(pl.String).str.extract(r":(.*)$", 1))
        .fill_null(pl.col("op").cast(pl.String)),
        pl.format(" #{}", number).fill_null(""),
    )
    following = pl.col("created_ns").shift(-1).over(lane)
    end = pl.min_horizontal("completed_ns", following)
    shown = (
        calls.with_columns((~pl.col("state").is_in(["completed", "ended"])).alias("unfinished"))
        .filter(~pl.col("unfinished") | (pl.col("record").cum_count().over(lane) <= MOST_UNFINISHED))
        .with_columns(
            pl.when("unfinished")
            .then(None)
            .otherwise(pl.max_horizontal(end.fill_null(pl.col("created_ns")), "created_ns"))
            .alias("end_ns")
        )
    )
    alone = pl.len().over("group", "slot") == 1
    flow = pl.when(pl.col("slot").is_not_null() & ~pl.col("is_p2p") & ~alone).then(
        pl.struct("group", "slot").rank("dense").cast(pl.Int64)
    )
    return (
        shown.with_columns(flow.alias("flow"), label.alias("name"), number.alias("seq"))
        .join(group_names(case), on="group", how="left", maintain_order="left")
        .join(shape_texts(case), on="shape", how="left", maintain_order="left")
        .join(sites(case), on="site", how="left", maintain_order="left")
        .select(
            "rank",
            "group",
            pl.col("group_label").fill_null("group"),
            "unfinished",
            pl.col("created_ns").alias("start_ns"),
            "end_ns",
            "name",
            pl.col("state").cast(pl.String),
            "flow",
            pl.col("op").cast(pl.String),
            "seq",
            "sizes",
            (pl.col("file") + ":" + pl.col("line").cast(pl.String)).alias("place"),
            pl.format("D{}#{}", "dump", "record").alias("evidence"),
        )
        .sort("rank", "group", "unfinished", "start_ns", maintain_order=True)
    )


def _moments(diagnosis: Diagnosis, slices: pl.DataFrame, cited: list[tuple[int, int]]) -> list[Moment]:
    """Where the ranks diverged: once for the job, and on one rank of each cohort."""
    if not diagnosis.verdicts or not slices.height:
        return []
    best = diagnosis.verdicts[0]
    title = f"{headline(best, diagnosis.job.world_size)} ({sure(best)})"
    ids = [f"D{dump}#{record}" for dump, record in cited]
    rows = slices.filter(pl.col("evidence").is_in(ids))
    own = [
        Moment(at, f"went different ways: {name}", plain(best.sentence), rank)
        for rank, at, name in rows.select("rank", "start_ns", "name").iter_rows()
    ]
    stuck = rows if rows.height else slices.filter("unfinished")
    if not best.hang or not stuck.height:
        return own
    first = int(stuck["start_ns"].min())  # type: ignore[arg-type]
    return [Moment(first, title, plain(best.sentence), None), *own]


def cohort_table(found: Timeline) -> pl.DataFrame:
    """One row for calls alike of several ranks, also in like groups, in order of time from the divergence on."""
    job = [moment.at_ns for moment in found.moments if moment.rank is None]
    zero = job[0] if job else found.begin_ns
    family = pl.col("group_label").str.replace(r" \[[\d,-]*\]$", "")
    alike = ["family", "seq", "op", "state", "place"]
    rows = (
        found.slices.with_columns(family.alias("family"))
        .group_by(*alike, maintain_order=True)
        .agg(
            pl.col("rank"),
            pl.col("group_label").unique(),
            pl.col("start_ns").min(),
            pl.col("start_ns").max().alias("last_ns"),
        )
        .sort("start_ns", maintain_order=True)
    )
    ranks = [format_ranks(part) for part in rows["rank"].to_list()]
    several = pl.col("group_label").list.len()
    one = pl.col("group_label").list.first()
    # Adding nothing turns -0.0 into 0.0.
    return rows.select(
        (((pl.col("start_ns") - zero) / 1e9).round(3) + 0.0).alias("seconds"),
        ((pl.col("last_ns") - pl.col("start_ns")) / 1e9).round(3).alias("spread"),
        pl.Series("ranks", ranks, dtype=pl.String),
        pl.when(several == 1)
        .then(one)
        .otherwise(pl.format("{} ({} groups)", "family", several))
        .alias("group"),
        "seq",
        "op",
        "state",
        pl.col("place").str.extract(r"([^/\\]+)$").alias("place"),
    )
