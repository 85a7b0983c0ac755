"""Jobs for the report's tests: small incidents of the lab, a hostile one, and one of a thousand ranks."""

from __future__ import annotations

import tempfile
from pathlib import Path

import unlike_ranks

from rankandfile import __version__
from rankandfile.evidence.load import load
from rankandfile.lab.flight_writer import write_pickle
from rankandfile.lab.flight_writer_types import Dump, Entry, Frame, GroupConfig, GroupStatus, Kind
from rankandfile.lab.sim.run import simulate
from rankandfile.model.diagnosis import Diagnosis
from rankandfile.model.pictures import Pictures, StackTree, WaitGraph
from rankandfile.reason import conclude, gather
from rankandfile.reason.pictures import pictures
from rankandfile.render.report import page
from support.places import EXAMPLES

#: Scenarios that take well under a second each, and between them show every part of the page.
SIMULATED = (
    "extra-window-same-shape", "cycle-on-devices", "skip-nonfinite-ddp", "swallowed-moe", "killed-oom",
    "network-stalled", "raised-logs-only", "two-faults", "skip-send-backward-1f1b", "healthy-ddp",
)  # fmt: skip
FROM_DISK = ("early-stop", "tp-dp-cascade")
CASES = (*SIMULATED, *FROM_DISK)

START_NS = 1_760_000_000_000_000_000


Case = tuple[Diagnosis, Pictures, Path]


def evidence_of(name: str, folder: Path) -> Path:
    if name in FROM_DISK:
        return EXAMPLES / name / "evidence"
    return simulate(name, folder / name) / "evidence"


def drawn(evidence: Path) -> tuple[Diagnosis, Pictures]:
    with tempfile.TemporaryDirectory() as spool:
        facts = gather(load([evidence], Path(spool), jobs=1))
    diagnosis = conclude(facts)
    return diagnosis, pictures(facts, diagnosis)


def write_page(diagnosis: Diagnosis, shown: Pictures, path: Path) -> Path:
    path.write_bytes(page(diagnosis, shown, __version__).encode("utf-8", "replace"))
    return path


def write_job(
    folder: Path,
    *,
    ranks: int = 4,
    calls: int = 12,
    culprit: int = 2,
    desc: str = "default_pg",
    function: str = "average",
    file: str = "/workspace/train/grads.py",
    suffix: str = "",
) -> Path:
    """Dumps of a job that reduces in a loop until the culprit, after half of it, leaves one call out."""
    folder.mkdir(parents=True, exist_ok=True)
    group = GroupConfig("0", desc, tuple(range(ranks)))
    sites = [(function, 10), (function, 20), ("log_metrics", 31)]
    torch = Frame("all_reduce", "/usr/lib/torch/distributed/distributed_c10d.py", 2806)
    outer = Frame("main", "/workspace/train/train.py", 7)
    sizes, dtypes = ((4,),), ("Float",)
    kinds = [
        Kind(
            0,
            "0",
            desc,
            "nccl:all_reduce",
            sizes,
            dtypes,
            sizes,
            dtypes,
            frames=(torch, Frame(name, file, line), outer),
        )
        for name, line in sites
    ]
    for rank in range(ranks):
        order = [call % 3 for call in range(calls)]
        if rank == culprit:
            del order[calls // 2]
        entries = []
        for record, kind in enumerate(order):
            done = record < min(len(order), calls - 1) - 1
            at = START_NS + record * 1_000_000 + rank
            entries.append(
                Entry(kind, record, record + 1, 0, record + 1, at, None, at + 1000 if done else None, done)
            )
        status = {"0": GroupStatus(len(order), -1, sum(entry.retired for entry in entries))}
        dump = Dump(kinds, entries, {"0": group}, status, "2.27.3")
        (folder / f"nccl_trace_rank_{rank}{suffix if rank == culprit else ''}").write_bytes(
            write_pickle(dump)
        )
    return folder


def unlike(ranks: int, calls: int) -> Pictures:
    """No two ranks alike: the benchmark's largest page."""
    return Pictures(score=unlike_ranks.unlike(ranks, calls), waits=WaitGraph(), stacks=StackTree())
