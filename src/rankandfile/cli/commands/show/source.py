"""``raf show source``: the code around the divergence, with the ways of the cohorts marked."""

from __future__ import annotations

from rankandfile.cli.console import Unicode, signs_for
from rankandfile.cli.loading import Paths, diagnosed, diagnosing
from rankandfile.cli.output import TextFile, TextOrJson, TextOrJsonOption, as_json, show, write_text
from rankandfile.model.errors import UserError
from rankandfile.pipeline import Options

ORDER = 100
EXAMPLES = (
    "raf show source dumps/ --src train/",
    "raf show source ticket.zip --src train/ --git v1.4",
    "raf show source dumps/ --src train/ --src vendor.whl --format json",
)


@diagnosing
def source(
    options: Options,
    paths: Paths,
    format: TextOrJsonOption = TextOrJson.text,
    output: TextFile = None,
    unicode: Unicode = True,
) -> None:
    """The code at which the ranks went different ways: the condition, and which cohort went which way."""
    in_json = as_json(format, output)
    result = diagnosed(paths, options)
    if result.tree is None:
        raise UserError("no source of this job is here: name its folder with --src DIR")
    diagnosis = result.diagnosis
    from rankandfile.model.document import pretty
    from rankandfile.render.source import drawn

    if in_json:
        found = [excerpt for verdict in diagnosis.verdicts for excerpt in verdict.excerpts]
        write_text(pretty(found).decode() + "\n", output)
        return
    from rich.console import Group

    parts = [
        part for one in diagnosis.verdicts for part in (one.sentence, "", drawn(one, signs_for(unicode)), "")
    ]
    show(Group(*parts[:-1]), output)
