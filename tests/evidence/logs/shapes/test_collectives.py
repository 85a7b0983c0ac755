"""What torch's checks of collectives write."""

# ruff: noqa: E501 - log lines are as long as they are

from __future__ import annotations

from support.evidence.shape_tests import Example, ShapeTests

EXAMPLES = [
    Example("D1", "desync_report", "\n".join([
        "\t - [0] Timeout at collective: ALLREDUCE, #88",
        "\t - To our best knowledge, the lagging/dead/mismatched ranks that caused the desync are:",
        "\t   - [2, 3] joined but didn't finish collective #61 (count from 1)",
        "\t     [5] finished collective #61, but didn't join collective #62 (count from 1)",
        "\t - Snapshot of ranks' latest states:",
        "\t   #88 started ranks:",
        "\t     [0, 1] started ALLREDUCE",
        "\t   #61 started ranks:",
        "\t     [2, 3] started BROADCAST",
        "step 7 loss 1.0",
    ]), {"op": "ALLREDUCE", "number": 88, "about": [5], "about_in": "group", "seq": None,
         "not_joined": [{"ranks": [5], "finished": 61, "missing": 62}],
         "joined_unfinished": [{"ranks": [2, 3], "number": 61}],
         "snapshot": [{"number": 88, "ranks": [0, 1], "state": "started", "op": "ALLREDUCE"},
                      {"number": 61, "ranks": [2, 3], "state": "started", "op": "BROADCAST"}]}),
    Example("D1", "desync_report", "\t - [0] Timeout at collective: ALLREDUCE, #3\n\t - To our best knowledge, ranks [4] are the lagging ranks that caused this timeout. They never joined any collectives",
            {"about": [4], "never_joined": [4], "number": 3}),
    Example("D1", "desync_failed", "INTERNAL ASSERT FAILED at TraceUtils.h:85, please report a bug to PyTorch. kEventStart expected", {"role": "echo"}),
    Example("D2", "wrapper_mismatch", "RuntimeError: Detected mismatch between collectives on ranks. Rank 1 is running collective: CollectiveFingerPrint(SequenceNumber=217, OpType=ALLREDUCE, TensorShape=[4], TensorDtypes=Float, TensorDeviceTypes=TensorOptions(dtype=float (default), device=cpu)), but Rank 0 is running collective: CollectiveFingerPrint(SequenceNumber=217, OpType=ALLREDUCE, TensorShape=[3], TensorDtypes=Float, TensorDeviceTypes=TensorOptions(dtype=float (default), device=cpu)).Collectives differ in the following aspects: \t Tensor Tensor shapes: 4vs 3",
            {"group_rank": 1, "seq": 217, "op": "ALLREDUCE", "sizes": 4, "dtype": "Float", "about": [0], "about_in": "group", "peer_seq": 217, "peer_op": "ALLREDUCE", "peer_sizes": 3, "aspects": "Tensor Tensor shapes: 4vs 3"}),
    Example("D3", "wrapper_malformed", "RuntimeError: Detected mismatch between collectives on ranks. Rank 1 is running collective: CollectiveFingerPrint(SequenceNumber=5, OpType=ALLREDUCE, TensorShape=[4], TensorDtypes=Float, TensorDeviceTypes=TensorOptions(...)), but Rank 0 is running collective: CollectiveFingerPrint(SequenceNumber=0OpType=REDUCE).Collectives differ in the following aspects: \t Op type: ALLREDUCEvs REDUCE",
            {"group_rank": 1, "seq": 5, "op": "ALLREDUCE", "about": [0]}),
    Example("D4", "monitored_barrier", "[Rank 0]: Rank 1 failed to pass monitoredBarrier in 4000 ms", {"about": [1], "about_in": "group", "timeout_ms": 4000, "group_rank": 0}),
    Example("D4", "monitored_barrier", "[Rank 0]: Ranks 1, 6 failed to pass monitoredBarrier in 30000 ms", {"about": [1, 6]}),
    Example("D4", "monitored_barrier_error", "Rank 0 successfully reached monitoredBarrier, but received errors while waiting for send/recv from rank 1. Please check rank 1 logs for faulty rank.", {"about": [1], "group_rank": 0, "role": "messenger"}),
]  # fmt: skip


class TestCollectives(ShapeTests):
    examples = EXAMPLES
