"""What NCCL's heartbeat monitor writes."""

# ruff: noqa: E501 - log lines are as long as they are

from __future__ import annotations

from support.evidence.shape_tests import Example, ShapeTests

_ADVICE = (
    "This is most likely caused by incorrect usages of collectives, e.g., wrong sizes used across ranks, ..."
)

EXAMPLES = [
    Example("H1", "heartbeat_stuck", "[PG ID 7 PG GUID 41(ep) Rank 1] ProcessGroupNCCL's watchdog got stuck for 480 seconds without making progress in monitoring enqueued collectives. This typically indicates a NCCL/CUDA API (e.g., CudaEventDestroy) hang blocking the watchdog, ...",
            {"waited_ms": 480_000, "group_desc": "ep", "group_name": "41", "pg_id": 7, "group_rank": 1}),
    Example("H1", "heartbeat_stuck", "[PG 2 Rank 1] Heartbeat monitor timed out! Process will be terminated after dumping debug info. workMetaList_.size()=37", {"outstanding": 37, "pg_id": 2}),
    Example("H1", "heartbeat_stuck", "[Rank 1] NCCL monitor thread timeout. Basically, this could be due to CUDA or NCCL calls being unexpectedly blocking, ...", {}),
    Example("H2", "monitor_kill", "[PG ID 0 PG GUID 0(default_pg) Rank 1] Terminating the process after attempting to dump debug info, due to ProcessGroupNCCL watchdog hang.", {"reason": "ProcessGroupNCCL watchdog hang."}),
    Example("H2", "monitor_disabled", "ProcessGroupNCCL monitor thread is disabled, but would have terminated the processafter attempting to dump debug info, due to collective timeout or exception.", {"role": "fact"}),
    Example("H3", "dump_signal_first", "[PG ID 0 PG GUID 0(default_pg) Rank 0] First PG on this rank to signal dumping.", {"group_rank": 0}),
    Example("H3", "dump_signal_first", "[PG 0 (default_pg) Rank 0] First watchdog to set the dump signal.", {}),
    Example("H3", "dump_signal_first", "Broadcasting flight-recorder dump signal to other processes via TCPStore.", {}),
    Example("H3", "dump_signal_observed", "[PG ID 0 PG GUID 0(default_pg) Rank 5] Observed flight recorder dump signal from another rank via TCPStore.", {"role": "echo"}),
    Example("H3", "dump_signal", f"[PG ID 0 PG GUID 0(default_pg) Rank 5] Received a dump signal due to a collective timeout from  rank 6 and we will try our best to dump the debug info. Last enqueued NCCL work: 418, last completed NCCL work: 418.{_ADVICE}",
            {"role": "fact", "about": [6], "about_in": "global", "enqueued": 418, "completed": 418, "from_self": False, "group_rank": 5, "reason": "a collective timeout"}),
    Example("H3", "dump_signal", f"[PG ID 0 PG GUID 0(default_pg) Rank 6] Received a dump signal due to a collective timeout from this local rank and we will try our best to dump the debug info. Last enqueued NCCL work: 419, last completed NCCL work: 418.{_ADVICE}",
            {"about": None, "from_self": True, "enqueued": 419, "completed": 418}),
    Example("H3", "dump_signal", "[PG 0 Rank 1] Received a timeout signal from this local rank and will start to dump the debug info. Last enqueued NCCL work: 12, last completed NCCL work: 11.", {"enqueued": 12, "completed": 11, "from_self": True}),
    Example("H3", "dump_signal", "[PG 0 (default_pg) Rank 1] Received a global dump signal from rank 2, and will start to dump the debug info. Last enqueued NCCL work: 12, last completed NCCL work: 12.", {"enqueued": 12, "completed": 12, "about": [2]}),
    Example("H4", "dump_started", "ProcessGroupNCCL preparing to dump debug info. Include stack trace: 1", {"stacks": 1}),
    Example("H4", "dump_late", "timed out after waiting for 60000ms flight recorder dumps to finish.", {"timeout_ms": 60_000}),
    Example("H4", "dump_written", "Finished writing Flight Recorder debug info to /scratch/fr/nccl_trace_rank_3", {"path": "/scratch/fr/nccl_trace_rank_3"}),
    Example("H4", "dump_written", "Finished writing NCCLPG debug info to /tmp/nccl_trace_rank_0", {"path": "/tmp/nccl_trace_rank_0"}),
    Example("H4", "gil_not_acquired", "Could not acquire GIL within 300 ms on exit, possible GIL induced hang", {"timeout_ms": 300}),
    Example("H5", "store_flag_failed", 'Failed to check the "should dump" flag on TCPStore, (maybe TCPStore server has shut down too early), with error: Broken pipe', {"role": "echo"}),
    Example("H6", "group_not_destroyed", "Warning: WARNING: destroy_process_group() was not called before program exit, which can leak resources. For more info, please see ...", {"role": "fact"}),
    Example("H6", "group_not_destroyed", "Warning: WARNING: process group has NOT been destroyed before we destruct ProcessGroupNCCL. ...", {}),
]  # fmt: skip


class TestHeartbeat(ShapeTests):
    examples = EXAMPLES
