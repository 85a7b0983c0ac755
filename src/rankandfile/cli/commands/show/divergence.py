"""``raf show divergence``: where the ranks stopped doing the same."""

from __future__ import annotations

from rankandfile.cli.loading import Paths, diagnosed, diagnosing
from rankandfile.cli.output import Format, FormatOption, LimitOption, OutputOption, emit
from rankandfile.pipeline import Options

ORDER = 60
EXAMPLES = ("raf show divergence dumps/", "raf show divergence dumps/ --format json")


@diagnosing
def divergence(
    options: Options,
    paths: Paths,
    limit: LimitOption = 100,
    format: FormatOption = Format.text,
    output: OutputOption = None,
) -> None:
    """The earliest point where ranks that should have done the same stopped doing it: one row per cohort."""
    diagnosis = diagnosed(paths, options).diagnosis
    from rankandfile.reason.views import divergence_table

    emit(divergence_table(diagnosis), format, output, limit=limit, what="rows")
