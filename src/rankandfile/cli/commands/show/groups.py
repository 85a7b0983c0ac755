"""``raf show groups``: the job's process groups."""

from __future__ import annotations

from rankandfile.cli.loading import Paths, load_case, loading
from rankandfile.cli.output import Format, FormatOption, LimitOption, OutputOption, emit, format_of_table
from rankandfile.pipeline import Options

ORDER = 20
EXAMPLES = ("raf show groups dumps/", "raf show groups case.tar.gz --format json")


@loading
def groups(
    options: Options,
    paths: Paths,
    limit: LimitOption = 50,
    format: FormatOption = Format.text,
    output: OutputOption = None,
) -> None:
    """Process groups: name, members and how they are known, and how many calls each left."""
    format = format_of_table(output, format)
    from rankandfile.render.flat import flat_groups

    emit(
        flat_groups(load_case(paths, options)),
        format,
        output,
        limit=limit,
        what="groups",
    )
