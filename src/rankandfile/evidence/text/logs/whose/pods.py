"""Whose rank a pod is, or the stream of one container: its lines tell, and so those that a cluster writes of it.

A pod whose lines name one rank, and no other, is that rank's: its tracebacks are too, which name none. Where of all
ranks one is left, and of all pods that anything is told of one is left as well, these are each other's.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

import polars as pl

from rankandfile.evidence.text.logs.whose.given import given
from rankandfile.evidence.text.told import ToldPod

_SURE = ("prefix", "line", "app", "default_group")
#: What is told there is of another process than the one that writes it; of these, a cluster names the pod.
_OF_OTHERS = "^(K|R|P3|P4|P6|P7)"
_OF_CLUSTERS = ("pod_oom", "pod_evicted", "pod_ended", "pod_unscheduled")
_NAMES = re.compile(r"[\s/:]+")
_ORDINAL = re.compile(r"([\w.-]*[A-Za-z][\w.-]*?)-(\d{1,5})$")
_FEWEST = 2


def tie_pods(events: pl.DataFrame, told: Iterable[ToldPod], world: int | None) -> pl.DataFrame:
    """Ranks of the lines without one that a pod wrote, or that are of it. `told`: what the pods say of themselves."""
    pod = pl.col("fields").str.json_path_match("$.pod")
    kind, how = pl.col("kind").cast(pl.String), pl.col("rank_from").cast(pl.String)
    theirs = pl.col("shape").cast(pl.String).str.contains(_OF_OTHERS).fill_null(False)
    speaker = pl.col("fields").str.json_path_match("$.speaker").cast(pl.Int32, strict=False)
    rows = events.with_columns(pod.alias("pod"), pl.coalesce("rank", speaker).alias("said")).filter(
        pl.col("pod").is_not_null()
    )
    if not rows.height:
        return events
    said = rows.filter(
        pl.col("said").is_not_null() & (how.is_in(list(_SURE)) | (kind == "last_said")) & ~theirs
    )
    pairs = [*said.select("pod", "said").iter_rows(), *((one.name, one.rank) for one in told)]
    whole, parts = (
        _unambiguous(pairs),
        _unambiguous((part, rank) for name, rank in pairs for part in _parts(name)),
    )
    clusters = rows.filter(kind.is_in(list(_OF_CLUSTERS)))
    listed = rows.filter(kind.is_in(["pod_listed", *_OF_CLUSTERS]))["pod"].to_list()
    parts |= _by_ordinals(parts, listed, world)
    if len(set(parts.values())) >= _FEWEST:
        parts |= _left_over(parts, set(clusters["pod"].to_list()), world)
    names = rows["pod"].unique().to_list()
    of_name = [(name, whole.get(name), _of_parts(name, parts)) for name in names]
    known = pl.DataFrame(of_name, {"pod": pl.String, "whole": pl.Int32, "part": pl.Int32}, orient="row")
    joined = events.with_columns(pod.alias("pod")).join(known, on="pod", how="left", maintain_order="left")
    found = pl.when(kind.is_in(list(_OF_CLUSTERS))).then("part").when(~theirs).then("whole")
    lacks = pl.col("rank").is_null() & found.is_not_null()
    return joined.with_columns(
        *given(lacks, found, "pod"),
    ).select(events.columns)


def _unambiguous(pairs: Iterable[tuple[str, int]]) -> dict[str, int]:
    ranks: dict[str, set[int]] = defaultdict(set)
    for name, rank in pairs:
        ranks[name].add(rank)
    return {name: found.pop() for name, found in ranks.items() if len(found) == 1}


def _parts(name: str) -> list[str]:
    """`pod/sft-0/main`: the name of the pod stands between what is the same for all of them."""
    return [part for part in _NAMES.split(name) if part]


def _of_parts(name: str, ranks: dict[str, int]) -> int | None:
    found = {ranks[part] for part in _parts(name) if part in ranks}
    return found.pop() if len(found) == 1 else None


def _by_ordinals(known: dict[str, int], pods: Iterable[str], world: int | None) -> dict[str, int]:
    """A set of as many pods as there are ranks, numbered from none on, with a rank each: the number is the rank, unless
    a pod that tells its own tells another."""
    numbered = {part: _ORDINAL.match(part) for pod in pods for part in _parts(pod)}
    found = {part: (match[1], int(match[2])) for part, match in numbered.items() if match is not None}
    for stem in {stem for stem, _ in found.values()}:
        of_set = {part: number for part, (name, number) in found.items() if name == stem}
        agrees = all(known.get(part, number) == number for part, number in of_set.items())
        if world and set(of_set.values()) == set(range(world)) and len(of_set) == world > 1 and agrees:
            return of_set
    return {}


def _left_over(known: dict[str, int], pods: set[str], world: int | None) -> dict[str, int]:
    left = set(range(world or 0)) - set(known.values())
    unknown = {pod for pod in pods if _of_parts(pod, known) is None}
    return {unknown.pop(): left.pop()} if len(left) == 1 and len(unknown) == 1 else {}
