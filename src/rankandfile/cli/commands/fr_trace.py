"""``raf fr-trace``: the arguments of torch's own analyser, with the answers of this one, for those who have scripts."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import typer

from rankandfile.cli.commands.diagnose import print_card, status
from rankandfile.cli.console import err, out
from rankandfile.cli.errors import UserError
from rankandfile.cli.loading import diagnosed, load_case
from rankandfile.cli.output import may_be_written
from rankandfile.pipeline import Options

if TYPE_CHECKING:
    from rankandfile.model.case import Case

ORDER = 130
CONTEXT = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}

_EXAMPLES = """Examples:
  raf fr-trace dumps/
  raf fr-trace dumps/ -p nccl_trace_rank_ -j --selected-ranks 0 3 --print_stack_trace
  raf fr-trace dumps/ -j --pg-filters mesh_tp
"""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UserError(f"{message} (raf fr-trace --help tells more)")


def parser() -> argparse.ArgumentParser:
    """torch's options, spelled as torch spells them: several values after one option, too, which Typer cannot."""
    found = _Parser(
        prog="raf fr-trace",
        description="Analyse flight recorder dumps, called like torch's fr_trace. For new scripts: raf diagnose.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = found.add_argument
    add("trace_dir", type=Path, help="folder with one dump per rank, in any form that raf reads")
    add("--selected-ranks", nargs="+", type=int, help="print entries of these ranks only")
    add(
        "--allow-incomplete-ranks",
        action="store_true",
        help="accepted; missing dumps never stop this analysis",
    )
    add("--pg-filters", nargs="+", help="print entries of these groups only: names or descriptions")
    add("-o", "--output", type=Path, help="write the diagnosis here, as JSON (not torch's pickle)")
    add("-p", "--prefix", help="what stands before the rank in the file names")
    add("-j", "--just_print_entries", action="store_true", help="print all entries, side by side")
    add("-v", "--verbose", action="store_true", help="show the steps of the reasoning")
    add("--print_stack_trace", action="store_true", help="with -j: with the stacks")
    add("--mismatch_cap", type=int, default=10, help="verdicts to print at most")
    add("--transform-ft", action="store_true", help="torchft: ranks within replica groups made global")
    add("--group-world-size", type=int, help="torchft: ranks per replica group")
    return found


def fr_trace(ctx: typer.Context) -> None:
    """torch's fr_trace, with its own arguments and correct answers."""
    arguments = parser().parse_args(ctx.args)
    may_be_written(arguments.output)
    if arguments.transform_ft and not arguments.group_world_size:
        raise UserError("--transform-ft needs --group-world-size")
    if not arguments.just_print_entries and (arguments.selected_ranks or arguments.pg_filters):
        # torch refuses it too: a verdict on some of the ranks would be another verdict.
        raise UserError("--selected-ranks and --pg-filters choose what -j prints: add -j")
    options = Options(
        prefix=arguments.prefix, replica_ranks=arguments.group_world_size if arguments.transform_ft else None
    )
    if arguments.just_print_entries:
        _print_entries(load_case([arguments.trace_dir], options), arguments)
        return
    raise typer.Exit(_analyse(options, arguments))


def _analyse(options: Options, arguments: argparse.Namespace) -> int:
    def say(line: str) -> None:
        err.print(line, style="dim")

    diagnosis = diagnosed([arguments.trace_dir], options, say if arguments.verbose else None).diagnosis
    from rankandfile.model.diagnosis import to_json

    if arguments.output is not None:
        arguments.output.write_bytes(to_json(diagnosis) + b"\n")
    diagnosis.verdicts = diagnosis.verdicts[: max(1, arguments.mismatch_cap)]
    print_card(diagnosis, unicode=False)
    return status(diagnosis)


def _print_entries(case: Case, arguments: argparse.Namespace) -> None:
    import polars as pl

    from rankandfile.render import flat
    from rankandfile.render.terminal_table import table

    calls = case.calls
    if arguments.selected_ranks is not None:
        calls = calls.filter(pl.col("rank").is_in(arguments.selected_ranks))
    if arguments.pg_filters is not None:
        named = pl.col("name").is_in(arguments.pg_filters) | pl.col("desc").is_in(arguments.pg_filters)
        calls = calls.filter(pl.col("group").is_in(case.groups.filter(named)["group"].implode()))
    out.print(table(flat.side_by_side(case, calls, arguments.print_stack_trace)))
