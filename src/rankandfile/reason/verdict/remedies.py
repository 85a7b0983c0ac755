"""What to change, what to try, and what not to do, per cause. Text; patches come from the source."""

from __future__ import annotations

from rankandfile.model.diagnosis import Probe, Remedy

_AGREE = Remedy(
    title="Let all ranks take the same way",
    text="The condition that leads to the call must come out the same on every rank. Reduce it first (MAX for "
    "'any rank', MIN for 'all ranks') and branch on the result, or move the collective out of the branch.",
)
_FLAG = Remedy(
    title="Let failures be common knowledge",
    text="Where a rank may fail, skip or stop alone, reduce a flag at that point and act on it together.",
)

REMEDIES: dict[str, tuple[Remedy, ...]] = {
    "skipped_collective": (_AGREE, _FLAG),
    "extra_collective": (
        _AGREE,
        Remedy(
            title="Keep collectives out of rank guards",
            text="Under `if rank == 0` write files and logs only; gather or reduce on every rank before it. Saving, "
            "evaluating and reading sharded parameters are collectives even where the code does not show one.",
        ),
    ),
    "different_collective": (_AGREE,),
    "early_exit": (_AGREE, _FLAG),
    "rank_conditional": (_AGREE, _FLAG),
    "uneven_inputs": (
        Remedy(
            title="Let all ranks run out of data together",
            text="Give every rank the same number of batches (drop_last, padding, a sampler that knows all ranks), "
            "reduce 'has another batch' (MIN) before each step, or train under the join context of DDP.",
        ),
    ),
    "group_mismatch": (
        Remedy(
            title="Hand over the group, and make each on every rank",
            text="Pass group=... at every call instead of falling back to the default one, and call new_group for all "
            "groups on all ranks, in one order.",
        ),
    ),
    "order_inversion": (
        Remedy(
            title="Issue the collectives of all groups in one order",
            text="Every rank must come to the calls of the circle in the same order, also across groups and across "
            "threads or hooks that issue them.",
        ),
    ),
    "size_mismatch": (
        Remedy(
            title="Make the sizes equal before the call",
            text="Pad to the longest (after an all_reduce MAX of the length), or exchange the sizes first and use a "
            "call that takes uneven ones.",
        ),
    ),
    "dtype_mismatch": (
        Remedy(
            title="Fix the dtype where the tensor is made",
            text="torch.tensor(python values) takes its dtype from the values: name it, or cast before the call.",
        ),
    ),
    "split_mismatch": (
        Remedy(
            title="Exchange the split sizes first",
            text="What rank a sends to b must be what b expects from a: all_to_all the counts, then use them on both "
            "sides.",
        ),
    ),
    "root_mismatch": (
        Remedy(
            title="Name the root by one number",
            text="The root is a global rank, also in a subgroup: use dist.get_global_rank, or group_src.",
        ),
    ),
    "swallowed_exception": (
        _FLAG,
        Remedy(
            title="Catch nothing around a collective that the others will still make",
            text="Either let the exception end the job, or make the calls that the peers make in any case.",
        ),
    ),
    "host_blocked": (
        Remedy(
            title="Give the wait a limit, and let its failure end the job",
            text="A lock, a queue, a pipe or a download that may wait for ever holds up every rank: a timeout with an "
            "error names the place at once.",
        ),
    ),
    "host_slow": (
        Remedy(
            title="Take the long work out of the others' way",
            text="Do it before the group is made, in the background, or under a group with a longer timeout.",
        ),
    ),
    "too_short_timeout": (
        Remedy(
            title="Set the timeout to the longest legal wait",
            text="init_process_group(timeout=...) and new_group(timeout=...), each: a group does not inherit it. "
            "NCCL_TIMEOUT is read by nobody.",
        ),
    ),
    "raised": (
        Remedy(
            title="Let the exception end the whole job at once",
            text="Do not destroy the process group or make a collective on the way out of an exception; print it, and "
            "exit with an error, so that the launcher ends the others.",
        ),
    ),
    "killed": (
        Remedy(
            title="Find who sent the signal",
            text="SIGKILL with an out-of-memory line in dmesg: the host's memory (loader workers count). SIGSEGV or "
            "SIGBUS: a native crash, or a full /dev/shm.",
        ),
    ),
    "exited": (_FLAG,),
    "gpu_error": (
        Remedy(
            title="Read the device's own error first",
            text="Application faults (illegal access, assert) need CUDA_LAUNCH_BLOCKING=1 on that rank to find the "
            "line; Xid 48, 79, 94, 95 and the like need the device taken out of the job.",
        ),
    ),
    "link_error": (
        Remedy(
            title="Take the port out of the job",
            text="Check cable, switch port and counters before it is used again.",
        ),
    ),
    "peer_unreachable": (
        Remedy(
            title="Take the host out of the job", text="Drain it, and start again from the last checkpoint."
        ),
    ),
    "init_stuck": (
        Remedy(
            title="Let every rank come to the setup",
            text="What only some ranks do before it (downloads, locks, compiling) belongs behind it, under a barrier.",
        ),
    ),
    "teardown_only": (
        Remedy(
            title="End what still runs before the process ends",
            text="Join or mark as daemons the threads and child processes that the program started; synchronise before "
            "destroy_process_group.",
        ),
    ),
    "gpu_stuck": (
        Remedy(
            title="Look at what the device was given before the call",
            text="A kernel that never ends, a copy from pinned memory that another thread holds, or a stream wait on "
            "an event that is never recorded. If the host shows Xid errors, take the device out of the job.",
        ),
    ),
    "network_stalled": (
        Remedy(
            title="Test the links between these ranks",
            text="Run the vendor's link test and nccl-tests on these hosts, and look for link flaps in the switch log.",
        ),
    ),
}

_OUT_OF_STEP = "Do not raise the timeout: the ranks are out of step, and waiting longer changes nothing."
_FIRST_LOGGER = "Do not blame the rank that logged the timeout first: it waited, like the others."
_DISABLE = "Do not set NCCL_IB_DISABLE or NCCL_P2P_DISABLE as a cure: it hides the link at fault."
_MONITORING = "Do not set TORCH_NCCL_ENABLE_MONITORING=0: it removes the kill, not the wait."

ANTI_ADVICE: dict[str, tuple[str, ...]] = {
    "skipped_collective": (_OUT_OF_STEP, _FIRST_LOGGER),
    "extra_collective": (_OUT_OF_STEP, _FIRST_LOGGER),
    "different_collective": (_OUT_OF_STEP, _FIRST_LOGGER),
    "early_exit": (_OUT_OF_STEP, _FIRST_LOGGER),
    "rank_conditional": (_OUT_OF_STEP, _FIRST_LOGGER),
    "uneven_inputs": (_OUT_OF_STEP, _FIRST_LOGGER),
    "swallowed_exception": (_OUT_OF_STEP, _FIRST_LOGGER),
    "group_mismatch": ("Do not raise the timeout: the members wait in different groups for each other.",),
    "order_inversion": (
        _OUT_OF_STEP,
        "Do not add a barrier before one of the calls only: it joins the circle.",
    ),
    "size_mismatch": ("Do not raise the timeout: the call can never match.",),
    "dtype_mismatch": ("Do not raise the timeout: the call can never match.",),
    "split_mismatch": ("Do not raise the timeout: the call can never match.",),
    "root_mismatch": ("Do not raise the timeout: nobody sends what the others wait for.",),
    "gpu_stuck": ("Do not restart on the same device before its health is checked.",),
    "gpu_error": (
        "Do not leave CUDA_LAUNCH_BLOCKING=1 set: it finds the line, and makes every later run slower.",
    ),
    "network_stalled": (_DISABLE,),
    "link_error": (_DISABLE,),
    "peer_unreachable": (_DISABLE, _FIRST_LOGGER),
    "teardown_only": ("Do not look for a fault in the training: it had ended well.",),
    "host_blocked": ("Do not raise the timeout: whoever is stuck stays stuck.", _FIRST_LOGGER),
    "host_slow": (_MONITORING,),
    "init_stuck": (
        "Do not raise the timeout of the setup before it is known where the missing rank stands.",
    ),
    "raised": (_FIRST_LOGGER,),
    "exited": (_FIRST_LOGGER,),
    "killed": (_FIRST_LOGGER,),
    "too_short_timeout": (_MONITORING,),
    "undetermined": (_FIRST_LOGGER,),
}

_STACKS = Probe(
    title="Stacks of the ranks that are waited for",
    text="py-spy dump --pid PID on the host of each culprit, twice, some seconds apart: frozen or moving?",
)

PROBES: dict[str, tuple[Probe, ...]] = {
    "undetermined": (_STACKS,),
    "gpu_stuck": (
        _STACKS,
        Probe(title="The device's own state", text="nvidia-smi and dmesg (Xid) on the culprit's host."),
    ),
    "network_stalled": (
        Probe(
            title="Start times", text="TORCH_NCCL_ENABLE_TIMING=1 shows which devices began the collective."
        ),
    ),
    "order_inversion": (_STACKS,),
}
