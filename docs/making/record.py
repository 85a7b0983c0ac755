"""Diagnoses one hang of the lab for every cause, for the pages in `docs/causes/`: `make record`.

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
from rankandfile.model.diagnosis import CAUSES, Diagnosis
from rankandfile.model.pictures import WaitGraph
from rankandfile.pipeline import Options, run
from rankandfile.reason.pictures.wait_graph import wait_graph

RECORDED = Path(__file__).parents[1] / "recorded"

#: cause -> the scenario that its page shows
SCENARIOS = {
    "skipped_collective": "skip-nonfinite-3d",
    "extra_collective": "extra-adapter-tp",
    "different_collective": "other_reduction_for_short_lists",
    "order_inversion": "order_inversion_dp_tp",
    "early_exit": "early-stop-3d",
    "uneven_inputs": "uneven_shards",
    "rank_conditional": "save_on_main_only",
    "swallowed_exception": "batch_error_swallowed",
    "size_mismatch": "size-metrics",
    "dtype_mismatch": "dtype-metrics",
    "split_mismatch": "split-moe",
    "root_mismatch": "root-best",
    "group_mismatch": "group-metrics",
    "host_blocked": "checkpoint_lock_held",
    "host_slow": "slow_storage",
    "raised": "raised-ddp",
    "killed": "killed-oom",
    "exited": "exited-3",
    "gpu_stuck": "gpu-stuck-3d",
    "gpu_error": "gpu-error-xid79",
    "network_stalled": "network-stalled",
    "link_error": "link-error",
    "peer_unreachable": "peer-unreachable",
    "init_stuck": "init-stuck",
    "teardown_only": "teardown-stuck",
    "too_short_timeout": "too-short-timeout",
    "no_hang": "healthy-3d",
    "undetermined": "blocked-save",
}

#: Shown from a part of the evidence, and without the source: with all of it, the verdict is another that says more.
PART = {"different_collective": "evidence/logs", "undetermined": "evidence/dumps"}

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


def read(cause: str) -> Recorded:
    return msgspec.json.decode((RECORDED / f"{cause}.json").read_bytes(), type=Recorded)


def incident(name: str, corpus: Path | None, scratch: Path) -> Path:
    for kind in ("real", "sim"):
        if corpus is not None and (corpus / kind / name).is_dir():
            return corpus / kind / name
    real = kind_of(name) == "real"
    return make(name, scratch / name, twin=False, at=Path("/workspace/train") if real else None)


def record(cause: str, folder: Path) -> Recorded:
    os.chdir(folder)
    evidence = PART.get(cause, "evidence")
    sources = (Path("src"),) if cause not in PART and Path("src").is_dir() else ()
    result = run([Path(evidence)], Options(sources=sources, jobs=1))
    known = truth.read(Path())
    return Recorded(
        scenario=SCENARIOS[cause],
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
            made = record(cause, incident(SCENARIOS[cause], corpus, Path(scratch)))
            os.chdir("/")
        written = msgspec.json.format(msgspec.json.encode(made), indent=1)
        (RECORDED / f"{cause}.json").write_bytes(_FOLDER.sub(b"/workspace/train", written) + b"\n")
        verdict = made.diagnosis.verdicts[0].cause
        sys.stdout.write(
            f"{cause:<22} {SCENARIOS[cause]:<26} {'' if verdict == cause else f'says {verdict}'}\n"
        )
        sys.stdout.flush()


if __name__ == "__main__":
    main()
