"""``raf show progress``: how far each rank came in each group."""

from __future__ import annotations

from rankandfile.cli.filters import GroupOption, RankOption, groups_called, ranks_called
from rankandfile.cli.loading import Paths, load_case, loading
from rankandfile.cli.output import Format, FormatOption, LimitOption, OutputOption, emit, format_of_table
from rankandfile.pipeline import Options

ORDER = 30
EXAMPLES = ("raf show progress dumps/", "raf show progress dumps/ --group mesh_tp --rank 0-7")


@loading
def progress(
    options: Options,
    paths: Paths,
    rank: RankOption = None,
    group: GroupOption = None,
    limit: LimitOption = 50,
    format: FormatOption = Format.text,
    output: OutputOption = None,
) -> None:
    """Per rank and group: the first call kept, the last enqueued, started and completed, the oldest unfinished."""
    format = format_of_table(output, format)
    import polars as pl

    from rankandfile.render.flat import flat_progress

    case = load_case(paths, options)
    frame = flat_progress(case)
    if rank is not None:
        frame = frame.filter(pl.col("rank").is_in(ranks_called(case, rank)))
    if group is not None:
        frame = frame.filter(pl.col("group").is_in(groups_called(case, group).implode()))
    frame = frame.drop("group").rename({"group_label": "group"})
    brief = [name for name in frame.columns if not name.startswith("reported_")]
    emit(frame, format, output, brief=brief, limit=limit, what="rows")
