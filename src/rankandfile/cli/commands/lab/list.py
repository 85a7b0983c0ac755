"""``raf lab list``: which hangs the lab can make."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from typer import Option

from rankandfile.cli.console import out
from rankandfile.cli.errors import UserError
from rankandfile.cli.names import cause_names
from rankandfile.cli.output import Format, FormatOption, OutputOption, emit, format_of_table

if TYPE_CHECKING:
    from rankandfile.lab.sim.scenario import Scenario

ORDER = 10
EXAMPLES = ("raf lab list", "raf lab list --cause order_inversion", "raf lab list --format json")


_WIDE, _NARROW = 80, ["name", "title"]
"""In a narrower window the title would have no room beside all columns."""


def list_(
    cause: Annotated[
        str | None, Option("--cause", help="Only scenarios of this cause.", autocompletion=cause_names)
    ] = None,
    format: FormatOption = Format.text,
    output: OutputOption = None,
) -> None:
    """The scenarios: real ones run torch processes, simulated ones play NCCL's rules at any scale."""
    format = format_of_table(output, format)
    import polars as pl

    from rankandfile.lab import catalog
    from rankandfile.lab.sim import catalog as simulated

    rows = [
        (s.name, "real", s.world_size, s.cause, s.title, " and ".join(s.needs)) for s in catalog.scenarios()
    ]
    for one in simulated.scenarios().values():
        # Every fault names its cause; where several are injected, the first is the one to find.
        cause_of = one.faults[0].cause if one.faults else "no_hang"
        rows.append((one.name, "simulated", _ranks(one), cause_of, one.title, ""))
    columns = ["name", "kind", "ranks", "cause", "title", "needs"]
    frame = pl.DataFrame(rows, schema=columns, orient="row")
    if cause is not None:
        causes = sorted(frame["cause"].unique())
        if cause not in causes:
            raise UserError(f"no scenario of cause '{cause}'; there are: {', '.join(causes)}")
        frame = frame.filter(pl.col("cause") == cause)
    if not frame["needs"].str.len_chars().sum():
        columns.remove("needs")
    emit(frame, format, output, brief=columns if out.width >= _WIDE else _NARROW, what="scenarios")


def _ranks(scenario: Scenario) -> int:
    """Most layouts are grids; the others say themselves how large they are."""
    return scenario.layout(scenario.sized(None)).world_size
