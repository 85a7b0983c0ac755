"""``raf show calls``: what each rank asked for, filtered, or side by side."""

from __future__ import annotations

from typing import Annotated

from typer import Option

from rankandfile.cli.errors import UserError
from rankandfile.cli.filters import GroupOption, OpOption, RankOption, SeqOption, StateOption, select_calls
from rankandfile.cli.loading import Paths, load_case, loading
from rankandfile.cli.output import Format, FormatOption, LimitOption, OutputOption, emit, format_of_table
from rankandfile.pipeline import Options

ORDER = 10
EXAMPLES = (
    "raf show calls dumps/ --rank 3 --group mesh_tp",
    "raf show calls dumps/ --side-by-side --seq 810-815 --rank 0-3",
    "raf show calls case.zip --state issued --format csv",
)

#: A terminal holds no more columns than this side by side.
MAX_COLUMNS = 16


@loading
def calls(
    options: Options,
    paths: Paths,
    rank: RankOption = None,
    group: GroupOption = None,
    op: OpOption = None,
    seq: SeqOption = None,
    state: StateOption = None,
    side_by_side: Annotated[
        bool, Option("--side-by-side", "-j", help="One column per rank, one row per call of a group.")
    ] = False,
    stacks: Annotated[bool, Option("--stacks", help="With each call's whole stack.")] = False,
    limit: LimitOption = 50,
    format: FormatOption = Format.text,
    output: OutputOption = None,
) -> None:
    """Calls of the job: what each rank asked for, from where, and how far it got."""
    format = format_of_table(output, format)
    from rankandfile.render import flat

    case = load_case(paths, options)
    chosen = select_calls(case, rank, group, op, seq, state)
    if side_by_side:
        ranks = chosen["rank"].n_unique()
        if format is Format.text and output is None and ranks > MAX_COLUMNS:
            raise UserError(
                f"{ranks} ranks do not fit side by side: choose some with --rank, such as --rank 0-7"
            )
        emit(flat.side_by_side(case, chosen, stacks), format, output, limit=limit, what="rows")
        return
    frame = flat.flat_calls(case, chosen, stacks)
    brief = flat.BRIEF + (["stack"] if stacks else [])
    emit(frame, format, output, brief=brief, limit=limit, what="calls")
