"""`--src` and `--git`: the source of the job, where a command was given it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .errors import UserError

if TYPE_CHECKING:
    from rankandfile.model.case import Case
    from rankandfile.model.diagnosis import Diagnosis
    from rankandfile.source.files.tree import SourceTree

Sources = Annotated[
    list[Path] | None,
    typer.Option(
        "--src",
        metavar="DIR",
        help="Folder, zip file or wheel with the job's source; may be given several times.",
        show_default=False,
    ),
]
Source = Annotated[
    Path | None,
    typer.Option(
        "--src",
        help="The program's source, where the recorder's own copies are not to be used.",
        show_default=False,
    ),
]
"""The same for a job that is watched, and so runs from one place."""
Revision = Annotated[
    str | None,
    typer.Option(
        "--git",
        metavar="REV",
        help="Read the folders of --src as they were in this commit.",
        show_default=False,
    ),
]


def source_tree(sources: list[Path] | None, revision: str | None) -> SourceTree | None:
    """The tree that was asked for; None if none was."""
    from rankandfile.source.files.git import NoSuchCommit
    from rankandfile.source.files.tree import open_tree

    if not sources:
        if revision is not None:
            raise UserError("--git needs --src: the folder of the repository that has the commit")
        return None
    for source in sources:
        if not source.exists():
            raise UserError(f"{source}: no such file or directory")
    try:
        tree = open_tree(sources, revision)
    except NoSuchCommit as error:
        raise UserError(str(error)) from error
    if not list(tree.paths()):
        raise UserError(f"no Python file in {', '.join(map(str, sources))}")
    return tree


def as_it_ran(tree: SourceTree | None, case: Case) -> SourceTree | None:
    """The tree as the job's recorder saw it; the recorder's own copies where none was given."""
    if not case.sources:
        return tree
    from rankandfile.source.files.recorded import as_it_ran

    return as_it_ran(tree, case.sources)


def located(case: Case, diagnosis: Diagnosis, tree: SourceTree | None) -> Diagnosis:
    """The diagnosis with what the source adds to it."""
    if tree is None:
        return diagnosis
    from rankandfile.reason import with_source
    from rankandfile.source.findings import source_findings

    return with_source(diagnosis, source_findings(case, diagnosis.verdicts, tree))
