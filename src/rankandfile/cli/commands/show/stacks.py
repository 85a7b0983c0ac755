"""``raf show stacks``: the stacks of all ranks as one tree."""

from __future__ import annotations

from typing import Annotated

from typer import Option

from rankandfile.cli.console import Unicode, out, signs_for, write_utf8
from rankandfile.cli.loading import Paths, diagnosed, diagnosing
from rankandfile.cli.output import TextOrJson, TextOrJsonOption
from rankandfile.pipeline import Options

ORDER = 70
EXAMPLES = (
    "raf show stacks incident/",
    "raf show stacks incident/ --library",
    "raf show stacks incident/ --format json",
)


@diagnosing
def stacks(
    options: Options,
    paths: Paths,
    library: Annotated[bool, Option("--library", help="Also frames of torch and other libraries.")] = False,
    format: TextOrJsonOption = TextOrJson.text,
    unicode: Unicode = True,
) -> None:
    """Where every rank stands: the stacks merged into one tree, each frame with its ranks.

    Of py-spy, faulthandler and other stacks where there are any; else of the calls that did not end.
    """
    result = diagnosed(paths, options)
    from rankandfile.model.document import pretty
    from rankandfile.reason.pictures.stack_tree import stack_tree
    from rankandfile.render.stacks import stacks as drawn

    tree = stack_tree(result.facts, result.diagnosis)
    if format is TextOrJson.json:
        write_utf8(pretty(tree).decode() + "\n")
    else:
        out.print(drawn(tree, signs_for(unicode), library))
