"""Ranks that take different paths, or make the same call with different arguments."""

from __future__ import annotations

from dataclasses import replace

from rankandfile.lab.sim.faults import arguments, paths
from rankandfile.lab.sim.ops import all_gather, all_reduce, broadcast
from rankandfile.lab.sim.recorder import Recording
from rankandfile.lab.sim.scenario import Evidence, Scenario
from rankandfile.lab.sim.workloads import ddp, fsdp, megatron_3d, moe, pipeline_1f1b, quartet, ring
from rankandfile.lab.sim.workloads.common import Size

_3D = {"pp": 2, "dp": 2, "tp": 4}
_LONG = Size(steps=40)

SCENARIOS = [
    Scenario(
        name="skip-nonfinite-ddp", title="Rank 5 skips a step whose loss is not finite",
        program=ddp.program, dims={"dp": 8}, faults=(paths.skipped_step((5,), 9, "norm_reduce", "nonfinite_if"),),
    ),
    Scenario(
        name="skip-nonfinite-3d", title="A whole TP group skips a step; the norm shifts by one and hangs elsewhere",
        program=megatron_3d.program, dims=_3D,
        faults=(paths.skipped_step((4, 5, 6, 7), 10, "dp_reduce", "nonfinite_if"),),
    ),
    Scenario(
        name="skip-window-long", title="A metric's reduction is skipped once; it shows up many steps later",
        program=ddp.program, dims={"dp": 8}, size=_LONG,
        faults=(paths.skipped((6,), "loss_reduce", 1, "log_if"),),
    ),
    Scenario(
        name="skip-tp-backward", title="One rank leaves out one TP reduction of the backward pass",
        program=megatron_3d.program, dims=_3D, faults=(paths.skipped((9,), "stage_backward", 77, "tp_backward_if"),),
    ),
    Scenario(
        name="skip-ring-shift", title="One rank of a ring leaves out a shift", program=ring.program,
        dims={"dp": 2, "cp": 4}, faults=(paths.skipped((2,), "ring_close", 30, "ring_if"),),
    ),
    Scenario(
        name="skip-send-backward-1f1b", title="A stage does not send a gradient back",
        program=pipeline_1f1b.program, dims={"pp": 4}, grows="pp",
        faults=(paths.skipped((2,), "cool_send_close", 3, "send_backward_if"),),
    ),
    Scenario(
        name="extra-report-on-main", title="Rank 0 reduces its token count alone",
        program=ddp.program, dims={"dp": 8}, culprits=(0,),
        faults=(
            paths.extra(
                (0,), "read_batch", 6, all_reduce("world", 1, "report_reduce", "Long"), "rank0_report_if",
                "rank_conditional",
            ),
        ),
    ),
    Scenario(
        name="extra-window-same-shape", title="An extra reduction of the same shape pairs with every later one",
        program=ddp.program, dims={"dp": 8}, size=_LONG,
        faults=(paths.extra((3,), "norm_reduce", 12, all_reduce("world", 1, "window_reduce"), "window_if"),),
    ),
    Scenario(
        name="extra-vision-gather", title="Only one rank's batch has images: its vision tower is gathered alone",
        program=fsdp.program, dims={"replicate": 2, "shard": 4}, grows="shard",
        faults=(
            paths.extra(
                (6,), "unit_gather", 21, all_gather("shard", 4, 1024 * 40, "vision_gather"), "images_if",
                "rank_conditional",
            ),
        ),
    ),
    Scenario(
        name="extra-adapter-tp", title="An adapter is active on one TP rank only",
        program=megatron_3d.program, dims=_3D,
        faults=(
            paths.extra((14,), "stage_mlp", 60, all_reduce("tp", 512 * 64, "tp_adapter", "BFloat16"), "adapter_if"),
        ),
    ),
    Scenario(
        name="different-best-rank", title="One rank broadcasts where the others reduce the metric",
        program=ddp.program, dims={"dp": 8},
        faults=(paths.different((7,), "loss_reduce", 2, broadcast("world", 8, "loss_broadcast"), "best_if"),),
    ),
    Scenario(
        name="swap-buckets", title="Two gradient buckets are reduced in the other order on one rank",
        program=ddp.program, dims={"dp": 8},
        faults=(paths.swapped((2,), "ddp_bucket", 25, "backward_call", across_groups=False),),
    ),
    Scenario(
        name="cycle-norm-before-dp", title="One rank reduces the norm before its last gradient bucket",
        program=megatron_3d.program, dims={"pp": 1, "dp": 4, "tp": 2},
        faults=(
            paths.swapped((3,), "dp_reduce", 18, "late_if", across_groups=True, whole=True, late="late_reduce"),
        ),
    ),
    Scenario(
        name="cycle-on-devices", title="The square of groups again, but every host has issued everything",
        program=quartet.enqueued_at_once, dims={}, layout=quartet.square,
        evidence=Evidence(recording=Recording(timing=True)),
        faults=(paths.swapped((0,), "split_reduce", 13, "order_if", across_groups=True),),
    ),
    Scenario(
        name="early-stop-ddp", title="Rank 4 stops early by its own patience", program=ddp.program, dims={"dp": 8},
        faults=(paths.early_exit((4,), 8),),
    ),
    Scenario(
        name="early-stop-3d", title="A rank of one stage leaves; three kinds of groups wait",
        program=megatron_3d.program, dims=_3D, faults=(paths.early_exit((10,), 6),),
    ),
    Scenario(
        name="uneven-ddp", title="Rank 1 runs out of batches one step early", program=ddp.program, dims={"dp": 8},
        faults=(paths.uneven((1,), 12),),
    ),
    Scenario(
        name="uneven-fsdp", title="Rank 3 has two batches fewer", program=fsdp.program,
        dims={"replicate": 2, "shard": 4}, grows="shard", faults=(paths.uneven((3,), 11),),
        evidence=Evidence(torch="2.8"),
    ),
    Scenario(
        name="swallowed-ddp", title="A bad sample is caught and the batch skipped on rank 6",
        program=ddp.program, dims={"dp": 8}, faults=(paths.swallowed((6,), 7),), evidence=Evidence(torch="2.6"),
    ),
    Scenario(
        name="swallowed-moe", title="The same under expert parallelism: all-to-all waits for ever",
        program=moe.program, dims={"dp": 2, "ep": 4},
        # A whole step is left out, and the next one makes the same calls: only what the members send and expect does
        # not add up, and that does not tell whose step it is.
        faults=(replace(paths.swallowed((5,), 7), from_dumps="", ranks_from_dumps=()),),
    ),
    Scenario(
        name="size-metrics", title="One rank's metric vector is longer", program=ddp.program, dims={"dp": 8},
        faults=(arguments.size((6,), "loss_reduce", 1, "longer"),), evidence=Evidence(torch="2.4"),
    ),
    Scenario(
        name="dtype-metrics", title="One rank's metrics are doubles", program=ddp.program, dims={"dp": 8},
        faults=(arguments.dtype((2,), "loss_reduce", 2, "double"),),
    ),
    Scenario(
        name="split-moe", title="One rank pads what it sends; its neighbour expects the unpadded rows",
        program=moe.program, dims={"dp": 2, "ep": 4}, faults=(arguments.splits((3,), "moe_dispatch", 21),),
    ),
    Scenario(
        name="root-best", title="Ranks do not agree on the broadcast's root", program=ddp.program, dims={"dp": 8},
        faults=(arguments.root((5,), "best_broadcast", 1, "best_rank", 5),),
    ),
    Scenario(
        name="group-metrics", title="Some ranks reduce the metric over the wrong group",
        program=megatron_3d.program, dims=_3D,
        faults=(arguments.group((0, 4), "loss_reduce", 1, "wrong_group_if", "dp"),),
    ),
    Scenario(
        name="wrapped-skip", title="The skipped call is older than what the rings kept",
        program=ddp.program, dims={"dp": 8}, size=_LONG, evidence=Evidence(recording=Recording(ring=60)),
        faults=(paths.skipped((6,), "loss_reduce", 1, "log_if"),),
    ),
]  # fmt: skip
