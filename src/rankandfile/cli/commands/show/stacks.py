"""``raf show stacks``: the stacks of all ranks as one tree."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

import typer

from rankandfile.cli.console import Unicode, out, signs_for, write_utf8
from rankandfile.cli.help import examples
from rankandfile.cli.loading import Attempt, Jobs, Paths, load_case
from rankandfile.cli.progress import working

ORDER = 70

EXAMPLES = examples(
    "raf show stacks incident/",
    "raf show stacks incident/ --library",
    "raf show stacks incident/ --format json",
)


class Format(str, Enum):
    text = "text"
    json = "json"


def stacks(
    paths: Paths,
    library: Annotated[
        bool, typer.Option("--library", help="Also frames of torch and other libraries.")
    ] = False,
    format: Annotated[Format, typer.Option("--format", "-f", help="How to print it.")] = Format.text,
    unicode: Unicode = True,
    attempt: Attempt = None,
    jobs: Jobs = None,
) -> None:
    """Where every rank stands: the stacks merged into one tree, each frame with its ranks.

    Of py-spy, faulthandler and other stacks where there are any; else of the calls that did not end.
    """
    from rankandfile.evidence.reading import Reading

    case = load_case(paths, jobs, Reading(attempt=attempt))
    import msgspec

    from rankandfile.reason import conclude, gather
    from rankandfile.reason.pictures.stack_tree import stack_tree
    from rankandfile.render.stacks import stacks as drawn

    with working("reasoning"):
        facts = gather(case)
        tree = stack_tree(facts, conclude(facts))
    if format is Format.json:
        write_utf8(msgspec.json.format(msgspec.json.encode(tree), indent=2).decode() + "\n")
    else:
        out.print(drawn(tree, signs_for(unicode), library))
