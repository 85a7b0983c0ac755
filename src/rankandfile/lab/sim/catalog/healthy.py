"""Jobs with nothing wrong, of the kinds that analysers cry wolf over; dumped at the end or in full flight."""

from __future__ import annotations

from rankandfile.lab.sim.faults.fault import Fault, at, marked
from rankandfile.lab.sim.ops import Compute
from rankandfile.lab.sim.recorder import Recording
from rankandfile.lab.sim.scenario import Evidence, Scenario, Workload
from rankandfile.lab.sim.workloads import coalesced, ddp, fsdp, megatron_3d, moe, pipeline_1f1b, quartet, ring
from rankandfile.lab.sim.workloads.common import Size

_PLAIN = Evidence()
_SHORT_RING = Evidence(recording=Recording(ring=90))
_RUNNING = Evidence(snapshot=0.6)
_RUNNING_TIMED = Evidence(snapshot=0.7, recording=Recording(timing=True))

#: Rank 2's device is busy for half a minute before a broadcast; the root's part is over long before.
_BUSY_DEVICE = Fault(
    "no_hang",
    (2,),
    "",
    "none",
    at("best_broadcast", 1, lambda op: [marked("none", op), Compute(30.0), op]),
    hang=False,
)
_3D = {"pp": 2, "dp": 2, "tp": 4}
_HYBRID = {"replicate": 2, "shard": 4}


def _one(
    name: str, title: str, program: Workload, dims: dict[str, int], evidence: Evidence = _PLAIN
) -> Scenario:
    grows = "dp" if "dp" in dims else next(iter(reversed(dims)), "")
    return Scenario(name=name, title=title, program=program, dims=dims, grows=grows, evidence=evidence)


SCENARIOS = [
    _one("healthy-ddp", "Data parallel", ddp.program, {"dp": 8}),
    _one("healthy-fsdp", "Hybrid sharded", fsdp.program, _HYBRID),
    _one("healthy-1f1b-pp2", "1F1B over two stages", pipeline_1f1b.program, {"pp": 2}),
    _one("healthy-1f1b-pp4", "1F1B over four stages", pipeline_1f1b.program, {"pp": 4}),
    _one("healthy-plain-pp2", "Plain sends, two stages", pipeline_1f1b.plain, {"pp": 2}),
    _one("healthy-plain-pp4", "Plain sends, four stages", pipeline_1f1b.plain, {"pp": 4}),
    _one("healthy-ring-cp4", "Ring attention", ring.program, {"dp": 2, "cp": 4}),
    _one("healthy-moe", "Uneven all-to-all whose sums agree", moe.program, {"dp": 2, "ep": 4}),
    _one("healthy-3d", "TP x PP x DP", megatron_3d.program, _3D),
    _one("healthy-coalesced", "Coalesced gathers; gathers of different sizes", coalesced.program, {"dp": 8}),
    _one(
        "healthy-coalesced-old", "The same by torch 2.6", coalesced.program, {"dp": 8}, Evidence(torch="2.6")
    ),
    _one(
        "healthy-1f1b-wrapped", "1F1B, rings wrapped unevenly", pipeline_1f1b.program, {"pp": 4}, _SHORT_RING
    ),
    _one(
        "healthy-seq-skew",
        "One collective, numbered differently by its members",
        pipeline_1f1b.tied,
        {"pp": 4},
    ),
    _one("healthy-json", "JSON dumps, no stacks", ddp.program, {"dp": 8}, Evidence(json=True)),
    _one("healthy-2.3", "The oldest dumps", ddp.program, {"dp": 8}, Evidence(torch="2.3")),
    _one("running-ddp", "Data parallel, in full flight", ddp.program, {"dp": 8}, _RUNNING),
    _one("running-1f1b", "1F1B, in full flight", pipeline_1f1b.program, {"pp": 4}, _RUNNING_TIMED),
    _one("running-3d", "TP x PP x DP, in full flight", megatron_3d.program, _3D, _RUNNING_TIMED),
    Scenario(
        name="running-busy-device",
        title="A long kernel before a broadcast whose root is done, seen half-way",
        program=ddp.program,
        dims={"dp": 4},
        evidence=_RUNNING_TIMED,
        faults=(_BUSY_DEVICE,),
        decoys=(0, 2),
    ),
    Scenario(
        name="healthy-3d-64",
        title="TP 8 x PP 4 x DP 2",
        program=megatron_3d.program,
        dims={"pp": 4, "dp": 2, "tp": 8},
        size=Size(steps=5),
    ),
    Scenario(
        name="healthy-square",
        title="Overlapping groups of two",
        program=quartet.program,
        dims={},
        layout=quartet.square,
    ),
]
