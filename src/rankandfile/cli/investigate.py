"""``raf investigate``: the workflow of a good engineer, step by step, with everything it says cited."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from .bench import bench_of
from .console import Unicode, err, write_utf8
from .diagnose import print_card, status
from .errors import UserError
from .help import examples
from .loading import Attempt, Hung, Jobs, Paths
from .progress import working
from .sources import Revision, Sources

EXAMPLES = examples(
    "raf investigate incident/ --src train/",
    "raf investigate ticket.zip --src . --git v1.4 -o post-mortem/",
)


class Format(str, Enum):
    text = "text"
    json = "json"


def investigate(
    paths: Paths,
    src: Sources = None,
    git: Revision = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="Where to write the files.")
    ] = Path(),
    format: Annotated[Format, typer.Option("--format", "-f", help="How to print the answer.")] = Format.text,
    unicode: Unicode = True,
    hung: Hung = False,
    attempt: Attempt = None,
    jobs: Jobs = None,
) -> None:
    """Investigate a hang step by step, and write it down as a post-mortem in which every sentence cites its evidence.

    Writes investigation.md, to be read, and investigation.jsonl, one line per step: tool, arguments, digest of the
    answer. Needs no network and no account.
    Exit status: 0 no hang found, 1 a verdict, 2 usage or unreadable input, 3 undetermined.
    """
    bench = bench_of(paths, src, git, attempt, jobs, hung)
    from rankandfile.agent.playbook import investigate as play
    from rankandfile.model.diagnosis import to_json

    with working("investigating"):
        found = play(bench)
    document, steps = output / "investigation.md", output / "investigation.jsonl"
    try:
        output.mkdir(parents=True, exist_ok=True)
        # Names from evidence may hold halves of characters, which UTF-8 has no bytes for.
        document.write_bytes(found.document.encode("utf-8", "replace"))
        steps.write_bytes(found.journal.to_jsonl())
    except OSError as error:
        raise UserError(f"cannot write to {output}: {error.strerror or error}") from error
    if format is Format.json:
        write_utf8(to_json(bench.diagnosis).decode() + "\n")
    else:
        print_card(bench.diagnosis, unicode)
    err.print(f"investigation  {document}", markup=False, soft_wrap=True)
    err.print(f"steps          {steps}", markup=False, soft_wrap=True)
    raise typer.Exit(status(bench.diagnosis))
