"""What single lines mean where nothing else tells of a job: the cause that each points to, the surest first.

A line says less than a record of calls: that a process was killed, that a device fell off the bus, that a peer did not
answer. Which rank it was, the line may leave open; then its host, process or device is said instead.
"""

# ruff: noqa: E501 - a sentence that is cut in two cannot be read any more

from __future__ import annotations

from collections.abc import Mapping
from string import Formatter
from typing import Any

from msgspec import Struct


class Meaning(Struct, frozen=True, kw_only=True):
    kinds: tuple[str, ...]
    cause: str
    words: str
    """What the line says, with its columns and fields in braces; `who` is its writer."""
    where: str = ""
    """Whom the line accuses: `writer` (its rank, if told), `about` (the ranks it names), or nobody."""
    sure: bool = False
    """Whether who is accused is more than a suspect."""
    next_step: str = ""
    if_code: bool = False
    """Only where the line tells a code or a signal of failure."""


_EXIT = "the launcher's log, the kernel log of the host (dmesg -T) and the last lines of that process"

MEANINGS: tuple[Meaning, ...] = (
    Meaning(
        kinds=("xid",), cause="gpu_error", where="writer", sure=True,
        words="the driver{of_host} reports Xid {code} of the device {bus}: {error}",
        next_step="which rank used that device: `nvidia-smi -L` on that host, or NCCL_DEBUG=INFO, which prints rank and busId "
        "(Xid 48, 74, 79, 94, 95 and the like: take the device out of the job)",
    ),
    Meaning(
        kinds=("gpu_lost",), cause="gpu_error", where="writer", sure=True,
        words="the driver{of_host} says that the device {bus} has fallen off the bus",
        next_step="which rank used that device; the host needs a reset before it is used again",
    ),
    Meaning(
        kinds=("gpu_hang", "npu_fault", "device_assert", "cuda_failure", "watchdog_device_error"), cause="gpu_error", where="writer",
        sure=True, words="{who}: {text}",
        next_step="the first kernel that failed: run again with CUDA_LAUNCH_BLOCKING=1 (AMD_SERIALIZE_KERNEL=3 on ROCm)",
    ),
    Meaning(
        kinds=("memory_fault", "machine_check"), cause="gpu_error", where="writer",
        words="{who}: the hardware reports {error}", next_step="take the host out of the pool, and test its memory",
    ),
    Meaning(
        kinds=("pcie_error",), cause="gpu_error", where="writer",
        words="the kernel{of_host} reports a PCIe error on {bus}: {error}",
        next_step="what hangs on that port (`lspci -tv`), and what the driver said at that time (dmesg -T)",
    ),
    Meaning(
        kinds=("pod_evicted",), cause="killed", where="writer", sure=True,
        words="{who} was evicted, as its node ran low on {resource}", next_step="which ranks ran in it: " + _EXIT,
    ),
    Meaning(
        kinds=("pod_unscheduled",), cause="init_stuck", where="writer", sure=True,
        words="{who} was never started: {reason}", next_step="what it asks for, and what the nodes have: kubectl describe pod",
    ),
    Meaning(
        kinds=("pod_ended",), cause="killed", where="writer", sure=True,
        words="{who} was ended by its cluster: {reason}", next_step="which ranks ran in it: " + _EXIT,
    ),
    Meaning(
        kinds=("kernel_oom", "slurm_oom", "pod_oom", "ray_oom"), cause="killed", where="writer", sure=True,
        words="{who} was ended for want of the host's memory ({text})",
        next_step="which rank that process was: " + _EXIT,
    ),
    Meaning(
        kinds=("executor_worker_died",), cause="exited", where="about", sure=True,
        words="the engine says that worker {worker_or_about} ended without its doing",
        next_step="that worker's own last lines, and the kernel log of its host (dmesg -T)",
    ),
    Meaning(
        kinds=("mpirun_exit", "mpi_abort", "process_ended", "child_failed", "agent_failure", "launcher_exit", "slurm_task_end",
               "segfault", "ray_worker_exit"),
        cause="exited", where="writer", sure=True, if_code=True, words="{who} {ended}", next_step=_EXIT,
    ),
    Meaning(
        kinds=("oom", "traceback", "loader_raised"), cause="raised", where="writer", sure=True,
        words="{who} raised {raised}", next_step="which rank that process was, and what the other ranks' logs say at that time",
    ),
    Meaning(
        kinds=("gloo_size_disagrees", "size_truncated", "size_disagrees", "bootstrap_truncated"), cause="size_mismatch",
        words="{who} was sent {received} bytes where it expected {expected}: it or whoever sent them is out of line",
        next_step="the call of both sides: what each asked for, and where (py-spy, or the traceback of each)",
    ),
    Meaning(
        kinds=("slurm_node_failure",), cause="peer_unreachable",
        words="the scheduler says that the node {host} failed", next_step="which ranks ran on {host}",
    ),
    Meaning(
        kinds=("jax_unhealthy_tasks",), cause="peer_unreachable", where="about",
        words="JAX's coordination service has had no heartbeat of {abouts}",
        next_step="the last lines of those tasks' own logs; the service's timer can also run out while its own process is "
        "held up (heartbeat_timeout_seconds of jax.distributed.initialize)",
    ),
    Meaning(
        kinds=("node_taken",), cause="killed", where="writer", words="the cluster took a node away: {reason}",
        next_step="which ranks ran on it: kubectl get pods -o wide, or the scheduler's list",
    ),
    Meaning(
        kinds=("ras_dead",), cause="peer_unreachable", where="writer",
        words="NCCL's RAS considers dead: {processes}", next_step="that process and its host: is it there, and does it answer",
    ),
    Meaning(
        kinds=("ib_link_event", "link_down"), cause="link_error", where="writer",
        words="{who}: {text}", next_step="the port's state and counters (`ibstat`, `perfquery`), and the switch's log",
    ),
    Meaning(
        kinds=("ib_completion_error", "ofi_completion_error"), cause="peer_unreachable",
        words="{who} had no working connection to {peer_or_text} (completion status {status})",
        next_step="whether the process on the other side had ended before, and the link between them (`ibstat`, `ibping`)",
    ),
    Meaning(
        kinds=("duplicate_gpu", "bootstrap_duplicate", "bootstrap_mismatch"), cause="init_stuck",
        words="NCCL's setup failed: {text}", next_step="rank, local rank, world size and CUDA_VISIBLE_DEVICES of every process",
    ),
    Meaning(
        kinds=("jax_barrier",), cause="undetermined", where="about",
        words="{reached} of {expected} tasks came to JAX's barrier {key} in time; {abouts} did not",
        next_step="the stack of one of those tasks (py-spy dump --pid PID)",
    ),
    Meaning(
        kinds=("xla_rendezvous",), cause="undetermined",
        words="{arrived} of {awaited} threads came to XLA's rendezvous for {what}: a device or a process of the clique has "
        "not issued that program",
        next_step="stacks of every process (py-spy dump --native --pid PID), and XLA's dumps (XLA_FLAGS=--xla_dump_to=DIR): "
        "do all processes run the same programs in the same order",
    ),
    Meaning(
        kinds=("xla_leader_stuck",), cause="gpu_stuck",
        words="all {awaited} threads came to XLA's rendezvous for {what}, and its leader does not come back from the call",
        next_step="the native stack of that process (py-spy dump --native --pid PID)",
    ),
    Meaning(
        kinds=("hccl_notify",), cause="undetermined", where="about",
        words="{who} waits in HCCL for a notification of remote rank {remote} ({tag})",
        next_step="that rank's own plog (~/ascend/log/debug/plog) and its last lines; HCCL_EXEC_TIMEOUT is the limit that ran out",
    ),
    Meaning(
        kinds=("hccl_lost",), cause="peer_unreachable",
        words="HCCL lost the heartbeat of {peer_or_text}",
        next_step="whether that process had ended before, and its device's network (hccn_tool -i ID -link -g)",
    ),
    Meaning(
        kinds=("sglang_watchdog",), cause="undetermined",
        words="SGLang's watchdog: the scheduler {place} did not finish a batch in {timeout_s} s",
        next_step="the stacks that the watchdog printed below (py-spy), or py-spy dump --pid of every sglang::scheduler process",
    ),
    Meaning(
        kinds=("vllm_no_block",), cause="undetermined",
        words="in vLLM, {who} has waited {waited_s} s for its workers to read its messages: a worker hangs, or compiles, "
        "or loads for long",
        next_step="stacks of all VLLM::Worker processes (py-spy dump --pid PID); VLLM_LOGGING_LEVEL=DEBUG and "
        "VLLM_TRACE_FUNCTION=1 tell what each was executing",
    ),
    Meaning(
        kinds=("unique_id_wait",), cause="init_stuck", where="about",
        words="{who} waited for {abouts} to set up a communicator", next_step="what {abouts} did instead: its stack or its last lines",
    ),
    Meaning(
        kinds=("join_timeout",), cause="init_stuck",
        words="the ranks did not all meet: {text}", next_step="which process did not start, and whether it can reach MASTER_ADDR",
    ),
    Meaning(
        kinds=("model_mismatch",), cause="size_mismatch",
        words="{text}", next_step="the parameters of the model on both ranks",
    ),
    Meaning(
        kinds=("monitored_barrier_error",), cause="undetermined", where="about",
        words="{who} came to the monitored barrier, and lost {abouts} there",
        next_step="the log of {abouts}: it failed, or gave up on others",
    ),
    Meaning(
        kinds=("nfs_stalled", "hung_task"), cause="host_blocked", where="writer",
        words="the kernel{of_host} says: {text}", next_step="the file system that the process waits for",
    ),
    Meaning(
        kinds=("loader_killed", "loader_exited", "loader_bus_error"), cause="host_blocked", where="writer",
        words="{who}: {text}", next_step="/dev/shm's size, and the host's memory",
    ),
    Meaning(
        kinds=("heartbeat_stuck",), cause="gpu_stuck", where="writer",
        words="{who}: the watchdog's thread stood still for {waited}; a call of CUDA or NCCL, or the interpreter's lock, "
        "holds that process. The line does not say that a collective timed out",
        next_step="that process's stacks (py-spy dump --native --pid PID): which thread holds the interpreter's lock, and which "
        "stands in a call of CUDA",
    ),
    Meaning(
        kinds=("gil_not_acquired",), cause="host_blocked", where="writer",
        words="{who}: the interpreter's lock was not to be had", next_step="py-spy dump --native --pid PID: who holds it",
    ),
    Meaning(
        kinds=("store_wait",), cause="init_stuck",
        words="{who} waited in the store for a key that nobody set: {text}", next_step="who sets that key, and whether it came there",
    ),
    Meaning(
        kinds=("fatal_python_error",), cause="exited", where="writer", sure=True, words="{who}: {text}", next_step=_EXIT,
    ),
    Meaning(
        kinds=("terminate_unjoined",), cause="early_exit", where="writer",
        words="{who} left while one of its threads still worked", next_step="how that process came to leave: its last lines",
    ),
    Meaning(
        kinds=("ras_missing",), cause="peer_unreachable", where="writer",
        words="NCCL's RAS gets no answer of {processes}", next_step="that process and its host: is it there, and does it answer",
    ),
)  # fmt: skip


class _Words(Formatter):
    """A name that the line does not tell is left out."""

    def get_value(self, key: int | str, _args: Any, kwargs: Any) -> Any:
        value = kwargs.get(key)
        return "?" if value is None else value


def say(template: str, values: Mapping[str, Any]) -> str:
    return _Words().vformat(template, (), values)
