"""``raf show source``: the code around the divergence, with the ways of the cohorts marked."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from rankandfile.cli.console import Unicode, out, signs_for
from rankandfile.cli.errors import UserError
from rankandfile.cli.loading import Paths, diagnosed, diagnosing
from rankandfile.cli.output import Format, FormatOption
from rankandfile.pipeline import Options

ORDER = 100
EXAMPLES = (
    "raf show source dumps/ --src train/",
    "raf show source ticket.zip --src train/ --git v1.4",
    "raf show source dumps/ --src train/ --src vendor.whl --format json",
)


@diagnosing
def source(
    options: Options, paths: Paths, format: FormatOption = Format.text, unicode: Unicode = True
) -> None:
    """The code at which the ranks parted: the condition, and which cohort went which way."""
    diagnosis = diagnosed(paths, replace(options, fallback=(Path(),))).diagnosis
    from rankandfile.model.document import pretty
    from rankandfile.render.source import drawn

    if format is Format.json:
        found = [excerpt for verdict in diagnosis.verdicts for excerpt in verdict.excerpts]
        out.file.write(pretty(found).decode() + "\n")
        return
    if format is not Format.text:
        raise UserError("the source is shown as text or as JSON")
    for number, verdict in enumerate(diagnosis.verdicts):
        if number:
            out.print()
        out.print(verdict.sentence)
        out.print()
        out.print(drawn(verdict, signs_for(unicode)))
