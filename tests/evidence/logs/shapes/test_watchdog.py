"""What NCCL's watchdog writes."""

# ruff: noqa: E501 - log lines are as long as they are

from __future__ import annotations

from support.evidence.shape_tests import Example, ShapeTests

_W1 = "WorkNCCL(SeqNum=40211, OpType=ALLREDUCE, Timeout(ms)=1800000) ran for 1801377 milliseconds before timing out."
_W1_SIZES = (
    "WorkNCCL(SeqNum=918, OpType=_ALLGATHER_BASE, NumelIn=98304, NumelOut=786432, Timeout(ms)=600000) "
    "ran for 600046 milliseconds before timing out."
)

EXAMPLES = [
    Example("W1", "watchdog_timeout", f"[Rank 5] Watchdog caught collective operation timeout: {_W1}",
            {"seq": 40211, "op": "ALLREDUCE", "timeout_ms": 1_800_000, "waited_ms": 1_801_377, "size_in": None, "role": "messenger"}),
    Example("W1", "watchdog_timeout", f"[Rank 11] Watchdog caught collective operation timeout: {_W1_SIZES}",
            {"seq": 918, "op": "_ALLGATHER_BASE", "size_in": 98304, "size_out": 786432, "timeout_ms": 600_000, "waited_ms": 600_046}),
    Example("W1", "watchdog_timeout", "[Rank 2] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=7, OpType=COALESCED, NumelIn=18446744073709551615, NumelOut=18446744073709551615, Timeout(ms)=600000) ran for 600011 milliseconds before timing out.",
            {"seq": 7, "op": "COALESCED", "size_in": None, "size_out": None}),
    Example("W1", "watchdog_timeout", "[Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=3, OpType=BROADCAST, TensorShape=[2, 5], Timeout(ms)=1800000) ran for 1800100 milliseconds before timing out.",
            {"seq": 3, "op": "BROADCAST", "sizes": "2, 5"}),
    Example("W1", "watchdog_timeout", "[Rank 0] Watchdog caught collective operation timeout: WorkHCCL(SeqNum=3, OpType=BROADCAST, NumelIn=1, NumelOut=1, Timeout(ms)=1800000) ran for 1800100 milliseconds before timing out.",
            {"seq": 3, "op": "BROADCAST"}),
    Example("W1", "watchdog_timeout", f"  what():  [PG ID 0 PG GUID 0(default_pg) Rank 11] Process group watchdog thread terminated with exception: [Rank 11] Watchdog caught collective operation timeout: {_W1_SIZES}",
            {"seq": 918, "role": "echo", "pg_id": 0, "group_rank": 11}),
    Example("W2", "watchdog_progress", "[PG ID 2 PG GUID 9 Rank 0] Exception (either an error or timeout) detected by watchdog at work: 512, last enqueued NCCL work: 516, last completed NCCL work: 511.",
            {"pg_id": 2, "group_name": "9", "group_desc": None, "group_rank": 0, "seq": 512, "enqueued": 516, "completed": 511}),
    Example("W2", "watchdog_progress", "[PG ID 2 PG GUID 9(dp) Rank 0]  failure detected by watchdog at work sequence id: 512 PG status: last enqueued work: 516, last completed work: 511",
            {"pg_id": 2, "group_name": "9", "group_desc": "dp", "group_rank": 0, "seq": 512, "enqueued": 516, "completed": 511}),
    Example("W2", "watchdog_progress", "[PG 3 Rank 0] Timeout at NCCL work: 88, last enqueued NCCL work: 90, last completed NCCL work: 87.",
            {"pg_id": 3, "group_rank": 0, "seq": 88, "enqueued": 90, "completed": 87}),
    Example("W2", "watchdog_progress", "[PG 0 (default_pg) Rank 3] Exception (either an error or timeout) detected by watchdog at work: 1, last enqueued NCCL work: 1, last completed NCCL work: -1.",
            {"pg_id": 0, "group_desc": "default_pg", "group_rank": 3, "seq": 1, "completed": -1}),
    Example("W2", "watchdog_progress", "[PG ID 1 PG GUID (tp) Rank 2]  failure detected by watchdog at work sequence id: 5 PG status: last enqueued work: 5, last completed work: 4",
            {"pg_id": 1, "group_name": None, "group_desc": "tp", "group_rank": 2, "seq": 5}),
    Example("W3", "watchdog_epilogue", "[Rank 4] Some NCCL operations have failed or timed out. Due to the asynchronous nature of CUDA kernels, subsequent GPU operations might run on corrupted/incomplete data.", {"role": "echo"}),
    Example("W3", "watchdog_epilogue", "[Rank 4] To avoid data inconsistency, we are taking the entire process down.", {"role": "echo"}),
    Example("W4", "watchdog_device_error", "[PG ID 0 PG GUID 0(default_pg) Rank 6] Process group watchdog thread terminated with exception: CUDA error: an illegal memory access was encountered",
            {"role": "origin", "error": "CUDA error: an illegal memory access was encountered", "group_rank": 6}),
    Example("W4", "watchdog_device_error", "[Rank 6] NCCL watchdog thread terminated with exception: HIP error: unspecified launch failure", {"role": "origin"}),
    Example("W4", "watchdog_shutdown", "[Rank 6] NCCL watchdog thread terminated with exception: CUDA error: driver shutting down", {"role": "echo"}),
    Example("W4", "watchdog_ended", f"[Rank 5] NCCL watchdog thread terminated with exception: [Rank 5] Watchdog caught collective operation timeout: {_W1}", {"role": "echo"}),
    Example("W5", "communicator_aborted", f"RuntimeError: NCCL communicator was aborted on rank 3.  Original reason for failure was: [Rank 3] Watchdog caught collective operation timeout: {_W1}", {"role": "echo", "group_rank": 3}),
    Example("W6", "nccl_async_error", "[Rank 2] Collective WorkNCCL(SeqNum=61, OpType=SEND, NumelIn=10, NumelOut=10, Timeout(ms)=600000) raised the following async exception: NCCL error: remote process exited or there was a network error, NCCL version 2.27.3",
            {"seq": 61, "op": "SEND", "error": "NCCL error: remote process exited or there was a network error, NCCL version 2.27.3"}),
    Example("W6", "nccl_async_error", "[Rank 2] found async exception when checking for NCCL errors: NCCL error: unhandled system error", {"error": "NCCL error: unhandled system error"}),
    Example("W7", "failed_stack", "Stack trace of the failed collective: \n#0 broadcast from /opt/venv/lib/python3.12/site-packages/torch/distributed/distributed_c10d.py:3145\n#1 sync_flags from /workspace/train/loop.py:412\n",
            {"frames": [["broadcast", "/opt/venv/lib/python3.12/site-packages/torch/distributed/distributed_c10d.py", 3145], ["sync_flags", "/workspace/train/loop.py", 412]]}),
    Example("W7", "failed_stack_missing", "Stack trace of the failed collective not found, potentially because FlightRecorder is disabled. You can enable it by setting TORCH_NCCL_TRACE_BUFFER_SIZE to a non-zero value.", {}),
    Example("W8", "blocking_wait_timeout", "[Rank 3] Work WorkNCCL(SeqNum=9, OpType=ALLREDUCE, NumelIn=4, NumelOut=4, Timeout(ms)=10000) timed out in blocking wait.", {"seq": 9, "op": "ALLREDUCE", "timeout_ms": 10_000}),
    Example("W8", "blocking_wait_timeout", "[Rank 3] Work WorkNCCL(SeqNum=9, OpType=ALLREDUCE, Timeout(ms)=10000) timed out in blocking wait (TORCH_NCCL_BLOCKING_WAIT=1).", {"seq": 9}),
    Example("W9", "remote_error", "[PG ID 1 PG GUID 1(tp) Rank 2]  remote error detected from rank: 5", {"about": [5], "about_in": "group", "group_rank": 2}),
    Example("W10", "terminate", "terminate called after throwing an instance of 'c10::DistBackendError'", {"exception": "c10::DistBackendError", "role": "echo"}),
    Example("W10", "terminate", "terminate called after throwing an instance of 'std::runtime_error'", {"role": "echo"}),
    Example("W10", "terminate_unjoined", "terminate called without an active exception", {"role": "fact"}),
]  # fmt: skip


class TestWatchdog(ShapeTests):
    examples = EXAMPLES
