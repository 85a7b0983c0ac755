"""The cases on which torch's fr_trace and NVRx were compared: each defeats at least one of them."""

from __future__ import annotations

from rankandfile.lab.sim.faults import arguments, device, host, paths
from rankandfile.lab.sim.ops import broadcast
from rankandfile.lab.sim.recorder import Recording
from rankandfile.lab.sim.scenario import Evidence, Scenario
from rankandfile.lab.sim.workloads import ddp, megatron_3d, pipeline_1f1b, quartet
from rankandfile.lab.sim.workloads.common import Size

_TIMED = Evidence(recording=Recording(timing=True))
_IN_LOADER = ("read_batch", "cache_wait_if")

SCENARIOS = [
    Scenario(
        name="peers-rank-never-joins", title="Rank 2 never joins; its peers' calls stay scheduled",
        program=ddp.program, dims={"dp": 4},
        faults=(host.blocked((2,), "read_batch", 7, *_IN_LOADER),),
    ),
    Scenario(
        name="peers-rank-never-joins-timed", title="Rank 2 never joins; its peers' calls have started",
        program=ddp.program, dims={"dp": 4}, evidence=_TIMED,
        faults=(host.blocked((2,), "read_batch", 7, *_IN_LOADER),),
    ),
    Scenario(
        name="peers-dump-lost", title="All joined and nothing moves; rank 2's dump is lost",
        program=ddp.program, dims={"dp": 4}, evidence=Evidence(lost_dumps=(2,)),
        faults=(device.stalled("0", 17),),
    ),
    Scenario(
        name="peers-other-op", title="Rank 1 broadcasts where the others reduce",
        program=ddp.program, dims={"dp": 4},
        faults=(paths.different((1,), "norm_reduce", 7, broadcast("world", 1, "norm_broadcast"), "norm_if"),),
    ),
    Scenario(
        name="peers-other-size", title="Rank 3 reduces a longer tensor",
        program=ddp.program, dims={"dp": 4},
        faults=(arguments.size((3,), "loss_reduce", 2, "longer", 2.0),),
    ),
    Scenario(
        name="peers-device-stuck", title="All issued the call; rank 3's device never reaches it",
        program=ddp.program, dims={"dp": 4}, evidence=_TIMED,
        faults=(device.gpu_stuck((3,), "norm_reduce", 7, "sdpa", timing=True),),
    ),
    Scenario(
        name="peers-broadcast-root-early", title="A broadcast stalls; its root was done early, which is legal",
        program=ddp.program, dims={"dp": 4}, evidence=_TIMED, faults=(device.stalled("0", 22),), decoys=(0,),
    ),
    Scenario(
        name="peers-four-group-cycle", title="Four groups in a square; each rank takes its two in another order",
        program=quartet.program, dims={}, layout=quartet.square, culprits=(0, 1, 2, 3),
        faults=(paths.swapped((0,), "split_reduce", 1, "order_if", across_groups=True, whole=True),),
        # With communicators made at first use the hosts would wait for these, and leave nothing at all.
        eager_init=True,
    ),
    Scenario(
        name="peers-unmatched-send", title="Rank 0 sends to rank 1, which never posts the receive",
        program=pipeline_1f1b.plain, dims={"pp": 4}, grows="pp",
        faults=(paths.skipped((1,), "warm_recv_recv_prev", 9, "recv_forward_if"),),
    ),
    Scenario(
        name="peers-tp-dp-cascade", title="Rank 3 stalls before a TP call; DP carries it to the other replica",
        program=megatron_3d.program, dims={"pp": 1, "dp": 2, "tp": 2},
        faults=(host.blocked((3,), "stage_mlp", 100, "kernel_build", "sdpa"),),
    ),
    Scenario(
        name="peers-ring-wrapped", title="Rank 1 is absent; all rings have wrapped, at uneven counts",
        program=megatron_3d.program, dims={"pp": 2, "dp": 2, "tp": 2}, evidence=Evidence(recording=Recording(ring=150)),
        faults=(host.blocked((1,), "read_batch", 11, *_IN_LOADER),),
    ),
    Scenario(
        name="peers-tp8-dp", title="One of 64 ranks is stuck on its host, before a TP call",
        program=megatron_3d.program, dims={"pp": 1, "dp": 8, "tp": 8}, size=Size(steps=6, layers=2),
        faults=(host.blocked((11,), "stage_attention", 30, "kernel_build", "sdpa"),),
    ),
]  # fmt: skip
