"""Devices and fabric."""

from __future__ import annotations

from rankandfile.lab.sim.faults import device
from rankandfile.lab.sim.recorder import Recording
from rankandfile.lab.sim.scenario import Evidence, Scenario
from rankandfile.lab.sim.workloads import ddp, fsdp, megatron_3d, moe, ring

_3D = {"pp": 2, "dp": 2, "tp": 4}
_TIMED = Evidence(recording=Recording(timing=True))
_TIMED_RAS = Evidence(recording=Recording(timing=True), ras=True)

SCENARIOS = [
    Scenario(
        name="gpu-stuck-timed", title="A kernel never ends on rank 5's device; start events tell", program=fsdp.program,
        dims={"replicate": 2, "shard": 4}, grows="shard", evidence=_TIMED_RAS,
        faults=(device.gpu_stuck((5,), "unit_regather", 30, "sdpa", timing=True),),
    ),
    Scenario(
        name="gpu-stuck-untimed", title="The same without start events: the dumps cannot tell", program=fsdp.program,
        dims={"replicate": 2, "shard": 4}, grows="shard",
        faults=(device.gpu_stuck((5,), "unit_regather", 30, "sdpa", timing=False),),
    ),
    Scenario(
        name="gpu-stuck-3d", title="A stuck device in a 3D job; four kinds of groups wait", program=megatron_3d.program,
        dims=_3D, evidence=_TIMED, faults=(device.gpu_stuck((10,), "stage_mlp", 45, "sdpa", timing=True),),
    ),
    Scenario(
        name="gpu-error-xid79", title="Rank 4's device falls off the bus", program=ddp.program, dims={"dp": 8},
        faults=(
            device.gpu_error(
                (4,), "ddp_bucket", 20, "backward_call", "unspecified launch failure", "xid_79",
            ),
        ),
    ),
    Scenario(
        name="gpu-error-illegal-access", title="An illegal memory access on rank 2", program=moe.program,
        dims={"dp": 2, "ep": 4},
        faults=(
            device.gpu_error(
                (2,), "moe_combine", 22, "local_experts", "an illegal memory access was encountered", "xid_31",
            ),
        ),
    ),
    Scenario(
        name="network-stalled", title="All have joined a reduction; none finishes", program=ddp.program, dims={"dp": 8},
        evidence=_TIMED_RAS, faults=(device.stalled("0", 17),),
    ),
    Scenario(
        name="network-stalled-dp-group", title="One DP group of a 3D job stalls", program=megatron_3d.program, dims=_3D,
        evidence=_TIMED, faults=(device.stalled("12", 9),),
    ),
    Scenario(
        name="link-error", title="A port of rank 3's node goes down under a reduction", program=ring.program,
        dims={"dp": 2, "cp": 4}, faults=(device.stalled("0", 15, link=True, ranks=(3,)),),
    ),
    Scenario(
        name="peer-unreachable", title="A node disappears", program=ddp.program, dims={"dp": 16},
        faults=(device.unreachable(tuple(range(8, 16)), "read_batch", 7),), evidence=Evidence(ras=True),
    ),
]  # fmt: skip
