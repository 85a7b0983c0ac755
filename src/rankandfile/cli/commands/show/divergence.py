"""``raf show divergence``: where the ranks stopped doing the same."""

from __future__ import annotations

from rankandfile.cli.help import examples
from rankandfile.cli.loading import Attempt, Jobs, Paths, load_facts
from rankandfile.cli.output import Format, FormatOption, LimitOption, OutputOption, emit

ORDER = 60

EXAMPLES = examples("raf show divergence dumps/", "raf show divergence dumps/ --format json")


def divergence(
    paths: Paths,
    limit: LimitOption = 100,
    format: FormatOption = Format.text,
    output: OutputOption = None,
    attempt: Attempt = None,
    jobs: Jobs = None,
) -> None:
    """The earliest point where ranks that should have done the same stopped doing it: one row per cohort."""
    from rankandfile.reason import conclude
    from rankandfile.reason.views import divergence_table

    emit(
        divergence_table(conclude(load_facts(paths, attempt, jobs))), format, output, limit=limit, what="rows"
    )
