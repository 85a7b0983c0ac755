"""Coverage-guided fuzzing of the dump decoders with atheris, for minutes or nights.

``python -m support.fuzz.atheris_decoders TARGET [SECONDS] [FOLDER]`` with a target of `decoder_targets.TARGETS`.
Starts from the nasty files and writes what breaks a decoder to FOLDER; a minimised one belongs in ``crashers/``.
"""

from __future__ import annotations

import gc
import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["rankandfile.evidence", "rankandfile.model"]):
    from support.fuzz.decoder_targets import TARGETS, bounded_memory

from support.fuzz.nasty_files import nasty_files


def main(target: str, seconds: int, folder: Path) -> None:
    corpus = folder / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    for number, data in enumerate(nasty_files().values()):
        if len(data) < 20_000:
            (corpus / f"nasty_{number}").write_bytes(data)
    gc.disable()
    runs = 0

    def once(data: bytes) -> None:
        nonlocal runs
        TARGETS[target](data)
        runs += 1
        if runs % 500 == 0:
            gc.collect()

    options = [f"-max_total_time={seconds}", "-timeout=20", "-rss_limit_mb=3000", "-max_len=20000"]
    arguments = [sys.argv[0], *options, f"-artifact_prefix={folder}/{target}-", str(corpus)]
    with bounded_memory(2 << 30):
        atheris.Setup(arguments, once)
        atheris.Fuzz()


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in TARGETS:
        sys.exit(f"usage: {sys.argv[0]} {'|'.join(TARGETS)} [SECONDS] [FOLDER]")
    main(
        sys.argv[1],
        int(sys.argv[2]) if len(sys.argv) > 2 else 300,
        Path(sys.argv[3] if len(sys.argv) > 3 else tempfile.mkdtemp(prefix="raf-fuzz-")),
    )
