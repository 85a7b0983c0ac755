"""``raf explore``: a case on the terminal, to walk through."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rankandfile.cli.errors import UserError
from rankandfile.cli.extras import brought_by
from rankandfile.cli.formats import in_tree
from rankandfile.cli.loading import Paths, as_typed, diagnosed, diagnosing
from rankandfile.cli.panels import DIAGNOSE
from rankandfile.pipeline import Options

if TYPE_CHECKING:
    from rankandfile.render.explore.rows import ExplorerRows, ReadSource
    from rankandfile.source.files.tree import SourceTree

PANEL = DIAGNOSE
ORDER = 90
EXAMPLES = (
    "raf explore incident/",
    "raf explore incident/ --src train/",
    "raf explore ticket.zip --src . --git v1.4",
)

_MOST_BYTES = 4 << 20


@diagnosing
def explore(options: Options, paths: Paths) -> None:
    """Walk through a case: ranks, their calls, stacks and source side by side. Press ? for the keys.

    Needs Textual: pip install 'rankandfile[explore]'. Source is read from --src, or where one stands.
    """
    with brought_by("explore", "raf explore needs Textual", "textual"):
        from rankandfile.render.explore.app import Explorer
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UserError("raf explore needs a terminal; raf show and raf report work without one")
    Explorer(rows(paths, options)).run()


def rows(paths: list[Path], options: Options) -> ExplorerRows:
    result = diagnosed(paths, options)
    from msgspec.structs import replace

    from rankandfile.render.explore.rows import ExplorerRows, Standing

    stands = {rank: Standing(stand.stack, stand.words) for rank, stand in result.facts.hosts.items()}
    # The explorer has no options for what it shows.
    asked = replace(as_typed(paths, options), again=False)
    return ExplorerRows(result.case, result.diagnosis, _reader(result.tree), stands, asked)


def _reader(tree: SourceTree | None) -> ReadSource:
    """A file of the job by its path there: from the tree that was named, or under the working directory."""
    if tree is None:
        return _from_here(Path.cwd())
    known = tree

    def read(path: str) -> str | None:
        named = known.named(path.replace("\\", "/").rsplit("/", 1)[-1])
        tails = [one for one in named if path.replace("\\", "/").endswith(one)]
        best = max(tails, key=len, default=named[0] if len(named) == 1 else None)
        return None if best is None else known.read(best)

    return read


def _from_here(root: Path) -> ReadSource:
    find = in_tree(root)

    def read(path: str) -> str | None:
        inside = find(path)
        if inside is None:
            return None
        try:
            with (root / inside).open("rb") as file:
                return file.read(_MOST_BYTES).decode("utf-8", "replace")
        except OSError:
            return None

    return read
