"""Diagnoses the hang of the lab that each cause names, for the pages in `docs/causes/`: `make record`.

It takes minutes, for the real ones really hang; what it writes to `docs/recorded/` is all that the pages are made of.
`--set CORPUS` takes incidents that `raf lab export` has made before, `--only CAUSE` one of them.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
from pathlib import Path

import msgspec

from rankandfile.cli.lab_incidents import kind_of, make
from rankandfile.lab import truth
from rankandfile.model.causes import CAUSES
from rankandfile.model.diagnosis import Diagnosis
from rankandfile.model.pictures import WaitGraph
from rankandfile.pipeline import Options, run
from rankandfile.reason.pictures.wait_graph import wait_graph

RECORDED = Path(__file__).parents[1] / "recorded"

#: A real job without `--at` runs in a folder with a random name.
_FOLDER = re.compile(rb"/tmp/job-\w+/src")


class Recorded(msgspec.Struct, kw_only=True):
    scenario: str
    title: str
    real: bool
    evidence: str
    source: bool
    """Whether the diagnosis was given the source."""
    diagnosis: Diagnosis
    waits: WaitGraph


def read(cause: str) -> Recorded | None:
    """None where nothing is recorded yet."""
    path = RECORDED / f"{cause}.json"
    if not path.exists():
        return None
    return msgspec.json.decode(path.read_bytes(), type=Recorded)


def incident(name: str, corpus: Path | None, scratch: Path) -> Path:
    for kind in ("real", "sim"):
        if corpus is not None and (corpus / kind / name).is_dir():
            return corpus / kind / name
    real = kind_of(name) == "real"
    return make(name, scratch / name, twin=False, at=Path("/workspace/train") if real else None)


def record(cause: str, folder: Path) -> Recorded:
    os.chdir(folder)
    evidence = CAUSES[cause].shown_from
    sources = (Path("src"),) if evidence == "evidence" and Path("src").is_dir() else ()
    result = run([Path(evidence)], Options(sources=sources, jobs=1))
    known = truth.read(Path())
    return Recorded(
        scenario=CAUSES[cause].scenario,
        title=known.title,
        real=known.origin == "real",
        evidence=evidence,
        source=bool(sources),
        diagnosis=result.diagnosis,
        waits=wait_graph(result.facts, result.diagnosis),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--set", type=Path)
    parser.add_argument("--only", choices=CAUSES)
    asked = parser.parse_args()
    corpus = asked.set.resolve() if asked.set else None
    RECORDED.mkdir(exist_ok=True)
    for cause in [asked.only] if asked.only else CAUSES:
        with tempfile.TemporaryDirectory() as scratch:
            made = record(cause, incident(CAUSES[cause].scenario, corpus, Path(scratch)))
            os.chdir("/")
        written = msgspec.json.format(msgspec.json.encode(made), indent=1)
        (RECORDED / f"{cause}.json").write_bytes(_FOLDER.sub(b"/workspace/train", written) + b"\n")
        verdict = made.diagnosis.verdicts[0].cause
        sys.stdout.write(
            f"{cause:<22} {CAUSES[cause].scenario:<26} {'' if verdict == cause else f'says {verdict}'}\n"
        )
        sys.stdout.flush()


if __name__ == "__main__":
    main()
