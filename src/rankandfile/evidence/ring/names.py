"""The recorder's operators in the words of torch's own recorder."""

from __future__ import annotations

from rankandfile.wire.layout import OPERATORS

_NAMES = {
    "allreduce_": "all_reduce",
    "allreduce_coalesced_": "allreduce_coalesced",
    "broadcast_": "broadcast",
    "reduce_": "reduce",
    "allgather_": "all_gather",
    "_allgather_base_": "_all_gather_base",
    "allgather_coalesced_": "all_gather",
    "allgather_into_tensor_coalesced_": "all_gather_into_tensor_coalesced",
    "reduce_scatter_": "reduce_scatter",
    "_reduce_scatter_base_": "_reduce_scatter_base",
    "reduce_scatter_tensor_coalesced_": "reduce_scatter_tensor_coalesced",
    "gather_": "gather",
    "scatter_": "scatter",
    "alltoall_": "all_to_all",
    "alltoall_base_": "all_to_all",
    "barrier": "barrier",
    "monitored_barrier_": "monitored_barrier",
    "send": "send",
    "recv_": "recv",
    "recv_any_source_": "recv",
}


def name(operator: int, own: int, peer: int) -> str | None:
    """`all_reduce`, `send 0->1`; None for an operator of a later version."""
    if not 0 < operator < len(OPERATORS):
        return None
    word = _NAMES[OPERATORS[operator]]
    if word in ("send", "recv"):
        arrow = "->" if word == "send" else "<-"
        return f"{word} {own}{arrow}{peer}" if peer >= 0 else word
    return word
