"""``raf show stacks``: the stacks of all ranks as one tree."""

from __future__ import annotations

from typing import Annotated

from typer import Option

from rankandfile.cli.console import Unicode, signs_for
from rankandfile.cli.filters import RankOption, ranks_called
from rankandfile.cli.loading import Paths, diagnosed, diagnosing
from rankandfile.cli.output import TextFile, TextOrJson, TextOrJsonOption, as_json, show, write_text
from rankandfile.pipeline import Options

ORDER = 70
EXAMPLES = (
    "raf show stacks incident/",
    "raf show stacks incident/ --rank 0,3 --library",
    "raf show stacks incident/ --format json",
)


@diagnosing
def stacks(
    options: Options,
    paths: Paths,
    rank: RankOption = None,
    library: Annotated[bool, Option("--library", help="Also frames of torch and other libraries.")] = False,
    format: TextOrJsonOption = TextOrJson.text,
    output: TextFile = None,
    unicode: Unicode = True,
) -> None:
    """Where every rank stands: the stacks merged into one tree, each frame with its ranks.

    Of py-spy, faulthandler and other stacks where there are any; else of the calls that did not end.
    """
    in_json = as_json(format, output)
    result = diagnosed(paths, options)
    from rankandfile.model.document import pretty
    from rankandfile.reason.pictures.stack_tree import stack_tree
    from rankandfile.render.stacks import stacks as drawn

    ranks = None if rank is None else ranks_called(result.case, rank)
    tree = stack_tree(result.facts, result.diagnosis, ranks)
    if in_json:
        write_text(pretty(tree).decode() + "\n", output)
    else:
        show(drawn(tree, signs_for(unicode), library), output)
