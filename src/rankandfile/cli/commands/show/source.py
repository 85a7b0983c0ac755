"""``raf show source``: the code around the parting, with the ways of the cohorts marked."""

from __future__ import annotations

from pathlib import Path

from rankandfile.cli.console import Unicode, out
from rankandfile.cli.errors import UserError
from rankandfile.cli.help import examples
from rankandfile.cli.loading import Attempt, Jobs, Paths, load_case
from rankandfile.cli.output import Format, FormatOption
from rankandfile.cli.progress import working
from rankandfile.cli.sources import Revision, Sources, as_it_ran, located, source_tree

ORDER = 100

EXAMPLES = examples(
    "raf show source dumps/ --src train/",
    "raf show source ticket.zip --src train/ --git v1.4",
    "raf show source dumps/ --src train/ --src vendor.whl --format json",
)


def source(
    paths: Paths,
    src: Sources = None,
    git: Revision = None,
    format: FormatOption = Format.text,
    unicode: Unicode = True,
    attempt: Attempt = None,
    jobs: Jobs = None,
) -> None:
    """The code at which the ranks parted: the condition, and which cohort went which way."""
    from rankandfile.evidence.reading import Reading

    given = source_tree(src, git)
    case = load_case(paths, jobs, Reading(attempt=attempt))
    tree = as_it_ran(given, case) or source_tree([Path()], git)
    import msgspec

    from rankandfile.reason import conclude, gather
    from rankandfile.render.source import drawn
    from rankandfile.render.words import PLAIN, Signs

    with working("reasoning"):
        diagnosis = conclude(gather(case, None))
    with working("reading the source"):
        diagnosis = located(case, diagnosis, tree)
    if format is Format.json:
        found = [excerpt for verdict in diagnosis.verdicts for excerpt in verdict.excerpts]
        out.file.write(msgspec.json.format(msgspec.json.encode(found), indent=2).decode() + "\n")
        return
    if format is not Format.text:
        raise UserError("the source is shown as text or as JSON")
    signs = Signs() if unicode and (out.encoding or "").lower().startswith("utf") else PLAIN
    for number, verdict in enumerate(diagnosis.verdicts):
        if number:
            out.print()
        out.print(verdict.sentence, markup=False)
        out.print()
        out.print(drawn(verdict, signs))
