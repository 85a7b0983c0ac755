"""What Rank & File says of evidence, in this process: the one way for scoring, comparing, proving and investigating."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from rankandfile.agent.bench import Bench
    from rankandfile.model.case import Case
    from rankandfile.model.diagnosis import Diagnosis
    from rankandfile.reason import Facts
    from rankandfile.source.files.tree import SourceTree


class Worked(NamedTuple):
    facts: Facts
    diagnosis: Diagnosis
    tree: SourceTree | None


def diagnosed(paths: Sequence[Path], src: Sequence[Path] = ()) -> Diagnosis:
    """The diagnosis of the files, with what the source adds to it."""
    return worked_out(paths, src).diagnosis


def worked_out(paths: Sequence[Path], src: Sequence[Path] = ()) -> Worked:
    """The diagnosis, and what it was made of: as `raf diagnose` makes it."""
    from rankandfile.reason import conclude, gather
    from rankandfile.reason.verdict.remedies import ANTI_ADVICE, PROBES, REMEDIES
    from rankandfile.source.files.recorded import as_it_ran
    from rankandfile.source.files.tree import open_tree
    from rankandfile.source.lines.locate import locate
    from rankandfile.source.remedies import advise

    case = _loaded(tuple(paths))
    tree = open_tree(src) if src else None
    tree = as_it_ran(tree, case.sources) if case.sources else tree
    facts = gather(case)
    diagnosis = conclude(facts)
    if tree is None:
        return Worked(facts, diagnosis, tree)
    found = locate(case, diagnosis, tree)
    for before, verdict in zip(diagnosis.verdicts, found.verdicts, strict=True):
        if before.cause != verdict.cause:
            verdict.remedies = list(REMEDIES.get(verdict.cause, ()))
            verdict.anti_advice = list(ANTI_ADVICE.get(verdict.cause, ()))
            verdict.probes = list(PROBES.get(verdict.cause, ()))
    return Worked(facts, advise(found, tree), tree)


def bench_of(paths: Sequence[Path], src: Sequence[Path] = ()) -> Bench:
    """The same, as an investigation begins with it."""
    from rankandfile.agent.bench import Bench

    facts, diagnosis, tree = worked_out(paths, src)
    return Bench(facts, diagnosis, tree, tuple(paths), tuple(one for one in src if one.is_dir()))


@lru_cache(maxsize=1)
def _loaded(paths: tuple[Path, ...]) -> Case:
    """Kept, as the next question is mostly about the same files."""
    from rankandfile.evidence.load import load

    with tempfile.TemporaryDirectory(prefix="raf-lab-") as spool:
        return load(list(paths), Path(spool), jobs=1)
