"""Benches that investigations of the same files share: most of an investigation's time goes into making one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from rankandfile.agent.bench import Bench
from rankandfile.pipeline import OnProgress, Options

BenchOf = Callable[..., Bench]
_MOST = 4


class KeptBenches:
    """Called like `bench_of`, and gives the one that it made for the same files, as long as none of them changes."""

    def __init__(self, bench_of: BenchOf) -> None:
        self._bench_of = bench_of
        self._kept: dict[object, Bench] = {}

    def __call__(
        self, paths: Sequence[Path], options: Options, *, on_progress: OnProgress | None = None
    ) -> Bench:
        key = (Path.cwd(), tuple(paths), options, tuple(_as_they_are([*paths, *options.sources])))
        if key not in self._kept:
            while len(self._kept) >= _MOST:
                del self._kept[next(iter(self._kept))]
            self._kept[key] = self._bench_of(paths, options, on_progress=on_progress)
        return self._kept[key]


def _as_they_are(paths: Sequence[Path]) -> list[tuple[str, int, int]]:
    files = [file for path in paths for file in (path.rglob("*") if path.is_dir() else [path])]
    stats = [(str(file), file.lstat()) for file in sorted(files)]
    return [(name, stat.st_mtime_ns, stat.st_size) for name, stat in stats]
