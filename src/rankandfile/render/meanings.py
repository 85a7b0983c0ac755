"""What each cause means, for readers who meet its name for the first time: rules in SARIF, titles in a ticket."""

from __future__ import annotations

from typing import NamedTuple


class Meaning(NamedTuple):
    short: str
    """One sentence."""
    help: str
    """Why it hangs, and where to look."""


MEANINGS: dict[str, Meaning] = {
    "skipped_collective": Meaning(
        "Some ranks left out a collective that the others made.",
        "The ranks that made the call wait for those that did not. From there on the skipping ranks are one call "
        "ahead, so that the job often stops much later, at a call that is not to blame. Look for the condition that "
        "leads around the call, and for what in it can differ between ranks.",
    ),
    "extra_collective": Meaning(
        "Some ranks made a collective that the others did not make.",
        "The call waits for ranks that never come, or pairs with a later call of theirs. Look for a call under "
        "`if rank == 0`, and for helpers that communicate without saying so: saving, evaluating, properties.",
    ),
    "different_collective": Meaning(
        "Ranks made different collectives at the same point.",
        "The calls pair up by their number, not by what they are: one rank reduces, another broadcasts, and neither "
        "ends. Look for a branch with a collective in each arm.",
    ),
    "order_inversion": Meaning(
        "Ranks made the same collectives in different orders.",
        "Each waits in a call that the other will only make afterwards. Look for calls whose order depends on hooks, "
        "threads, streams, sets or dictionaries.",
    ),
    "early_exit": Meaning(
        "Some ranks left the loop or the program before the others.",
        "The others go on to the next collective and wait for ranks that are no longer there. Look for stopping "
        "rules that each rank decides for itself.",
    ),
    "uneven_inputs": Meaning(
        "Some ranks ran out of data before the others.",
        "Whoever has fewer batches makes fewer collectives. Look at how the data are divided, and at dropped or "
        "filtered samples.",
    ),
    "rank_conditional": Meaning(
        "A collective stands under a condition that depends on the rank.",
        "Only the ranks for which the condition holds make the call; a collective needs all members of its group. "
        "Move the call out of the branch.",
    ),
    "swallowed_exception": Meaning(
        "A rank caught an exception and went on without the calls that it skipped.",
        "The exception took the rank past a collective, and the handler hid that. Look for `except` around code that "
        "communicates.",
    ),
    "size_mismatch": Meaning(
        "Ranks called one collective with tensors of different sizes.",
        "The collective needs equal sizes on all members. Look at what sets the size: the batch, the sequence "
        "length, the number of items on this rank.",
    ),
    "dtype_mismatch": Meaning(
        "Ranks called one collective with tensors of different types.",
        "The collective needs equal types on all members. Look at where the tensor is made from Python values.",
    ),
    "split_mismatch": Meaning(
        "Ranks disagree on how many elements they exchange.",
        "What one rank sends to another is not what the other expects. Look at how the split sizes are made, and "
        "whether they were exchanged first.",
    ),
    "root_mismatch": Meaning(
        "Ranks disagree on the root of a collective.",
        "Each waits for data from another source. The root is a global rank, also in a subgroup.",
    ),
    "group_mismatch": Meaning(
        "Ranks made a call on different groups.",
        "The call pairs with nothing on the group where the others wait. Look at the `group=` argument, and at the "
        "order in which groups are made.",
    ),
    "host_blocked": Meaning(
        "A rank's Python stands still before the collective.",
        "It waits on its own host for a lock, a queue, a file, a download or a process, and never comes to the call "
        "in which the others wait.",
    ),
    "host_slow": Meaning(
        "A rank is on its way to the collective, and late.",
        "It works, but longer than the others may wait. Look at what only this rank does before the call.",
    ),
    "raised": Meaning(
        "A rank raised an exception.",
        "The exception took it away from the collective in which the others wait. Its own traceback is the place to "
        "start; the timeouts of the other ranks only follow from it.",
    ),
    "killed": Meaning(
        "A process was killed by a signal.",
        "The other ranks wait for a process that is gone. Look for who sent the signal: the kernel for want of "
        "memory, the scheduler, a crash in native code.",
    ),
    "exited": Meaning(
        "A process ended without a word of an exception.",
        "The other ranks wait for a process that is gone. Look for `sys.exit` or `os._exit` on the path that it took.",
    ),
    "gpu_stuck": Meaning(
        "A device never begins the collective.",
        "The host asked for the call, but the device is still busy with earlier work that does not end.",
    ),
    "gpu_error": Meaning(
        "A device failed.",
        "The collective cannot go on without it. Read the device's own error first: Xid lines of the kernel log, the "
        "CUDA error of the rank.",
    ),
    "network_stalled": Meaning(
        "All ranks joined the collective, and none finishes it.",
        "No rank is behind, so that the fabric between them is at fault, or a device that nothing tells of.",
    ),
    "link_error": Meaning(
        "A network port or link failed under the collective.",
        "The data of the collective cannot pass. Look at the port, the cable and the switch that the log names.",
    ),
    "peer_unreachable": Meaning(
        "A host or process cannot be reached any more.",
        "The other ranks wait for a process whose host is gone or cut off.",
    ),
    "init_stuck": Meaning(
        "The job never finished setting up its communication.",
        "Some ranks have not come to the setup that the others wait in. No collective was ever made.",
    ),
    "teardown_only": Meaning(
        "The work is done; a process does not end.",
        "No training is lost. A thread or child process keeps the program alive, or its end waits for something.",
    ),
    "too_short_timeout": Meaning(
        "Nothing hung: the timeout is shorter than the work before the call.",
        "The late rank came, but only after the watchdog had given up. Make the timeout longer than the longest "
        "legal wait, or take the work out of the way.",
    ),
    "no_hang": Meaning(
        "No rank waits for another.", "Every call that was recorded has ended, or the job went on afterwards."
    ),
    "undetermined": Meaning(
        "The evidence does not decide.",
        "Blaming a rank without proof costs more than saying so. The verdict names what would decide.",
    ),
}
