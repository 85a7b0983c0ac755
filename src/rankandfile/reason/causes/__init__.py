"""One file per cause: a function from the facts and a root to a finding, or to nothing."""

from __future__ import annotations

from collections.abc import Callable

from rankandfile.reason.facts import Facts
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import WaitEnd

from . import (
    all_gave_up,
    circle,
    circle_of_receives,
    different_collective,
    disagree,
    dtype_mismatch,
    early_exit,
    elsewhere,
    extra_collective,
    gpu_stuck,
    group_mismatch,
    in_flight,
    joined,
    making_a_group,
    misfit,
    network_stalled,
    never_joined,
    no_clock,
    no_dump,
    order_inversion,
    reordered,
    root_mismatch,
    size_mismatch,
    skipped_collective,
    split_mismatch,
    swallowed_exception,
    swapped,
    told,
    too_short_timeout,
    transfer_mismatch,
    undecided,
)

#: In the order in which they are preferred where two are equally sure.
FIND: tuple[Callable[[Facts, WaitEnd], Finding | None], ...] = tuple(
    module.find
    for module in (
        too_short_timeout,
        group_mismatch,
        size_mismatch,
        dtype_mismatch,
        split_mismatch,
        root_mismatch,
        transfer_mismatch,
        skipped_collective,
        extra_collective,
        swapped,
        reordered,
        order_inversion,
        early_exit,
        different_collective,
        swallowed_exception,
        told,
        disagree,
        elsewhere,
        misfit,
        gpu_stuck,
        network_stalled,
        all_gave_up,
        never_joined,
        making_a_group,
        no_dump,
        undecided,
        circle_of_receives,
        circle,
        joined,
        no_clock,
        in_flight,
    )
)
