"""What Rank & File says of evidence, in this process: for scoring, comparing, proving and investigating."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from rankandfile.agent import bench
from rankandfile.model.case import Case
from rankandfile.model.diagnosis import Diagnosis
from rankandfile.pipeline import Options, diagnose, load


def diagnosed(paths: Sequence[Path], src: Sequence[Path] = (), hung: bool = False) -> Diagnosis:
    """The diagnosis of the files, with what the source adds to it. Raises `UserError`."""
    return diagnose(_loaded(tuple(paths)), Options(sources=tuple(src), hung=hung)).diagnosis


def bench_of(paths: Sequence[Path], src: Sequence[Path] = ()) -> bench.Bench:
    """The same, as an investigation begins with it."""
    return bench.bench_of(paths, Options(sources=tuple(src), jobs=1))


@lru_cache(maxsize=1)
def _loaded(paths: tuple[Path, ...]) -> Case:
    """Kept, as the next question is mostly about the same files."""
    return load(paths, Options(jobs=1))
