"""Realistic many-rank NCCL Flight Recorder dumps, for timing readers.

    python benchmarks/generate.py --ranks 1024 --calls 2000 --out dumps --fault missing:3

The job is tensor-parallel (neighbouring ranks), pipeline-parallel (an all_reduce over each stage group) and
data-parallel over the world, with stacks of 14 to 20 frames. These files only look like a job's: for hangs
whose truth comes out of a simulation see `rankandfile.lab.sim`.
"""

from __future__ import annotations

import argparse
import os
import random
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from rankandfile.lab.flight_writer import write_pickle
from rankandfile.lab.flight_writer_json import write_json
from rankandfile.lab.flight_writer_types import Dump, Entry, Frame, GroupConfig, GroupStatus, Kind
from rankandfile.lab.sim.stacks import (
    backward_call,
    elastic_frames,
    function_backward,
    module_call,
    op_frames,
)

TIMEOUT_MS = 600_000
START_NS = 1_760_000_000_000_000_000
SRC = "/workspace/megalm"


@dataclass(frozen=True)
class Job:
    ranks: int
    calls: int
    tp: int
    pp: int
    fault: str
    seed: int

    def groups(self, rank: int) -> list[GroupConfig]:
        """World, TP group, PP group of a rank. torch numbers names over the whole job, not per process."""
        tp, stages = self.tp, max(self.ranks // self.pp, 1)
        first = rank - rank % tp
        across = rank % stages
        return [
            GroupConfig("0", "default_pg", tuple(range(self.ranks))),
            GroupConfig(str(1 + rank // tp), "mesh_tp", tuple(range(first, min(first + tp, self.ranks)))),
            GroupConfig(
                str(1 + -(-self.ranks // tp) + across), "mesh_pp", tuple(range(across, self.ranks, stages))
            ),
        ]


def _user(*frames: tuple[str, str, int]) -> tuple[Frame, ...]:
    return tuple(Frame(name, f"{SRC}/{file}", line) for name, file, line in frames)


_MAIN = (
    *_user(("run_epoch", "engine/trainer.py", 344), ("fit", "engine/trainer.py", 412)),
    *_user(("timed", "utils/timers.py", 48), ("main", "train.py", 96), ("<module>", "train.py", 131)),
    *elastic_frames(),
)
_STEP = (*_user(("train_step", "engine/trainer.py", 268)), *_MAIN)
_OPTIMIZER = (
    *_user(("global_grad_norm", "engine/optimizer.py", 133), ("clip_grad_norm", "engine/optimizer.py", 119)),
    *_user(("pre_step", "engine/optimizer.py", 102), ("step", "engine/optimizer.py", 88)),
    *_user(("optimizer_step", "engine/trainer.py", 259)),
)


def _forward(function: str, file: str, line: int) -> tuple[Frame, ...]:
    return (
        *op_frames(function),
        *_user(("reduce_from_tensor_parallel", "parallel/mappings.py", 61), ("forward", file, line)),
        *module_call(),
        *_user(("forward", "model/block.py", 74 if "attention" in file else 81)),
        *module_call(),
        *_user(("forward", "model/transformer.py", 151)),
        *module_call(),
        *_STEP,
    )


def _backward(function: str, file: str, line: int) -> tuple[Frame, ...]:
    return (
        *op_frames(function),
        *_user(("all_reduce_grad", "parallel/mappings.py", 92), ("backward", file, line)),
        *function_backward(),
        *_user(("backward_step", "engine/trainer.py", 240)),
        *_STEP,
    )


def _cycle(groups: list[GroupConfig]) -> list[Kind]:
    """One training step's 16 calls, in order; the last is the world's."""

    def kind(group: int, op: str, size: int, frames: tuple[Frame, ...], dtype: str = "BFloat16") -> Kind:
        config = groups[group]
        inside = size * len(config.ranks) if op == "_reduce_scatter_base" else size
        outside = size * len(config.ranks) if op == "_all_gather_base" else size
        return Kind(
            group,
            config.name,
            config.desc,
            f"nccl:{op}",
            ((inside,),),
            (dtype,),
            ((outside,),),
            (dtype,),
            TIMEOUT_MS,
            False,
            frames,
            "pt_main_thread",
            "140231845123904",
        )

    attention, mlp = "model/attention.py", "model/mlp.py"
    sites = [
        (attention, 93),
        (attention, 118),
        (mlp, 57),
        (mlp, 64),
        ("model/norm.py", 38),
        ("model/gate.py", 70),
    ]
    forward = [kind(1, "all_reduce", 524_288 * n, _forward("all_reduce", *s)) for n, s in enumerate(sites, 1)]
    backward = [
        kind(1, "all_reduce", 524_288 * n, _backward("all_reduce", file, line + 140))
        for n, (file, line) in reversed(list(enumerate(sites, 1)))
    ]
    gather = kind(1, "_all_gather_base", 4096, _forward("all_gather_into_tensor", "model/embedding.py", 40))
    scatter = kind(
        1, "_reduce_scatter_base", 4096, _backward("reduce_scatter_tensor", "model/embedding.py", 88)
    )
    tied = (
        *op_frames("all_reduce"),
        *_user(("sync_tied_weights", "parallel/embedding.py", 58)),
        *backward_call(),
    )
    stage = kind(
        2, "all_reduce", 50304 * 64, (*tied, *_user(("backward_step", "engine/trainer.py", 251)), *_STEP)
    )
    world = kind(0, "all_reduce", 1, (*op_frames("all_reduce"), *_OPTIMIZER, *_STEP), "Float")
    return [gather, *forward, *backward, scatter, stage, world]


def dump_of(job: Job, rank: int) -> Dump:
    """One rank's recorder: everything done, but for the last step's world op that the fault leaves open."""
    groups = job.groups(rank)
    cycle = _cycle(groups)
    kinds = list(dict.fromkeys(cycle))
    order = [kinds.index(kind) for kind in cycle]
    rng = random.Random(job.seed * 1_000_003 + rank)
    what, _, culprit = job.fault.partition(":")
    calls = job.calls - job.calls % len(cycle) or len(cycle)
    guilty = what != "none" and rank == int(culprit)
    if what == "op" and guilty:
        kinds.append(kinds[order[-1]]._replace(op="nccl:broadcast"))
    if what == "size" and guilty:
        kinds.append(kinds[order[-1]]._replace(input_sizes=((2,),), output_sizes=((2,),)))
    seqs = [0] * len(groups)
    now = START_NS + rng.randrange(1_000_000)
    entries: list[Entry] = []
    for record in range(calls):
        number = order[record % len(cycle)]
        last = what != "none" and record == calls - 1
        if last and guilty:
            if what == "missing":
                break
            number = len(kinds) - 1
        group = kinds[number].pg_id
        seqs[group] += 1
        now += 1_500_000 + rng.randrange(900_000)
        done = None if last else now + 40_000_000 + rng.randrange(60_000_000)
        entries.append(Entry(number, record, seqs[group], 0, seqs[group], now, None, done, not last))
    open_world = what != "none" and not (what == "missing" and guilty)
    status = {str(i): GroupStatus(n, -1, n - (i == 0 and open_world)) for i, n in enumerate(seqs)}
    return Dump(kinds, entries, {g.name: g for g in groups}, status, "2.27.3")


def _write(job: Job, ranks: range, out: Path, as_json: bool) -> int:
    total = 0
    for rank in ranks:
        dump = dump_of(job, rank)
        data = write_json(dump) if as_json else write_pickle(dump)
        path = out / f"nccl_trace_rank_{rank}{'.json' if as_json else ''}"
        path.write_bytes(data)
        # The watchdog writes it when the last call has waited for as long as it may.
        written_ns = dump.entries[-1].time_created_ns + TIMEOUT_MS * 1_000_000
        os.utime(path, ns=(written_ns, written_ns))
        total += len(data)
    return total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--ranks", type=int, default=64)
    parser.add_argument("--calls", type=int, default=2000, help="per rank; whole steps of 16 calls")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--tp", type=int, default=8)
    parser.add_argument("--pp", type=int, default=4)
    parser.add_argument("--fault", default="missing:3", help="none, missing:RANK, op:RANK or size:RANK")
    parser.add_argument("--json", action="store_true", help="torch's JSON form instead of pickles")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    job = Job(args.ranks, args.calls, args.tp, args.pp, args.fault, args.seed)
    args.out.mkdir(parents=True, exist_ok=True)
    began = time.perf_counter()
    chunks = [range(i, min(i + 16, job.ranks)) for i in range(0, job.ranks, 16)]
    with ProcessPoolExecutor(args.jobs) as pool:
        total = sum(
            pool.map(_write, *zip(*((job, chunk, args.out, args.json) for chunk in chunks), strict=True))
        )
    print(f"{job.ranks} dumps, {total / 1e6:.1f} MB in {time.perf_counter() - began:.1f} s: {args.out}")


if __name__ == "__main__":
    main()
