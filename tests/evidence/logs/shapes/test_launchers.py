"""What launchers write."""

# ruff: noqa: E501 - log lines are as long as they are

from __future__ import annotations

from support.evidence.shape_tests import Example, ShapeTests

EXAMPLES = [
    Example("P6", "launcher_killing", "[INFO] [launch.py:335:sigkill_handler] Killing subprocess 4242", {"pid": 4242, "role": "echo"}),
    Example("P6", "launcher_exit", "[ERROR] [launch.py:341:sigkill_handler] ['/usr/bin/python3', '-u', 'train.py', '--local_rank=3'] exits with return code = -9", {"exit_code": -9, "signal": "SIGKILL"}),
    Example("P7", "mpirun_exit", "mpirun noticed that process rank 3 with PID 4242 on node node07 exited on signal 9 (Killed).", {"rank": 3, "pid": 4242, "host": "node07", "signal": "SIGKILL", "exit_code": -9}),
    Example("P7", "ray_worker_exit", "Worker exit type: SYSTEM_ERROR Worker exit detail: Worker unexpectedly exits with a connection error code 2. End of file. There are some potential root causes.", {"exit_type": "SYSTEM_ERROR"}),
    Example("P7", "ray_oom", "Task was killed due to the node running low on memory.", {"role": "origin"}),
    Example("P7", "ray_worker_exit", "Worker IP address: 10.3.0.6 Worker port: 10230 Worker PID: 7102 Worker exit type: SYSTEM_ERROR Worker exit detail: Worker unexpectedly exits.", {"host": "10.3.0.6", "pid": 7102}),
    Example("P7", "ray_oom", "Memory on the node (IP: 10.3.0.6, ID: 8c3e) where the task (task ID: 4161, name=step, pid=548, memory used=12.18GB) was running was 21.91GB / 33.28GB", {"host": "10.3.0.6", "pid": 548}),
    Example("P7", "ray_sigterm", "The process receives a SIGTERM.", {"role": "echo"}),
    Example("P7", "mpirun_exit", "prterun noticed that process rank 3 with PID 4242 on node node07 exited on signal 11 (Segmentation fault).", {"rank": 3, "host": "node07", "signal": "SIGSEGV"}),
    Example("P7", "mpirun_exit", "=   RANK 3 PID 4242 RUNNING AT node07\n=   KILLED BY SIGNAL: 9 (Killed)", {"rank": 3, "pid": 4242, "host": "node07", "signal": "SIGKILL"}),
    Example("P7", "process_ended", "launcher: rank 6 terminated with exit code 139 after 812 s", {"rank": 6, "signal": "SIGSEGV"}),
    Example("P7", "process_ended", "supervisor: worker 3 exited (137)", {"worker": 3, "signal": "SIGKILL"}),
    Example("P7", "process_ended", "Child process 12345 (local_rank=1) exited with signal 9", {"pid": 12345, "signal": "SIGKILL"}),
    Example("P7", "executor_worker_died", "RayWorkerProc rank=[3] died unexpectedly, shutting down executor.", {"about": [3]}),
    Example("K9", "pod_listed", "fit-2   1/1     Running   0   41m", {"pod": "fit-2", "status": "Running"}),
    Example("K4", "pod_unscheduled", "fit-2   0/1     ImagePullBackOff   0   41m", {"pod": "fit-2", "reason": "ImagePullBackOff"}),
    Example("K4", "pod_evicted", "Warning  Evicted  pod/train-worker-5  The node was low on resource: memory. Threshold quantity: 100Mi.", {"pod": "train-worker-5", "resource": "memory"}),
]  # fmt: skip


class TestLaunchers(ShapeTests):
    examples = EXAMPLES
