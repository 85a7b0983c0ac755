"""Coverage-guided fuzzing with atheris, for minutes or nights.

``python -m support.fuzz.guided TARGET [SECONDS] [FOLDER]`` with a target of `TARGETS`.
Starts from what is known to be nasty, and from a sample of each form. What breaks a target is written to FOLDER; a
minimised one belongs in ``crashers/``. `benchmarks/fuzz.py` runs every target and keeps the figures.
"""

from __future__ import annotations

import gc
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["rankandfile"]):
    from support.fuzz import archive_targets, decoder_targets, output_targets, text_targets

from support.fuzz.nasty_files import nasty_files

#: Of an input, by the fuzzer's own clock, which other work on the machine slows down.
TIMEOUT_S = 60
MEMORY = 2 << 30


def _nasty() -> list[bytes]:
    return [data for data in nasty_files().values() if len(data) < 20_000]


TARGETS: dict[str, tuple[Callable[[bytes], None], Callable[[], list[bytes]]]] = {
    **{name: (once, _nasty) for name, once in decoder_targets.TARGETS.items()},
    "logs": (text_targets.fuzz_log, text_targets.log_seeds),
    "stacks": (text_targets.fuzz_stacks, text_targets.stack_seeds),
    "archives": (archive_targets.fuzz_archive, archive_targets.archive_seeds),
    "outputs": (output_targets.fuzz_outputs, output_targets.output_seeds),
    "words": (output_targets.fuzz_words, output_targets.word_seeds),
}


def main(target: str, seconds: int, folder: Path) -> None:
    fuzz, seeds = TARGETS[target]
    corpus = folder / f"corpus-{target}"
    corpus.mkdir(parents=True, exist_ok=True)
    for number, data in enumerate(seeds()):
        (corpus / f"seed_{number}").write_bytes(data)
    gc.disable()
    runs = 0

    def once(data: bytes) -> None:
        nonlocal runs
        fuzz(data)
        runs += 1
        if runs % 200 == 0:
            gc.collect()

    limits = [f"-max_total_time={seconds}", f"-timeout={TIMEOUT_S}", "-rss_limit_mb=3000", "-max_len=20000"]
    arguments = [
        sys.argv[0],
        *limits,
        "-print_final_stats=1",
        f"-artifact_prefix={folder}/{target}-",
        str(corpus),
    ]
    with decoder_targets.bounded_memory(MEMORY):
        atheris.Setup(arguments, once)
        atheris.Fuzz()


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in TARGETS:
        sys.exit(f"usage: {sys.argv[0]} {'|'.join(TARGETS)} [SECONDS] [FOLDER]")
    main(
        sys.argv[1],
        int(sys.argv[2]) if len(sys.argv) > 2 else 600,
        Path(sys.argv[3] if len(sys.argv) > 3 else tempfile.mkdtemp(prefix="raf-fuzz-")),
    )
