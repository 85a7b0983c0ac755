"""The bench that an investigation works at: the case, what was worked out of it, and the source, all read-only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import polars as pl

from rankandfile.model.case import Case
from rankandfile.model.diagnosis import Diagnosis
from rankandfile.pipeline import OnProgress, Options, run
from rankandfile.reason import Facts
from rankandfile.reason.ranks.threads import last_of_each_rank, telling
from rankandfile.source.files.tree import SourceTree
from rankandfile.source.lines.found_line import Search
from rankandfile.source.program.modules import Program


@dataclass(frozen=True)
class Bench:
    facts: Facts
    diagnosis: Diagnosis
    tree: SourceTree | None = None
    evidence: tuple[Path, ...] = ()
    """The files and folders that the case was read from: of all others no line is shown."""
    folders: tuple[Path, ...] = ()
    """Folders of the source, whose history may be asked for."""
    revision: str | None = None

    @property
    def case(self) -> Case:
        return self.facts.case

    @cached_property
    def search(self) -> Search | None:
        return None if self.tree is None else Search(self.case, self.tree)

    @property
    def program(self) -> Program | None:
        return None if self.search is None else self.search.program

    @cached_property
    def culprits(self) -> frozenset[int]:
        """Ranks that a verdict blames, with what the source adds to the dumps."""
        return frozenset(one.rank for verdict in self.diagnosis.verdicts for one in verdict.culprits)

    @cached_property
    def stands(self) -> pl.DataFrame:
        """One snapshot per rank: where its own thread was, the last time somebody looked."""
        case = self.case
        return last_of_each_rank(telling(case.snapshots, case.stacks, case.frames))

    def source_path(self, file: str) -> str | None:
        """The file of the tree that is meant: by its path there, or by the end of the path that ran."""
        if self.tree is None:
            return None
        wanted = file.replace("\\", "/")
        named = self.tree.named(wanted.rsplit("/", 1)[-1])
        if wanted in named:
            return wanted
        tails = [one for one in named if f"/{wanted}".endswith(f"/{one}") or f"/{one}".endswith(f"/{wanted}")]
        longest = max(map(len, tails), default=0)
        best = [one for one in tails if len(one) == longest]
        return best[0] if len(best) == 1 else None

    def source_lines(self, file: str) -> list[str] | None:
        path = self.source_path(file)
        text = self.tree.read(path) if self.tree is not None and path is not None else None
        return None if text is None else text.splitlines()


def bench_of(paths: Sequence[Path], options: Options, *, on_progress: OnProgress | None = None) -> Bench:
    """The bench for what is in `paths`. Raises `UserError` for what cannot be read."""
    found = run(paths, options, on_progress=on_progress)
    folders = tuple(one for one in options.sources if one.is_dir())
    return Bench(found.facts, found.diagnosis, found.tree, tuple(paths), folders, options.revision)
