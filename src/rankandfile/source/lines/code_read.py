"""From the source and the stacks to what the lines say on which they stand."""

from __future__ import annotations

import ast
import re

import polars as pl
from msgspec.structs import replace

from rankandfile.model.case import Case
from rankandfile.model.code_read import CodeRead
from rankandfile.model.known.group_makers import GROUP_MAKERS
from rankandfile.source.files.tree import SourceTree
from rankandfile.source.program.places import SourcePlace

from .call_paths import Frame
from .found_line import Search
from .making_groups.laid_out import laid_out
from .making_groups.set_up import sets_up_all
from .of_stages.calls_between import calls_between
from .of_stages.untold_transfers import untold_transfers
from .own_arguments import own_root, own_type
from .peers_by_code import peers_by_code

_CALLED = re.compile(rf"\b({'|'.join(sorted(GROUP_MAKERS))}|DeviceMesh|initialize_model_parallel)\s*\(")
_DEFAULT = "default_pg"
_MOST = 4_000


def code_read(search: Search) -> CodeRead:
    """Of the frames of every stack that somebody took, and where each rank made its last call in functions that these
    show; a line of a file that is not what ran says nothing."""
    case, places = search.case, search.places
    seen = case.looks.filter(pl.col("shows").is_in(["now", "died"]) & pl.col("stack").is_not_null())
    last = case.calls.sort("record").group_by("rank").agg(pl.col("stack").last()).drop_nulls()
    looked_at, called_from = _frames_of(case, seen), _frames_of(case, last)
    called_from = called_from.join(looked_at, on=["function", "file"], how="semi")
    rows = pl.concat([looked_at, called_from]).unique("frame").sort("frame")
    lines: dict[tuple[str, int], str] = {}
    loops: dict[tuple[str, int], int] = {}
    of_all: set[tuple[str, int]] = set()
    own_roots: set[tuple[str, int]] = set()
    own_types: set[tuple[str, int]] = set()
    for function, file, line in rows.select("function", "file", "line").head(_MOST).iter_rows():
        if not file or not line:
            continue
        frame = Frame((function or "").rsplit(".", 1)[-1], file, line)
        place = places.find(frame)
        if place is not None and place.known:
            lines[file, line] = place.module.line_at(line)
            if (loop := _loop_over(place)) is not None:
                loops[file, line] = loop
            if sets_up_all(places, place):
                of_all.add((file, line))
            if own_root(places, frame, place):
                own_roots.add((file, line))
            if own_type(place):
                own_types.add((file, line))
    by_gloo = "gloo" in case.dumps_used["backend"]
    groups = _makes_groups(search.tree)
    return CodeRead(
        lines=lines,
        loops=loops,
        makes_groups=groups,
        sets_up_all=frozenset(of_all),
        own_roots=frozenset(own_roots),
        own_types=frozenset(own_types),
        groups=laid_out(search, replace(search.job, world=search.ranks)) if _unlisted(case) else {},
        between=calls_between(search) if last.height < case.calls["rank"].n_unique() else {},
        untold_transfers=by_gloo and untold_transfers(search.program, groups),
        peers=peers_by_code(search),
    )


def _frames_of(case: Case, rows: pl.DataFrame) -> pl.DataFrame:
    """The frames of the stacks in these rows that are not torch's own."""
    frames = (
        case.stacks.join(rows.select("stack").unique(), on="stack", how="semi")
        .select(pl.col("frames").alias("frame"))
        .explode("frame")
        .unique()
    )
    return case.frames.join(frames, on="frame", how="semi").filter(~pl.col("is_torch"))


def _loop_over(place: SourcePlace) -> int | None:
    around = (
        node.lineno
        for node in place.function.nodes
        if isinstance(node, (ast.For, ast.AsyncFor, ast.While))
        and node.body[0].lineno <= place.line <= (node.body[-1].end_lineno or 0)
    )
    return min(around, default=None)


def _unlisted(case: Case) -> bool:
    """Groups turn up, in dumps or in logs, whose members nobody lists."""
    of_dumps = case.groups.filter(pl.col("members").is_null() | (pl.col("members_from") == "inferred"))
    named = [of_dumps["desc"], case.events["group_desc"]]
    return any((column.is_not_null() & ~column.is_in(["", _DEFAULT])).any() for column in named)


def _makes_groups(tree: SourceTree) -> bool:
    return any(_CALLED.search(tree.read(path) or "") for path in tree.paths())
