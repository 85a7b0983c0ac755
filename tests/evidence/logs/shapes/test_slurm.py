"""What Slurm writes."""

# ruff: noqa: E501 - log lines are as long as they are

from __future__ import annotations

from support.evidence.shape_tests import Example, ShapeTests

MACHINE = [
    Example("K1", "slurm_oom", "slurmstepd: error: Detected 1 oom_kill event in StepId=812345.0. Some of the step tasks have been OOM Killed.", {"count": 1, "step": "812345.0"}),
    Example("K1", "slurm_oom", "slurmstepd-node07: error: Detected 2 oom_kill events in StepId=812345.0. Some of the step tasks have been OOM Killed.", {"count": 2}),
    Example("K1", "slurm_oom", "[2026-02-07T10:00:00.123] error: Detected 1 oom-kill event(s) in StepId=812345.0 cgroup. Some of your processes may have been killed by the cgroup out-of-memory handler.", {"count": 1, "time_quality": "wall"}),
    Example("K1", "slurm_oom", "srun: error: node07: task 5: Out Of Memory", {"host": "node07", "tasks": [5], "signal": "SIGKILL"}),
    Example("K2", "slurm_task_end", "srun: error: node07: task 5: Killed", {"host": "node07", "tasks": [5], "signal": "SIGKILL", "about": None}),
    Example("K2", "slurm_task_end", "srun: error: node07: tasks 0-3,7: Exited with exit code 1", {"tasks": [0, 1, 2, 3, 7], "exit_code": 1}),
    Example("K2", "slurm_task_end", "srun: error: node07: task 6: Segmentation fault (core dumped)", {"signal": "SIGSEGV"}),
    Example("K3", "slurm_cancelled", "slurmstepd: error: *** STEP 812345.0 ON node01 CANCELLED AT 2026-02-07T11:22:33 DUE TO TIME LIMIT ***", {"reason": "TIME LIMIT", "reporter": "node01", "host": None, "at": "2026-02-07T11:22:33"}),
    Example("K3", "slurm_cancelled", "slurmstepd: error: *** JOB 812345 ON node01 CANCELLED AT 2026-02-07T11:22:33 ***", {"what": "JOB"}),
    Example("K3", "slurm_cancelled", "slurmstepd: error: *** STEP 812345.0 ON node01 CANCELLED AT 2026-02-07T11:22:33 DUE TO NODE FAILURE, SEE SLURMCTLD LOG FOR DETAILS ***", {"reason": "NODE FAILURE"}),
    Example("K3", "slurm_cancelled", "812345.0  fit   CANCELLED by 1001  0:15  2026-02-07T10:00:00 2026-02-07T11:22:33 node[01-02]", {"by": 1001, "at": "2026-02-07T11:22:33"}),
    Example("K3", "slurm_cancelled", "   JobState=CANCELLED Reason=None Dependency=(null)", {}),
    Example("K3", "job_cancelled", "TERM_OWNER: job killed by owner.", {"why": "TERM_OWNER: job killed by owner."}),
    Example("K3", "job_cancelled", "=>> PBS: job killed: walltime 3612 exceeded limit 3600", {}),
    Example("K3", "slurm_node_failure", "srun: error: Node failure on node09", {"host": "node09"}),
]  # fmt: skip


class TestSlurm(ShapeTests):
    machine = MACHINE
