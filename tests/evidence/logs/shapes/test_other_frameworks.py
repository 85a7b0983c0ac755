"""What JAX, vLLM, SGLang, HCCL and Horovod write."""

# ruff: noqa: E501 - log lines are as long as they are

from __future__ import annotations

from support.evidence.shape_tests import Example, ShapeTests

EXAMPLES = [
    Example("J1", "xla_rendezvous", "[id=3] This thread has been waiting for `first call to collective operation 41; run_id=77` for 20 seconds and may be stuck. Expected 8 threads to join the rendezvous, but only 7 of them arrived on time.", {"awaited": 8, "arrived": 7, "role": "messenger"}),
    Example("J1", "xla_leader_stuck", "[id=0] This thread has been waiting for `all reduce` for 20 seconds and may be stuck. All 4 threads joined the rendezvous, however the leader has not marked the rendezvous as completed.", {"awaited": 4}),
    Example("J2", "jax_unhealthy_tasks", "UNAVAILABLE: The following tasks are unhealthy (stopped sending heartbeats):", {"role": "fact"}),
    Example("J3", "jax_barrier", "DEADLINE_EXCEEDED: Barrier timed out. Id: save_step_40.1. This usually happens because a task triggered the barrier too early or too slowly.", {"key": "save_step_40.1"}),
    Example("J1", "xla_unstuck", "E0000 00:00:1712.7 91 rendezvous.cc:100] Thread is unstuck! Warning above was a false-positive. Perhaps the timeout is too short.", {"role": "fact"}),
    Example("B1", "horovod_stalled", "One or more tensors were submitted to be reduced, gathered or broadcasted by subset of ranks and are waiting for remainder of ranks for more than 60 seconds. This may indicate that different ranks are trying to submit different tensors.\nStalled ranks:\n3!: [grad.a, grad.b]\n", {"about": [3], "what": "grad.a", "waited_ms": 60_000}),
    Example("V1", "vllm_no_block", "No available shared memory broadcast block found in 60 seconds. This typically happens when some processes are hanging or doing some time-consuming work.", {"waited_ms": 60_000}),
    Example("V2", "sglang_watchdog", "Scheduler watchdog timeout (self.watchdog_timeout=300, self.soft=False)", {"timeout_ms": 300_000}),
    Example("A1", "hccl_notify", "The wait execution of the Notify register times out. Reason: The Notify register has not received the Notify record from remote rank [5].base information: [streamID:[7], taskID[5], tag[AllReduce_10.0.0.2], AlgType(level 0-1-2):[ring].]", {"remote": 5, "about": [5], "tag": "AllReduce_10.0.0.2"}),
    Example("A3", "hccl_met", "[topoinfo_exchange_server.cc:517] [9][DisplayConnectedRank]connected rankinfo[LINE 0]: [0000000000000003],[0000000000000012];", {"about": [3, 12], "about_in": "group"}),
    Example("A3", "hccl_absent", 'TopoDetect ERROR occur !!! fault_type[1], fault_info["Failed to connect agent[1,3,]"]', {"about": [1, 3], "about_in": "group"}),
    Example("A3", "hccl_size", "[topoinfo_exchange_server.cc:503] [9][DisplayConnectedRank]need connect rankNum is [8]", {"nranks": 8, "role": "fact"}),
    Example("A2", "hccl_lost", "Cluster Exception Location[IP/ID]:[10.0.0.9/1], Arrival Time:[Thu Nov 28 11:56:34 2024], Discoverer:[10.0.0.9/0], ExceptionType:[Heartbeat Lost Occurred]", {"peer": "10.0.0.9/1"}),
]  # fmt: skip


class TestOtherFrameworks(ShapeTests):
    examples = EXAMPLES
