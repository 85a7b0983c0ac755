"""What makes groups of ranks in torch: the one list of these names, for stacks, events and the text of programs."""

from __future__ import annotations

import re

#: Functions that all ranks of the job, or of the group that is split, must come to in one order.
GROUP_MAKERS = frozenset(
    {"new_group", "new_subgroups", "new_subgroups_by_enumeration", "split_group", "init_device_mesh"}
)
#: In the name of a call: one of them, a wrapper of the job's or of a framework's, or what torch calls inside.
MAKES_GROUPS = re.compile(
    rf"{'|'.join(sorted(GROUP_MAKERS))}|(?<!init_)(?<!destroy_)process_group|device_mesh|DeviceMesh|initialize_model_parallel"
)
