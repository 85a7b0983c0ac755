"""Hosts that do not get there, processes that are gone, jobs that never start or never end."""

from __future__ import annotations

from rankandfile.lab.sim.faults import device, host
from rankandfile.lab.sim.recorder import Recording
from rankandfile.lab.sim.scenario import Evidence, Scenario
from rankandfile.lab.sim.watchdog import Patience
from rankandfile.lab.sim.workloads import ddp, fsdp, megatron_3d, moe, pipeline_1f1b

_3D = {"pp": 2, "dp": 2, "tp": 4}
_LOADER = ("read_batch", "cache_wait_if")

SCENARIOS = [
    Scenario(
        name="blocked-loader-fsdp", title="Rank 3 waits for its cache for ever", program=fsdp.program,
        dims={"replicate": 2, "shard": 4}, grows="shard", faults=(host.blocked((3,), "read_batch", 9, *_LOADER),),
        evidence=Evidence(stacks=True),
    ),
    Scenario(
        name="blocked-loader-3d", title="The same in a 3D job: TP, PP and DP groups all wait",
        program=megatron_3d.program, dims=_3D, faults=(host.blocked((6,), "read_batch", 8, *_LOADER),),
        evidence=Evidence(ras=True),
    ),
    Scenario(
        name="blocked-holding-gil", title="Rank 5 computes with the GIL held; its dump is never written",
        program=ddp.program, dims={"dp": 8}, faults=(host.blocked((5,), "read_batch", 6, *_LOADER),),
        evidence=Evidence(lost_dumps=(5,)),
    ),
    Scenario(
        name="blocked-seq-skew", title="A stage is stuck before a collective that its members number differently",
        program=pipeline_1f1b.tied, dims={"pp": 4}, grows="pp",
        faults=(host.blocked((1,), "tied_reduce", 7, "step", "forward_backward"),),
    ),
    Scenario(
        name="blocked-json-only", title="JSON dumps, no stacks, no logs", program=fsdp.program,
        dims={"replicate": 2, "shard": 4}, grows="shard",
        faults=(host.blocked((6,), "read_batch", 9, *_LOADER),), evidence=Evidence(json=True, logs="none"),
    ),
    Scenario(
        name="blocked-renamed-no-frames", title="Dumps in per-host folders, recorded without stacks",
        program=megatron_3d.program, dims=_3D, faults=(host.blocked((12,), "read_batch", 8, *_LOADER),),
        evidence=Evidence(
            dump_name="{node}/comm_lib_trace_rank_{rank}", recording=Recording(frames=False), logs="per_node"
        ),
    ),
    Scenario(
        name="raised-logs-only", title="All dumps are lost; a traceback and the watchdogs' lines remain",
        program=ddp.program, dims={"dp": 8}, evidence=Evidence(torch="2.6", lost_dumps=tuple(range(8))),
        faults=(host.raised((3,), "norm_reduce", 8, "norm_item", "RuntimeError: CUDA out of memory"),),
    ),
    Scenario(
        name="blocked-save", title="Rank 0 never returns from writing the checkpoint",
        program=ddp.program, dims={"dp": 8}, faults=(host.blocked((0,), "save", 1, "save", "torch_save"),),
        evidence=Evidence(stacks=True),
    ),
    Scenario(
        name="slow-save", title="Rank 0 writes for 700 s while the others' barrier has 600", program=ddp.program,
        dims={"dp": 8}, faults=(host.slow((0,), "save", 1, "save", "torch_save"),), evidence=Evidence(stacks=True),
    ),
    Scenario(
        name="slow-compile", title="One rank builds a kernel for twelve minutes", program=megatron_3d.program, dims=_3D,
        faults=(host.slow((13,), "stage_attention", 40, "kernel_build", "sdpa", 720.0),),
        evidence=Evidence(stacks=True),
    ),
    Scenario(
        name="too-short-timeout", title="A 30 s timeout, and a checkpoint that takes 45", program=ddp.program,
        dims={"dp": 8}, patience=Patience(30_000), faults=(host.too_short((0,), "save", 1, "save", "timeout", 45.0),),
        evidence=Evidence(stacks=True),
    ),
    Scenario(
        name="raised-ddp", title="Rank 2 dies of an exception; the launcher lets the others wait", program=ddp.program,
        dims={"dp": 8},
        faults=(host.raised((2,), "read_batch", 7, "take", "IndexError: index 90112 is out of bounds"),),
    ),
    Scenario(
        name="raised-then-destroy", title="Rank 6 raised and sits in destroy_process_group: no dump of the guilty",
        program=moe.program, dims={"dp": 2, "ep": 4},
        faults=(host.raised_then_destroy((6,), "read_batch", 7, "bad_if", "bad_raise", "BadSample: token 151936"),),
    ),
    Scenario(
        name="killed-oom", title="The kernel kills rank 9 for memory", program=megatron_3d.program, dims=_3D,
        faults=(host.killed((9,), "stage_backward", 50, ""),), evidence=Evidence(logs="per_node"),
    ),
    Scenario(
        name="exited-3", title="Rank 1 calls sys.exit(3)", program=ddp.program, dims={"dp": 8},
        faults=(host.exited((1,), "norm_reduce", 8, "broken_if"),),
    ),
    Scenario(
        name="two-faults", title="In one step rank 2 is stuck in its loader and rank 7 dies of an exception",
        program=ddp.program, dims={"dp": 8},
        faults=(
            host.blocked((2,), "read_batch", 7, *_LOADER),
            host.raised((7,), "read_batch", 7, "take", "OSError: [Errno 5] Input/output error"),
        ),
    ),
    Scenario(
        name="init-stuck", title="Rank 3 never comes to its first collective", program=ddp.program, dims={"dp": 8},
        faults=(device.init_stuck((3,)),),
    ),
    Scenario(
        name="teardown-stuck", title="Training is over; rank 4 does not return from destroying its groups",
        program=ddp.program, dims={"dp": 8}, faults=(device.teardown((4,)),),
    ),
]  # fmt: skip
