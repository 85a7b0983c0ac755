"""The bench of an investigation: a case with its facts, diagnosis and source, for `investigate` and `mcp`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from .loading import load_case
from .progress import working
from .sources import as_it_ran, located, source_tree

if TYPE_CHECKING:
    from rankandfile.agent.bench import Bench


def bench_of(
    paths: list[Path],
    src: list[Path] | None,
    git: str | None,
    attempt: int | None,
    jobs: int | None,
    hung: bool = False,
) -> Bench:
    """Raises UserError for what cannot be read."""
    from rankandfile.evidence.reading import Reading

    tree = source_tree(src, git)
    case = load_case(paths, jobs, Reading(attempt=attempt))
    tree = as_it_ran(tree, case)
    from rankandfile.agent.bench import Bench
    from rankandfile.reason import conclude, gather

    with working("reasoning"):
        facts = gather(case, None, hung)
        diagnosis = conclude(facts)
    if tree is not None:
        from rankandfile.source.remedies import advise

        with working("reading the source"):
            diagnosis = advise(located(case, diagnosis, tree), tree)
    folders = tuple(one for one in src or () if one.is_dir())
    return Bench(facts, diagnosis, tree, tuple(paths), folders, git)
